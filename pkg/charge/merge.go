package charge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// merge adds what devices bring to the ordinary requests of each pod set, converts to Kueue's integer
// units, and multiplies by the number of pods. Extended resources taken over by a DeviceClass leave
// the ordinary requests; what of them is not the containers' own differs by release.
func (r *run) merge() {
	covered := r.covered()
	for i := range r.w.PodSets {
		ps := &r.w.PodSets[i]
		set := PodSet{Name: ps.Name, Count: int64(ps.Count), Reclaimable: int64(ps.Reclaimable), Totals: Amounts{},
			Spec: r.pods[i].Spec}
		r.mergeSet(i, &set)
		// Only a queue that covers the resource `pods` charges for it.
		if covered[corev1.ResourcePods] {
			set.Lines = append(set.Lines, Line{
				Resource: corev1.ResourcePods, PerPod: 1, Total: set.Count, Method: Requests,
				Derivation: []string{"the queue covers pods: one per pod"},
			})
			set.Totals[corev1.ResourcePods] = set.Count
		}
		slices.SortStableFunc(set.Lines, func(a, b Line) int { return cmp.Compare(a.Resource, b.Resource) })
		for name, v := range set.Totals {
			r.out.Total[name] = add(r.out.Total[name], v, r.e.cfg.Behavior.SaturateAddSub)
		}
		r.out.PodSets = append(r.out.PodSets, set)
	}
	r.noteUndeclared(covered)
	r.notePartial()
}

// sum is one resource of one pod while it is put together.
type sum struct {
	ordinary, devices resource.Quantity
	hasDevices        bool
	lines             []Line
	other             bool
}

func (r *run) mergeSet(i int, set *PodSet) {
	b := r.e.cfg.Behavior
	pod := r.pods[i]
	r.missing(pod.Missing...)
	sums := map[corev1.ResourceName]*sum{}
	get := func(name corev1.ResourceName) *sum {
		if sums[name] == nil {
			sums[name] = &sum{}
		}
		return sums[name]
	}
	evidence := []Evidence{r.at(i, "spec", "")}
	for _, q := range pod.Requests {
		if taken, ok := r.sets[i].replaced[q.Name]; ok {
			if q = residual(q, taken, b); q.Quantity.Sign() <= 0 {
				continue
			}
		}
		s := get(q.Name)
		s.ordinary = q.Quantity
		s.other = len(q.Others) > 0
		method := Requests
		if q.Transformed {
			method = Transformation
		}
		s.lines = append(s.lines, Line{
			Resource: q.Name, PerPod: units(q.Name, q.Quantity, b), Method: method, Derivation: q.Steps,
			Evidence: evidence,
		})
		if s.other {
			r.requestByChance(set.Name, q)
		}
	}
	for _, l := range r.sets[i].lines {
		s := get(l.resource)
		s.devices.Add(l.quantity)
		s.hasDevices = true
		s.lines = append(s.lines,
			Line{Resource: l.resource, PerPod: units(l.resource, l.quantity, b), Method: l.method,
				Derivation: l.derivation, Evidence: l.evidence})
	}
	for _, text := range pod.Uncertain {
		r.unsureRequest(text)
	}
	lines := 0
	for _, s := range sums {
		lines += len(s.lines)
	}
	set.Lines = make([]Line, 0, lines+1) // and one for pods
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		s := sums[name]
		perPod := r.perPod(name, s)
		total := r.scale(perPod, set.Count)
		set.Totals[name] = total
		for _, l := range s.lines {
			l.Total = r.scale(l.PerPod, set.Count)
			if len(s.lines) == 1 {
				l.PerPod, l.Total = perPod, total
			}
			set.Lines = append(set.Lines, l)
		}
	}
}

// residual is what stays an ordinary request of an extended resource whose devices are charged by their class: what the
// pod asks for beyond its containers (overhead), and the output of transformations. Before 0.19.6 nothing stays.
func residual(q workload.Request, taken resource.Quantity, b release.Behavior) workload.Request {
	if !b.ExtendedResidual {
		return workload.Request{Name: q.Name}
	}
	if q.Kept.Cmp(taken) < 0 {
		taken = q.Kept
	}
	left := q.Quantity.DeepCopy()
	left.Sub(taken)
	q.Quantity = left
	if !q.Transformed {
		q.Steps = []string{"overhead of the pod: its containers' own requests are charged by the DeviceClass"}
	}
	return q
}

