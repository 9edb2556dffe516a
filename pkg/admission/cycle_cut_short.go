// Pod sets that the assigner never looks at. Mirrors assignFlavors of pkg/scheduler/flavorassigner, which stops there.

package admission

import (
	"cmp"
	"fmt"
	"slices"
)

// cut tells that flavors were looked for in some of the pod sets only, and that nothing speaks against those: Kueue stops
// at a pod set that asks for nothing its queue covers, such as for zero of something, and calls that neither a failure
// nor an assignment. What follows depends on the mode. To find victims the scheduler reads an assignment of every pod
// set, and crashes; an admission without all pod sets is refused by the API server.
func (a *assignment) cut(it *item) bool { return len(a.sets) < len(it.sets) && a.mode() != NoFit }

// crashes tells that the scheduler of Kueue crashes over an assignment.
func (a *assignment) crashes(it *item) bool { return a.mode() == NeedsPreemption && a.cut(it) }

// whyCut says what becomes of a workload whose assignment is cut.
func (a *assignment) whyCut(it *item) string {
	at := fmt.Sprintf("pod set %s asks for nothing that ClusterQueue %s covers, and Kueue looks at no pod set after it", a.sets[len(a.sets)-1].name, it.queue.name)
	if a.mode() == NeedsPreemption {
		return at + "; the pod sets before it need preemption, over which its scheduler then crashes"
	}
	return at + "; the API server refuses an admission without all pod sets"
}

// crash ends a run in which the scheduler of Kueue crashes: it does so again at every start, and nothing is decided.
func (r *run) crash(n *nominee) {
	r.halted, r.crashed = true, true
	why := n.assignment.whyCut(n.it)
	r.unknown = append(r.unknown, fmt.Sprintf("%s: %s", n.it.key, why))
	for _, it := range r.items {
		if it.held == nil && it.queue != nil && it.place != nowhere {
			it.doubt = cmp.Or(it.doubt, "the scheduler of Kueue crashes over "+n.it.key)
		}
	}
	n.it.doubt = why
}

// crashing is the first nominee over which the scheduler crashes; nil when there is none.
func crashing(ns []*nominee) *nominee {
	if i := slices.IndexFunc(ns, func(n *nominee) bool { return n.assignment != nil && n.assignment.crashes(n.it) }); i >= 0 {
		return ns[i]
	}
	return nil
}
