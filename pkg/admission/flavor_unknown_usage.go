// What is certain whatever others use.

package admission

import (
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// onlyUsageMissing tells that all that is not known about a workload is what others use, and its own priority: neither
// matters where no usage could let it in.
func (it *item) onlyUsageMissing() bool {
	if it.unknown == nil || it.queue == nil || it.charge.Verdict != charge.Charged || len(it.unknown.Missing) == 0 {
		return false
	}
	return !slices.ContainsFunc(it.unknown.Missing, func(kind string) bool {
		return kind != cluster.Workload.Kind && kind != it.charge.Workload.PriorityMissing
	})
}

// holdsNothing tells that the workload can't have quota already: it has none by its Workload, was never in a cluster, or
// its job is kept from running. What holds quota keeps it, whatever becomes of its queue.
func (it *item) holdsNothing() bool {
	w := it.charge.Workload
	return w.Object != nil || w.Owner == nil || it.laid() || w.Owner.Meta.UID == "" || workload.Suspended(w.Owner)
}

// whateverIsUsed decides about a workload that could not be admitted even if nothing were used: a pod set of it, be it with
// the fewest pods that partial admission allows, asks for more than every flavor can ever give, for a resource that is
// not covered, or is turned away by every flavor. Nil when usage matters.
//
// Each pod set is weighed alone: where those before it are placed depends on usage.
func (s *scheduler) whateverIsUsed(it *item) *Decision {
	switch {
	case !it.usageAlone:
		return nil
	case len(it.invalid) > 0:
		return s.turnedDown(it)
	}
	for _, members := range it.groups() {
		reasons, attempts := s.neverFits(it, members)
		if len(reasons) == 0 {
			continue
		}
		d := &Decision{State: Pending, Attempts: attempts}
		if !s.behavior.GranularReasons {
			d.Reason = reasonPending
		}
		s.sayIfCertain(it, d)
		d.Why = "it can't be admitted whatever others use, which is not in the input"
		if len(attempts) == 0 {
			d.Why += ": " + strings.Join(reasons, ", ")
		}
		return d
	}
	return nil
}

// sayIfCertain adds Kueue's message where no part of it is about usage.
func (s *scheduler) sayIfCertain(it *item, d *Decision) {
	saved := it.last
	defer func() { it.last = saved }()
	it.last = nil
	a, _ := s.attempt(it, nil)
	if a.mode() != NoFit {
		return
	}
	for i := range a.sets {
		for _, at := range a.sets[i].attempts {
			for _, l := range at.Lines {
				if !l.Over || l.Before != 0 {
					return
				}
			}
		}
	}
	d.Reason = s.granular(a.noFitReason(s.behavior.ResourceOrder == release.GoMap), reasonPending)
	d.say(a.messages(), "")
}

// neverFits says, in Kueue's words, why pod sets that share their flavors fit none whatever is used; nothing when they may.
func (s *scheduler) neverFits(it *item, members []int) (reasons []string, attempts []Attempt) {
	var sum []request
	for _, i := range members {
		ps := &it.sets[i]
		fewest := ps.count
		if s.gate(release.PartialAdmission) {
			fewest = min(fewest, ps.least())
		}
		sum = s.merge(sum, s.requestsOf(it, i, fewest))
	}
	for _, r := range sum {
		if it.queue.covers(r.name) == nil && r.total != 0 && !s.ignoreUndeclared {
			return []string{message.Of(message.NotCovered, string(r.name)).Text()}, nil
		}
	}
	for g := range it.queue.groups {
		group := &it.queue.groups[g]
		if !slices.ContainsFunc(sum, func(r request) bool { return group.covered[r.name] }) {
			continue
		}
		reasons, attempts = nil, nil
		open := len(group.flavors) == 0
		for _, f := range group.flavors {
			at := Attempt{PodSet: it.sets[members[0]].name, Flavor: f.name, group: group.index}
			if why := s.refusesAny(it, members, f, group); why != "" {
				at.Reasons = []string{why}
			} else {
				s.exceeds(it, f, group, sum, &at)
			}
			open = open || len(at.Reasons) == 0
			reasons, attempts = append(reasons, at.Reasons...), append(attempts, at)
		}
		if !open {
			return reasons, attempts
		}
	}
	return nil, nil
}

// exceeds adds to an attempt what is more than the flavor can ever give.
func (s *scheduler) exceeds(it *item, f *flavor, g *group, requests []request, at *Attempt) {
	for _, r := range requests {
		fr := quota.FlavorResource{Flavor: f.name, Resource: r.name}
		most := it.queue.node.PotentialAvailable(fr)
		if asked := quota.Amount(r.total); g.covered[r.name] && asked > most {
			at.Lines = append(at.Lines, Line{FlavorResource: fr, Requested: asked, Maximum: most, Short: asked.Sub(most), Over: true})
			at.Reasons = append(at.Reasons, s.tooMuch(fr, 0, asked, most))
		}
	}
}
