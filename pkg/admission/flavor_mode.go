// Which flavor is preferred. Mirrors granularMode, isPreferred and shouldTryNextFlavor of pkg/scheduler/flavorassigner.

package admission

import (
	"math"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// chance is what a flavor offers, finer than [Mode]; higher is better.
type chance int

const (
	noFit chance = iota
	noCandidates
	preempt
	reclaim
	fit
)

func (c chance) mode() Mode {
	switch c {
	case noFit:
		return NoFit
	case fit:
		return Fit
	}
	return NeedsPreemption
}

// rank is a chance together with how far away the quota is borrowed from.
type rank struct {
	chance chance
	borrow int
}

var (
	worst = rank{noFit, math.MaxInt}
	best  = rank{fit, 0}
)

// preferred tells whether a is better than b under the queue's flavor fungibility.
func (s *scheduler) preferred(a, b rank, f kueue.FlavorFungibility) bool {
	switch {
	case a.chance == noFit:
		return false
	case b.chance == noFit:
		return true
	case s.behavior.NoCandidatesRankedLast && (a.chance == noCandidates) != (b.chance == noCandidates):
		return b.chance == noCandidates
	case f.Preference != nil && *f.Preference == kueue.PreemptionOverBorrowing && a.borrow != b.borrow:
		return a.borrow < b.borrow
	case a.chance != b.chance:
		return a.chance > b.chance
	}
	return a.borrow < b.borrow
}

// tryNext tells whether later flavors are looked at although this one may do.
func tryNext(r rank, f kueue.FlavorFungibility) bool {
	switch {
	case r.chance == noFit, r.chance == noCandidates:
		return true
	case (r.chance == preempt || r.chance == reclaim) && f.WhenCanPreempt == kueue.TryNextFlavor:
		return true
	}
	return r.borrow > 0 && f.WhenCanBorrow == kueue.TryNextFlavor
}
