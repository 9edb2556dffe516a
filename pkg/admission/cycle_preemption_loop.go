// Preemption that goes round in circles.

package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// mostEvictions is how often one workload may be evicted before the scheduler is said to go round in circles: two
// workloads may each be entitled to preempt the other, by different rules.
const mostEvictions = 50

// turn counts an eviction of a workload since the scheduler last was at rest. After too many the tree is left alone.
func (r *run) turn(it *item, root *quota.Node) {
	if it.turnsIn != r.settled {
		it.turnsIn, it.turns = r.settled, 0
	}
	if it.turns++; it.turns > mostEvictions && !r.circling[root] {
		r.circling[root] = true
		r.doubtAll(root)
	}
}

// doubtAll says of the workloads that were evicted since the scheduler last was at rest that where they end is not told.
func (r *run) doubtAll(root *quota.Node) {
	var in []*item
	for _, it := range r.items {
		if it.turns > 0 && it.turnsIn == r.settled && it.queue != nil && it.queue.node.Root() == root {
			in = append(in, it)
			it.doubt = "preemption goes round in circles: it gets its quota and loses it again without end"
		}
	}
	slices.SortStableFunc(in, func(a, b *item) int { return cmp.Compare(b.turns, a.turns) })
	r.unknown = append(r.unknown, fmt.Sprintf("%s: preemption goes round in circles among %s; it is followed no further", root.Name, listed(in)))
}

// listed names workloads, but not too many.
func listed(in []*item) string {
	const most = 5
	names := make([]string, 0, most)
	for _, it := range in[:min(most, len(in))] {
		names = append(names, it.key)
	}
	text := strings.Join(names, ", ")
	if len(in) > most {
		text += fmt.Sprintf(" and %d more", len(in)-most)
	}
	return text
}

// stuck tells that the tree of a queue is left alone.
func (r *run) stuck(q *queue) bool { return len(r.circling) > 0 && r.circling[q.node.Root()] }
