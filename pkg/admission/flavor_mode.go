// Which flavor is preferred. Mirrors granularMode, isPreferred and shouldTryNextFlavor of pkg/scheduler/flavorassigner.

package admission

import (
	"math"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// granularMode is how well a flavor serves, finer than [Mode]; higher is better.
type granularMode int

const (
	noFit granularMode = iota
	noCandidates
	preempt
	reclaim
	fit
)

func (c granularMode) assignmentMode() Mode {
	switch c {
	case noFit:
		return NoFit
	case fit:
		return Fit
	}
	return NeedsPreemption
}

// flavorScore is a granularMode together with how far away the quota is borrowed from.
type flavorScore struct {
	mode   granularMode
	borrow int
}

var (
	worst = flavorScore{noFit, math.MaxInt}
	best  = flavorScore{fit, 0}
)

// preferred reports whether a is better than b under the queue's flavor fungibility.
func (s *scheduler) preferred(a, b flavorScore, f kueue.FlavorFungibility) bool {
	switch {
	case a.mode == noFit:
		return false
	case b.mode == noFit:
		return true
	case s.behavior.NoCandidatesRankedLast && (a.mode == noCandidates) != (b.mode == noCandidates):
		return b.mode == noCandidates
	case f.Preference != nil && *f.Preference == kueue.PreemptionOverBorrowing && a.borrow != b.borrow:
		return a.borrow < b.borrow
	case a.mode != b.mode:
		return a.mode > b.mode
	}
	return a.borrow < b.borrow
}

// tryNext reports whether later flavors are looked at although this one may do.
func tryNext(r flavorScore, f kueue.FlavorFungibility) bool {
	switch {
	case r.mode == noFit, r.mode == noCandidates:
		return true
	case (r.mode == preempt || r.mode == reclaim) && f.WhenCanPreempt == kueue.TryNextFlavor:
		return true
	}
	return r.borrow > 0 && f.WhenCanBorrow == kueue.TryNextFlavor
}
