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

// onlyUsageMissing reports whether all that is not known about a workload is what others use, and its own priority:
// neither matters where no usage could let it in.
func (wl *schedulerWorkload) onlyUsageMissing() bool {
	if wl.unknown == nil || wl.queue == nil || wl.charge.Verdict != charge.Charged || len(wl.unknown.Missing) == 0 {
		return false
	}
	return !slices.ContainsFunc(wl.unknown.Missing, func(kind string) bool {
		return kind != cluster.Workload.Kind && kind != wl.charge.Workload.PriorityMissing
	})
}

// holdsNothing reports whether the workload can't have quota already: it has none by its Workload, was never in a
// cluster, or its job is kept from running. What holds quota keeps it, whatever becomes of its queue.
func (wl *schedulerWorkload) holdsNothing() bool {
	w := wl.charge.Workload
	return w.Object != nil || w.Owner == nil || wl.fromManifest() || w.Owner.Meta.UID == "" ||
		workload.Suspended(w.Owner)
}

// whateverIsUsed decides about a workload that could not be admitted even if nothing were used: a pod set of it, be it
// with the fewest pods that partial admission allows, asks for more than every flavor can ever give, for a resource
// that is not covered, or is turned away by every flavor. Nil when usage matters.
//
// Each pod set is weighed alone: where those before it are placed depends on usage.
func (s *scheduler) whateverIsUsed(wl *schedulerWorkload) *Decision {
	switch {
	case !wl.usageAlone:
		return nil
	case len(wl.invalid) > 0:
		return s.invalidDecision(wl)
	}
	for _, members := range wl.groups() {
		reasons, attempts := s.neverFits(wl, members)
		if len(reasons) == 0 {
			continue
		}
		d := &Decision{State: Pending, Attempts: attempts}
		if !s.behavior.GranularReasons {
			d.Reason = reasonPending
		}
		s.sayIfCertain(wl, d)
		d.Why = "it can't be admitted whatever others use, which is not in the input"
		if len(attempts) == 0 {
			d.Why += ": " + strings.Join(reasons, ", ")
		}
		return d
	}
	return nil
}

// sayIfCertain adds Kueue's message where no part of it is about usage.
func (s *scheduler) sayIfCertain(wl *schedulerWorkload, d *Decision) {
	saved := wl.position
	defer func() { wl.position = saved }()
	wl.position = nil
	a, _ := s.attempt(wl, nil)
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

// neverFits says, in Kueue's words, why pod sets that share their flavors fit none whatever is used; nothing when they
// may.
func (s *scheduler) neverFits(wl *schedulerWorkload, members []int) (reasons []string, attempts []Attempt) {
	var sum []request
	for _, i := range members {
		ps := &wl.sets[i]
		fewest := ps.count
		if s.gate(release.PartialAdmission) {
			fewest = min(fewest, ps.least())
		}
		sum = s.merge(sum, s.requestsOf(wl, i, fewest))
	}
	for _, r := range sum {
		if wl.queue.covers(r.name) == nil && r.total != 0 && !s.ignoreUndeclared {
			return []string{message.Of(message.NotCovered, string(r.name)).Text()}, nil
		}
	}
	for g := range wl.queue.groups {
		group := &wl.queue.groups[g]
		if !slices.ContainsFunc(sum, func(r request) bool { return group.covered[r.name] }) {
			continue
		}
		reasons, attempts = nil, nil
		open := len(group.flavors) == 0
		for _, f := range group.flavors {
			at := Attempt{PodSet: wl.sets[members[0]].name, Flavor: f.name, group: group.index}
			if why := s.refusesAny(wl, members, f, group); why != "" {
				at.Reasons = []string{why}
			} else {
				s.exceeds(wl, f, group, sum, &at)
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
func (s *scheduler) exceeds(wl *schedulerWorkload, f *flavor, g *group, requests []request, at *Attempt) {
	for _, r := range requests {
		fr := quota.FlavorResource{Flavor: f.name, Resource: r.name}
		most := wl.queue.node.PotentialAvailable(fr)
		if asked := quota.Amount(r.total); g.covered[r.name] && asked > most {
			at.Lines = append(
				at.Lines,
				Line{FlavorResource: fr, Requested: asked, Maximum: most, Short: asked.Sub(most), Over: true},
			)
			at.Reasons = append(at.Reasons, s.tooMuch(fr, 0, asked, most))
		}
	}
}