// perPod joins ordinary requests and devices of one pod: as exact quantities rounded up once, or, in
// older versions, as integers that wrap.
func (r *run) perPod(name corev1.ResourceName, s *sum) int64 {
	b := r.e.cfg.Behavior
	var v int64
	if b.DRAMergeBeforeRounding || !s.hasDevices {
		q := s.ordinary.DeepCopy()
		q.Add(s.devices)
		v = units(name, q, b)
	} else {
		v = units(name, s.ordinary, b) + units(name, s.devices, b)
	}
	if b.FloorNegativeRequests && v < 0 {
		v = 0
	}
	return v
}

func (r *run) scale(perPod, count int64) int64 {
	return multiply(perPod, count, r.e.cfg.Behavior.SaturateScale)
}

// requestByChance reports a request whose value depends on map order.
func (r *run) requestByChance(podSet string, q workload.Request) {
	values := []string{q.Quantity.String()}
	for _, o := range q.Others {
		values = append(values, o.String())
	}
	r.chance(fmt.Sprintf("pod set %s: the request for %s may come out as any of %v per pod", podSet, q.Name, values),
		nil)
}

// unsureRequest reports another arbitrary choice in the ordinary requests.
func (r *run) unsureRequest(text string) {
	for _, p := range r.out.Problems {
		if p.Code == CodeOrderDependent {
			return
		}
	}
	r.chance(text, nil)
}

// covered lists the resources the workload's ClusterQueue covers; nil when the queue is not in the input.
func (r *run) covered() map[corev1.ResourceName]bool {
	cq, _, ok := cluster.Lookup[*kueue.ClusterQueue](r.e.snap, cluster.ClusterQueue, "", r.out.ClusterQueue)
	if !ok {
		return nil
	}
	out := map[corev1.ResourceName]bool{}
	for _, g := range cq.Spec.ResourceGroups {
		for _, name := range g.CoveredResources {
			out[name] = true
		}
	}
	return out
}

// noteUndeclared tells which resources do not count against quota because the queue does not declare them.
func (r *run) noteUndeclared(covered map[corev1.ResourceName]bool) {
	if covered == nil || !r.e.cfg.IgnoresUndeclared() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.out.Total)) {
		if !covered[name] {
			r.note(fmt.Sprintf("%s does not count against quota: ClusterQueue %s does not cover it, and "+
				"quotaCheckStrategy is IgnoreUndeclared", name, r.out.ClusterQueue))
		}
	}
}

// Admitted is the charge for as many pods as the Workload was admitted with: fewer than its spec asks for
// after partial admission. Without admission it is the Total.
func (c *Charge) Admitted() Amounts {
	if c.Workload == nil || c.Workload.Object == nil || c.Workload.Object.Status.Admission == nil {
		return c.Total
	}
	out, fewer := Amounts{}, false
	for i := range c.PodSets {
		n := c.AdmittedPods(i)
		fewer = fewer || n < c.PodSets[i].Count
		for name, v := range c.PodSets[i].ScaledTo(n) {
			out[name] = Add(out[name], v)
		}
	}
	if !fewer {
		return c.Total
	}
	return out
}

// AdmittedPods is the number of pods of pod set i that the Workload was admitted with: lower than its count after
// partial admission.
func (c *Charge) AdmittedPods(i int) int64 {
	count := c.PodSets[i].Count
	if i >= len(c.Workload.PodSets) || c.Workload.PodSets[i].MinCount == nil {
		return count
	}
	if n := recorded.Pods(c.Workload.Object, c.PodSets[i].Name); n != nil {
		return min(count, int64(*n))
	}
	return count
}

// notePartial tells how far partial admission may lower the charge, or has lowered it.
func (r *run) notePartial() {
	if !r.e.cfg.Enabled(release.PartialAdmission) {
		return
	}
	for i := range r.out.PodSets {
		ps := &r.w.PodSets[i]
		if ps.MinCount == nil || *ps.MinCount >= ps.Count {
			continue
		}
		if o := r.w.Object; o != nil && o.Status.Admission != nil {
			if n := r.out.AdmittedPods(i); n < int64(ps.Count) {
				r.note(fmt.Sprintf("pod set %s was admitted with %d of %d pods and holds quota for those (partial "+
					"admission)", ps.Name, n, ps.Count))
			}
			continue
		}
		r.note(fmt.Sprintf("pod set %s may be admitted with fewer pods, down to %d (partial admission); the charge "+
			"is for all %d", ps.Name, *ps.MinCount, ps.Count))
	}
}

// ScaledTo is what a pod set costs with fewer pods, as partial admission computes it: the total divided
// by the count (rounding down), times the new count.
func (p PodSet) ScaledTo(count int64) Amounts {
	out := Amounts{}
	for name, v := range p.Totals {
		switch {
		case p.Count == 0 || p.Count == count:
			out[name] = v
		default:
			out[name] = multiply(v/p.Count, min(count, math.MaxInt32), true)
		}
	}
	return out
}
