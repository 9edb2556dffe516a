package charge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// podClaim is one entry of a pod template's resourceClaims that uses a template.
type podClaim struct {
	set, claim int
	name       string // of the entry
	template   string
}

// path of the claim in the Workload, for Kueue's errors.
func (c podClaim) path() *field.Path { return podSetPath(c.set).Child("resourceClaims").Index(c.claim) }

// claimsOf lists the template claims of pod set i.
func (r *run) claimsOf(i int) []podClaim {
	var out []podClaim
	for j, c := range r.w.PodSets[i].Template.Spec.ResourceClaims {
		if c.ResourceClaimTemplateName != nil {
			out = append(out, podClaim{set: i, claim: j, name: c.Name, template: *c.ResourceClaimTemplateName})
		}
	}
	return out
}

func (c podClaim) evidence(r *run) Evidence {
	return r.at(c.set, "spec.resourceClaims["+itoa(c.claim)+"].resourceClaimTemplateName", c.template)
}

// countClaims charges the devices of claim templates by number: templates are read, their devices
// counted, their selectors held against the inventory, and each class looked up in the mappings. The
// first claim with an error refuses the workload. A claim counts whether or not a container uses it.
func (r *run) countClaims(g gates) {
	for i := range r.w.PodSets {
		for _, c := range r.claimsOf(i) {
			if r.countClaim(c, g); r.stopped {
				return
			}
		}
	}
}

func (r *run) countClaim(c podClaim, g gates) {
	t := r.e.template(r.w.Namespace, c.template)
	if t == nil {
		r.templateMissing(c)
		return
	}
	if t.countErr != nil {
		r.refuseTemplate(c, t, [][]*templateError{{t.countErr}})
		return
	}
	check := r.e.checkClaim(t)
	if len(check.missing) > 0 {
		r.missing(check.missing...)
		r.unsure = true
	}
	outcomes := check.joint()
	fine := slices.DeleteFunc(slices.Clone(outcomes), func(errors []*templateError) bool { return len(errors) > 0 })
	switch {
	case len(fine) == 0:
		r.refuseTemplate(c, t, outcomes)
		return
	case len(fine) < len(outcomes):
		r.claimByChance(c, t, outcomes)
	}
	r.chargeClasses(c, t, g)
}

// templateMissing handles a template that can't be read.
func (r *run) templateMissing(c podClaim) {
	if !r.e.knownAbsent(cluster.ResourceClaimTemplate.Kind, r.w.Namespace, c.template) {
		r.missing(cluster.ResourceClaimTemplate.Kind)
		r.unsure = true
		return
	}
	err := fmt.Errorf("%s %w", message.Of(message.TemplateUnreadable, c.template, r.w.PodSets[c.set].Name).Text(),
		notFound("ResourceClaimTemplate", c.template))
	r.refuse(refusal{
		code: CodeTemplateNotFound, errs: field.ErrorList{field.InternalError(c.path(), err)},
		human: fmt.Sprintf("ResourceClaimTemplate %s/%s does not exist; create it (Kueue retries by itself)",
			r.w.Namespace, c.template),
		evidence: []Evidence{c.evidence(r)},
	})
}

// refuseTemplate refuses the workload for errors inside a claim template. Where the order of slices
// decides which errors, all outcomes are told.
func (r *run) refuseTemplate(c podClaim, t *claimTemplate, outcomes [][]*templateError) {
	errors := outcomes[0]
	f := refusal{code: errors[0].code, errs: inClaim(c, errors), evidence: []Evidence{c.evidence(r)}}
	for n, e := range errors {
		f.evidence = append(f.evidence, object(t.record, e.path, ""))
		if n > 0 {
			f.human += "; "
		}
		f.human += fmt.Sprintf("ResourceClaimTemplate %s/%s: %s", r.w.Namespace, c.template, e.human)
	}
	f.others = slices.DeleteFunc(texts(c, outcomes[1:]),
		func(s string) bool { return len(f.errs) > 0 && s == truncate(f.errs.ToAggregate().Error()) })
	r.refuse(f)
}

// inClaim words errors of a claim template as Kueue reports them for the pod's claim.
func inClaim(c podClaim, errors []*templateError) field.ErrorList {
	var out field.ErrorList
	for _, e := range errors {
		if e.err != nil {
			out = append(out,
				&field.Error{Type: e.err.Type, Field: c.path().String() + "." + e.err.Field, BadValue: e.err.BadValue,
					Detail: "ResourceClaimTemplate " + c.template + ": " + e.err.Detail})
		}
	}
	return out
}

