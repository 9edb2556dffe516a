package queuestate

import (
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// Ancestry is the way up from a cohort, itself first, until a cohort has no parent or comes again.
type Ancestry struct {
	Cohorts []string
	// Loop is the index of the cohort that comes again; -1 when the way ends.
	Loop int
}

// Endless tells that one of the cohorts is its own ancestor.
func (a Ancestry) Endless() bool { return a.Loop >= 0 }

// Cycle lists the cohorts that lead back to themselves, from the first of them that is met; nil when the way ends.
func (a Ancestry) Cycle() []string {
	if !a.Endless() {
		return nil
	}
	return a.Cohorts[a.Loop:]
}

// Ancestors walks up from a cohort. The parent of a cohort is empty when it has none.
func Ancestors(cohort string, parent func(cohort string) string) Ancestry {
	out := Ancestry{Loop: -1}
	for at := cohort; at != ""; at = parent(at) {
		if i := slices.Index(out.Cohorts, at); i >= 0 {
			out.Loop = i
			return out
		}
		out.Cohorts = append(out.Cohorts, at)
	}
	return out
}

// AncestorsIn walks up from a cohort through the Cohorts of a snapshot.
func AncestorsIn(snap *cluster.Snapshot, cohort string) Ancestry {
	return Ancestors(cohort, func(name string) string {
		if c := cluster.As[*kueue.Cohort](snap.Get(cluster.Cohort, "", name)); c != nil {
			return string(c.Spec.ParentName)
		}
		return ""
	})
}
