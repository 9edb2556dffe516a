// Quota that queues report and no Workload holds.

package admission

import (
	"fmt"
	"reflect"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// unaccounted is what a ClusterQueue reports as reserved beyond what the Workloads in the input hold: Workloads are
// missing from the input, or the report is old.
type unaccounted struct {
	queue *queue
	usage quota.Usage
	delta quota.Delta
}

// Unaccounted says so for people; empty when a queue's report and the Workloads agree.
func (e *Engine) Unaccounted(queue string) []string {
	s := e.now()
	var out []string
	for _, u := range s.unaccounted {
		if u.queue.name != queue {
			continue
		}
		for _, fr := range u.usage.Sorted() {
			held := u.queue.node.Used(fr)
			out = append(
				out,
				fmt.Sprintf("ClusterQueue %s reports %s of %s reserved in flavor %s, but the Workloads in the input "+
					"hold %s",
					queue, s.amount(fr, held.Add(u.usage[fr])), fr.Resource, fr.Flavor, s.amount(fr, held)),
			)
		}
	}
	return out
}

// removedUsage is what workloads held that were taken away on purpose, by queue.
func removedUsage(snap *cluster.Snapshot) map[string]quota.Usage {
	out := map[string]quota.Usage{}
	for _, o := range snap.Removed {
		w, ok := o.Typed.(*kueue.Workload)
		if !ok || w.Status.Admission == nil {
			continue
		}
		name := string(w.Status.Admission.ClusterQueue)
		if out[name] == nil {
			out[name] = quota.Usage{}
		}
		for held, q := range recorded.Held(w) {
			fr := quota.FlavorResource(held)
			out[name][fr] = out[name][fr].Add(quota.Amount(charge.Units(fr.Resource, q)))
		}
	}
	return out
}

// account compares what queues report with what is held.
func (s *scheduler) account(snap *cluster.Snapshot) {
	removed := removedUsage(snap)
	for _, name := range s.names {
		q := s.queues[name]
		if q.record.Laid {
			continue
		}
		more := quota.Usage{}
		says, keys := reported(recorded.Reserved(q.object))
		for _, fr := range keys {
			if d := says[fr].Sub(q.node.Used(fr)).Sub(removed[name][fr]); d > 0 {
				more[fr] = d
			}
		}
		if len(more) > 0 {
			s.unaccounted = append(s.unaccounted, unaccounted{q, more, q.node.Delta(more)})
		}
	}
}

// decideByUsage decides with and without what is unaccounted for in the workload's tree. Where that changes the outcome
// it can't be known.
func (s *scheduler) decideByUsage(wl *schedulerWorkload) *Decision {
	without := s.tryFlavors(wl)
	var in []unaccounted
	for _, u := range s.unaccounted {
		if u.queue.node.Root() == wl.queue.node.Root() {
			in = append(in, u)
		}
	}
	if len(in) == 0 {
		return without
	}
	for _, u := range in {
		u.queue.node.Add(u.delta)
	}
	with := s.tryFlavors(wl)
	for _, u := range in {
		u.queue.node.Remove(u.delta)
	}
	if with.State != without.State || !reflect.DeepEqual(with.PodSets, without.PodSets) ||
		len(with.Targets) != len(without.Targets) {
		return &Decision{State: Unknown, Missing: []string{cluster.Workload.Kind}, Attempts: without.Attempts,
			Why: fmt.Sprintf(
				"ClusterQueue %s reports more reserved than the Workloads in the input hold: "+
					"some are missing, or its status is old",
				in[0].queue.name,
			)}
	}
	if with.Message != without.Message {
		without.Possible = slices.Compact(
			slices.Sorted(
				slices.Values(append(append([]string{with.Message, without.Message}, with.Possible...),
					without.Possible...)),
			),
		)
	}
	return without
}