// texts are the distinct messages of outcomes that are errors.
func texts(c podClaim, outcomes [][]*templateError) []string {
	var out []string
	for _, errors := range outcomes {
		if len(errors) == 0 {
			continue
		}
		if text := truncate(inClaim(c, errors).ToAggregate().Error()); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// claimByChance reports a claim whose check depends on the arbitrary order of ResourceSlices.
func (r *run) claimByChance(c podClaim, t *claimTemplate, outcomes [][]*templateError) {
	r.chance(fmt.Sprintf("whether enough devices match the selectors of ResourceClaimTemplate %s/%s depends on the "+
		"order in which Kueue meets the ResourceSlices, which is arbitrary",
		r.w.Namespace, c.template), texts(c, outcomes), c.evidence(r), object(t.record, "spec.spec.devices.requests",
		""))
}

// chargeClasses adds the device counts of a claim to the quota resources its classes are mapped to.
func (r *run) chargeClasses(c podClaim, t *claimTemplate, g gates) {
	if !r.e.cfg.Found {
		r.unsure = true
		return
	}
	var unmapped []classCount
	for _, n := range t.counts {
		if _, ok := r.e.cfg.Lookup(n.class); !ok {
			unmapped = append(unmapped, n)
		}
	}
	if len(unmapped) > 0 {
		r.refuseUnmapped(c, t, unmapped)
		return
	}
	for _, n := range t.counts {
		if len(r.e.cfg.Counters(n.class)) > 0 {
			r.gateMatters(release.KueueDRAIntegrationPartitionableDevices)
		}
		if g.counters && len(r.e.cfg.Counters(n.class)) > 0 || g.capacity && len(r.e.cfg.Capacities(n.class)) > 0 {
			continue // the source paths charge it
		}
		logical, _ := r.e.cfg.Lookup(n.class)
		r.add(c.set, draLine{
			resource: logical, quantity: *resource.NewQuantity(n.count, resource.DecimalSI), method: DeviceCount,
			derivation: []string{"claim " + c.name, "template " + c.template, n.classes(), devices(n.count)},
			evidence: []Evidence{
				c.evidence(r),
				t.classEvidence(n.request),
				r.mappingEvidence(n.class, logical),
			},
		})
	}
}

// classes names the class, and those that may be allocated in its place.
func (n classCount) classes() string {
	return strings.Join(append([]string{"class " + n.class}, n.alternatives...), " or ")
}

func devices(n int64) string {
	if n == 1 {
		return "1 device"
	}
	return strconv.FormatInt(n, 10) + " devices"
}

// refuseUnmapped refuses a claim for a class without mapping. Kueue names one class; which one is
// arbitrary in versions that walk a Go map.
func (r *run) refuseUnmapped(c podClaim, t *claimTemplate, unmapped []classCount) {
	word := func(n classCount) *field.Error {
		return field.NotFound(c.path().Child("resourceClaimTemplateName"),
			message.Of(message.UnmappedClass, n.class, r.w.PodSets[c.set].Name).Text())
	}
	first := unmapped[0]
	f := refusal{
		code: CodeUnmappedClass, errs: field.ErrorList{word(first)},
		human: fmt.Sprintf("DeviceClass %s is not mapped to a quota resource; add it to "+
			"resources.deviceClassMappings of the Kueue configuration and restart the manager (it reads the mappings "+
			"at start)", first.class),
		evidence: []Evidence{
			c.evidence(r),
			t.classEvidence(first.request),
			r.configEvidence("resources.deviceClassMappings", ""),
		},
	}
	if r.e.cfg.Behavior.ResourceOrder == release.GoMap {
		for _, n := range unmapped[1:] {
			f.others = append(f.others, word(n).Error())
		}
	}
	r.refuse(f)
}

// mappingEvidence points at the mapping that lists a class.
func (r *run) mappingEvidence(class string, logical corev1.ResourceName) Evidence {
	if known, ok := r.e.mapped[class]; ok {
		return known
	}
	found := r.findMapping(class, logical)
	r.e.mapped[class] = found
	return found
}

func (r *run) findMapping(class string, logical corev1.ResourceName) Evidence {
	path, ok := r.e.cfg.MappingPath(class)
	if !ok {
		path = "resources.deviceClassMappings"
	}
	return r.configEvidence(path, string(logical))
}

// add records what devices bring to one pod of pod set i.
func (r *run) add(i int, l draLine) { r.sets[i].lines = append(r.sets[i].lines, l) }
