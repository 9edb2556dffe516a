// Fewer pods. Mirrors PodSetReducer of pkg/scheduler/flavorassigner/podset_reducer.go and getAssignments of
// scheduler.go.

package admission

import (
	"sort"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// attempt assigns flavors and, where that takes it, finds whom to preempt. When all pods neither fit nor preempt, and
// the workload may shrink, fewer are tried.
func (s *scheduler) attempt(wl *schedulerWorkload, only nominated) (*assignment, []target) {
	s.dropOutdated(wl, s.cycle)
	full := s.assign(wl, nil, only)
	switch full.mode() {
	case Fit:
		return full, nil
	case NeedsPreemption:
		if full.crashes(wl) {
			return full, nil
		}
		if ts := s.oracle.targets(wl, full.needsPreemption(), full.demand(wl)); len(ts) > 0 {
			return full, ts
		}
	}
	if !s.gate(release.PartialAdmission) {
		return full, nil
	}
	if fewer, ts := s.shrink(wl, only); fewer != nil {
		return fewer, ts
	}
	return full, nil
}

// dropOutdated lets the flavor scan of a workload begin anew where, in a cycle, it must.
func (s *scheduler) dropOutdated(wl *schedulerWorkload, cycle int) {
	if wl.position != nil && s.outdated(wl, cycle) {
		wl.position = nil
	}
}

func (s *scheduler) outdated(wl *schedulerWorkload, cycle int) bool {
	if s.behavior.PreserveScanProgress {
		if wl.position.shape != wl.schedulingHash() {
			return true
		}
		if cycle-wl.position.cycle <= 1 {
			return false
		}
	}
	return wl.queue.allocatable() > wl.position.generation
}

// shrink takes pods away, of all pod sets that allow it in proportion, and searches for the largest number that is
// served. It supposes, as Kueue does, that fewer pods are never harder to serve.
func (s *scheduler) shrink(wl *schedulerWorkload, only nominated) (*assignment, []target) {
	total := 0
	for i := range wl.sets {
		total += int(wl.sets[i].most() - wl.sets[i].least())
	}
	if total == 0 {
		return nil, nil
	}
	var last *assignment
	var lastTargets []target
	lastGood := 0
	counts := make([]int32, len(wl.sets))
	found := sort.Search(total+1, func(i int) bool {
		for n := range wl.sets {
			ps := &wl.sets[n]
			counts[n] = ps.most() - int32(int64(ps.most()-ps.least())*int64(i)/int64(total))
		}
		a := s.assign(wl, counts, only)
		var ts []target
		switch a.mode() {
		case Fit:
		case NeedsPreemption:
			if ts = s.oracle.targets(wl, a.needsPreemption(), a.demand(wl)); len(ts) == 0 && !a.crashes(wl) {
				return false
			}
		default:
			return false
		}
		last, lastTargets, lastGood = a, ts, i
		return true
	})
	if last == nil || found != lastGood {
		return nil, nil
	}
	return last, lastTargets
}

func (p *podSet) most() int32 { return p.specCount }

func (p *podSet) least() int32 {
	if p.minCount != nil {
		return *p.minCount
	}
	return p.specCount
}
