package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
)

// reasoner finds why published charges are not the recomputed ones.
type reasoner struct {
	*builder
	// others are the layers as other releases have them; nil for one that can't tell.
	others map[string]*pipeline.Layers
}

// of tells the reason that the objects prove, the most certain first.
func (r *reasoner) of(held *admission.Reservation, d Difference) (Reason, string) {
	c := held.Charge
	if c.Verdict == charge.Inadmissible {
		return Refused, "Kueue would refuse it now: " + problems(c)
	}
	if text := podCount(held); text != "" {
		return PodCount, text
	}
	if text := r.newer(held, cluster.ResourceClaimTemplate); text != "" {
		return TemplateReplaced, text
	}
	if other := r.otherRelease(held, d); other != "" {
		return OtherVersion,
			fmt.Sprintf("Kueue %s charges it as published: it may have been admitted by that version", other)
	}
	if text := r.mapping(held, d); text != "" {
		return MappingChanged, text
	}
	if text := r.newer(held, cluster.ResourceSlice); text != "" {
		return DevicesChanged, text
	}
	return NotTold, "the objects now give another charge, and do not tell what has changed since its admission"
}

func problems(c *charge.Charge) string {
	var out []string
	for _, p := range c.Problems {
		if p.Message != "" {
			out = append(out, strings.TrimSuffix(p.Message, "."))
		}
	}
	return strings.Join(out, "; ")
}

// podCount compares the pods that were admitted with those there are.
func podCount(held *admission.Reservation) string {
	for a := range recorded.PodSets(held.Charge.Workload.Object) {
		for i, ps := range held.Charge.PodSets {
			if ps.Name == a.Name && a.Count != nil && int64(*a.Count) != held.Charge.AdmittedPods(i) {
				return fmt.Sprintf("pod set %s had %s when it was admitted, and has %d now", ps.Name,
					pods(int64(*a.Count)), ps.Count)
			}
		}
	}
	return ""
}

func pods(n int64) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

// newer names an object of a kind that the charge rests on and that was made after the quota was reserved.
func (r *reasoner) newer(held *admission.Reservation, gk schema.GroupKind) string {
	if held.Since.IsZero() {
		return ""
	}
	for _, ps := range held.Charge.PodSets {
		for _, l := range ps.Lines {
			for _, e := range l.Evidence {
				if o := e.Object; o != nil && o.Ref.GroupKind() == gk && o.Meta.CreationTimestamp.After(held.Since) {
					return fmt.Sprintf("%s was made at %s, after it got its quota at %s", o.Ref,
						stamp(o.Meta.CreationTimestamp.Time), stamp(held.Since))
				}
			}
		}
	}
	return ""
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// mapping tells that what it was charged in, or is charged in now, is another resource: classes are mapped otherwise.
func (r *reasoner) mapping(held *admission.Reservation, d Difference) string {
	var was, now []string
	for fr, v := range held.Usage {
		if _, still := held.Charge.Total[fr.Resource]; !still && v != 0 && !slices.Contains(was, string(fr.Resource)) {
			was = append(was, string(fr.Resource))
		}
	}
	for _, ps := range held.Charge.PodSets {
		for _, l := range ps.Lines {
			_, before := held.Charge.Published[l.Resource]
			if l.Method != charge.Requests && l.Method != charge.Transformation && !before &&
				!slices.Contains(now, string(l.Resource)) {
				now = append(now, string(l.Resource))
			}
		}
	}
	slices.Sort(was)
	slices.Sort(now)
	switch {
	case len(was) > 0 && len(now) > 0:
		return fmt.Sprintf("its devices were charged to %s and are charged to %s now: a mapping, or the device class "+
			"behind a resource, has changed", strings.Join(was, ", "), strings.Join(now, ", "))
	case slices.Contains(was, string(d.Resource)) && OfDevices(d.Resource) && !r.mappedTo(d.Resource):
		return fmt.Sprintf("no device class is mapped to %s now, and its pods do not ask for it", d.Resource)
	}
	return ""
}

func (r *reasoner) mappedTo(name corev1.ResourceName) bool {
	for _, class := range cluster.All[*resourcev1.DeviceClass](r.snap, cluster.DeviceClass) {
		if slices.Contains(r.chargedTo(class), name) {
			return true
		}
	}
	return false
}

// otherRelease is the newest release of Kueue, main last, that charges a workload as published; empty when none does.
// Releases that would not start with the configuration tell nothing.
func (r *reasoner) otherRelease(held *admission.Reservation, d Difference) string {
	releases := release.All()
	slices.Reverse(releases)
	if i := slices.Index(releases, release.Main); i >= 0 {
		releases = append(slices.Delete(releases, i, i+1), release.Main)
	}
	for _, name := range releases {
		if name == r.conf.Release {
			continue
		}
		l, known := r.others[name]
		if !known {
			if l, _ = r.As(name); l != nil && !l.Config.Found {
				l = nil
			}
			r.others[name] = l
		}
		if l == nil {
			continue
		}
		c := l.Charge(held.Charge.Workload)
		if c.Verdict == charge.Charged && r.chargedNow(held, c, l.Config)[d.FlavorResource] == d.Reserved {
			return name
		}
	}
	return ""
}
