// Pod sets that the assigner never looks at. Mirrors assignFlavors of pkg/scheduler/flavorassigner, which stops there.

package admission

import (
	"cmp"
	"fmt"
	"slices"
)

// cut reports whether flavors were looked for in some of the pod sets only, and that nothing speaks against those:
// Kueue stops at a pod set that asks for nothing its queue covers, such as for zero of something, and calls that
// neither a failure nor an assignment. What follows depends on the mode. To find victims the scheduler reads an
// assignment of every pod set, and crashes; an admission without all pod sets is refused by the API server.
func (a *assignment) cut(wl *schedulerWorkload) bool {
	return len(a.sets) < len(wl.sets) && a.mode() != NoFit
}

// crashes reports whether the scheduler of Kueue crashes over an assignment.
func (a *assignment) crashes(wl *schedulerWorkload) bool {
	return a.mode() == NeedsPreemption && a.cut(wl)
}

// whyCut says what becomes of a workload whose assignment is cut.
func (a *assignment) whyCut(wl *schedulerWorkload) string {
	at := fmt.Sprintf(
		"pod set %s asks for nothing that ClusterQueue %s covers, and Kueue looks at no pod set after it",
		a.sets[len(a.sets)-1].name,
		wl.queue.name,
	)
	if a.mode() == NeedsPreemption {
		return at + "; the pod sets before it need preemption, over which its scheduler then crashes"
	}
	return at + "; the API server refuses an admission without all pod sets"
}

// crash ends a run in which the scheduler of Kueue crashes: it does so again at every start, and nothing is decided.
func (r *run) crash(n *entry) {
	r.halted, r.crashed = true, true
	why := n.assignment.whyCut(n.workload)
	r.unknown = append(r.unknown, fmt.Sprintf("%s: %s", n.workload.key, why))
	for _, wl := range r.workloads {
		if wl.held == nil && wl.queue != nil && wl.place != notQueued {
			wl.doubt = cmp.Or(wl.doubt, "the scheduler of Kueue crashes over "+n.workload.key)
		}
	}
	n.workload.doubt = why
}

// crashingEntry is the first entry over which the scheduler crashes; nil when there is none.
func crashingEntry(ns []*entry) *entry {
	i := slices.IndexFunc(ns, func(n *entry) bool { return n.assignment != nil && n.assignment.crashes(n.workload) })
	if i >= 0 {
		return ns[i]
	}
	return nil
}
