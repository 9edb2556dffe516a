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

// countEviction counts an eviction of a workload since the scheduler last was at rest. After too many the tree is left
// alone.
func (r *run) countEviction(wl *schedulerWorkload, root *quota.Node) {
	if wl.countedIn != r.settled {
		wl.countedIn, wl.evictionCount = r.settled, 0
	}
	if wl.evictionCount++; wl.evictionCount > mostEvictions && !r.loopingTrees[root] {
		r.loopingTrees[root] = true
		r.doubtLoop(root)
	}
}

// doubtLoop says of the workloads that were evicted since the scheduler last was at rest that where they end is not
// known.
func (r *run) doubtLoop(root *quota.Node) {
	var in []*schedulerWorkload
	for _, wl := range r.workloads {
		if wl.evictionCount > 0 && wl.countedIn == r.settled && wl.queue != nil && wl.queue.node.Root() == root {
			in = append(in, wl)
			wl.doubt = "preemption goes round in circles: it gets its quota and loses it again without end"
		}
	}
	slices.SortStableFunc(in,
		func(a, b *schedulerWorkload) int { return cmp.Compare(b.evictionCount, a.evictionCount) })
	r.unknown = append(
		r.unknown,
		fmt.Sprintf("%s: preemption goes round in circles among %s; it is followed no further", root.Name, listed(in)),
	)
}

// listed names workloads, but not too many.
func listed(in []*schedulerWorkload) string {
	const most = 5
	names := make([]string, 0, most)
	for _, wl := range in[:min(most, len(in))] {
		names = append(names, wl.key)
	}
	text := strings.Join(names, ", ")
	if len(in) > most {
		text += fmt.Sprintf(" and %d more", len(in)-most)
	}
	return text
}

// loops reports whether the tree of a queue is left alone.
func (r *run) loops(q *queue) bool { return len(r.loopingTrees) > 0 && r.loopingTrees[q.node.Root()] }
