// Answers after a change.

package admission

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// WhatIf is a change to the present state, to see what would then be decided. The zero value changes nothing.
type WhatIf struct {
	// Limits replaces quota of ClusterQueues.
	Limits map[string]map[quota.FlavorResource]quota.Limits
	// Without takes workloads away that hold quota.
	Without []*charge.Charge
	// Counts replaces the number of pods of each pod set; nil keeps them.
	Counts []int32
	// Spec edits the pods of a pod set; it gets a copy. Nil keeps them.
	Spec func(podSet int, spec *corev1.PodSpec)
}

// workloadOf is a workload in the present state; nil for one that the engine does not know.
func (e *Engine) workloadOf(c *charge.Charge) *schedulerWorkload {
	e.now()
	return e.byOf[c]
}

// DecideWith is [Engine.Decide] after a change. The state is put back as it was.
func (e *Engine) DecideWith(c *charge.Charge, w WhatIf) *Decision {
	s := e.now()
	wl := e.byOf[c]
	if wl == nil {
		return e.Decide(c)
	}
	defer e.change(s, w)()
	return s.decide(s.altered(wl, w))
}

// CouldFit reports whether a workload that waits might fit without preempting anybody once others are gone. False is
// certain, and found sooner than by [Engine.DecideWith]: a workload that goes makes at most what it holds available.
func (e *Engine) CouldFit(c *charge.Charge, without []*charge.Charge) bool {
	wl := e.workloadOf(c)
	if wl == nil || !wl.decidedByQuota() {
		return true
	}
	freed := quota.Usage{}
	for _, gone := range without {
		if o := e.byOf[gone]; o != nil && o.held != nil {
			for fr, v := range o.held.usage {
				freed[fr] = freed[fr].Add(v)
			}
		}
	}
	for i := range wl.sets {
		ps := &wl.sets[i]
		requests := ps.scaled(min(ps.count, ps.least()))
		for g := range wl.queue.groups {
			if !wl.queue.groups[g].couldServe(wl.queue.node, requests, freed) {
				return false
			}
		}
	}
	return true
}

// couldServe reports whether a flavor of the group has room for all that is asked of the group.
func (g *group) couldServe(node *quota.Node, requests []request, freed quota.Usage) bool {
	asked := false
	for _, f := range g.flavors {
		room := true
		for _, r := range requests {
			if !g.covered[r.name] || r.total == 0 {
				continue
			}
			asked = true
			fr := quota.FlavorResource{Flavor: f.name, Resource: r.name}
			room = room && quota.Amount(r.total) <= node.Available(fr).Add(freed[fr])
		}
		if room {
			return true
		}
	}
	return !asked
}

// change applies what concerns the state and returns what undoes it.
func (e *Engine) change(s *scheduler, w WhatIf) (undo func()) {
	var gone []*schedulerWorkload
	for _, c := range w.Without {
		if o := e.byOf[c]; o != nil && o.held != nil {
			remove(o)
			gone = append(gone, o)
		}
	}
	s.preemption.removed = make(map[*schedulerWorkload]bool, len(gone))
	for _, o := range gone {
		s.preemption.removed[o] = true
	}
	type saved struct {
		queue  string
		fr     quota.FlavorResource
		limits quota.Limits
	}
	var old []saved
	for queue, limits := range w.Limits {
		for fr, l := range limits {
			if n := s.forest.Queue(queue); n != nil {
				old = append(old, saved{queue, fr, n.Limits(fr)})
				s.forest.SetLimits(queue, fr, l)
			}
		}
	}
	return func() {
		for _, o := range old {
			s.forest.SetLimits(o.queue, o.fr, o.limits)
		}
		for _, o := range gone {
			putBack(o)
		}
		s.preemption.removed = nil
	}
}

// altered is the workload with other pods.
func (s *scheduler) altered(wl *schedulerWorkload, w WhatIf) *schedulerWorkload {
	if w.Counts == nil && w.Spec == nil {
		return wl
	}
	out := *wl
	out.fits, out.sets = nil, slices.Clone(wl.sets)
	for i := range out.sets {
		ps := &out.sets[i]
		if w.Counts != nil {
			ps.requests = ps.resized(w.Counts[i])
			ps.count, ps.specCount = w.Counts[i], w.Counts[i]
			if ps.minCount != nil && *ps.minCount > ps.count {
				ps.minCount = nil
			}
		}
		if w.Spec != nil {
			ps.spec = ps.spec.DeepCopy()
			w.Spec(i, ps.spec)
		}
	}
	return &out
}

// most is how many later reservations are looked back over.
const mostEarlier = 64

// Earlier reports whether a message is what the version would have written before the latest reservations were made,
// and which those are: the message is then of an earlier attempt. The present state is not looked at.
func (e *Engine) Earlier(c *charge.Charge, says func(*Decision) bool) (later []*charge.Charge, found bool) {
	s := e.now()
	wl := e.byOf[c]
	if wl == nil || wl.queue == nil || wl.held != nil || wl.queue.node.Cyclic {
		return nil, false
	}
	var holders []*schedulerWorkload
	for n := range wl.queue.node.Root().AllQueues() {
		holders = append(holders, s.queues[n.Name].holders...)
	}
	slices.SortFunc(holders, func(a, b *schedulerWorkload) int {
		return cmp.Or(b.held.since.Compare(a.held.since), cmp.Compare(b.seq, a.seq))
	})
	s.preemption.removed = map[*schedulerWorkload]bool{}
	defer func() {
		for o := range s.preemption.removed {
			putBack(o)
		}
		s.preemption.removed = nil
	}()
	for _, o := range holders[:min(len(holders), mostEarlier)] {
		remove(o)
		s.preemption.removed[o] = true
		later = append(later, o.charge)
		if says(s.decide(wl)) {
			return later, true
		}
	}
	return nil, false
}
