// Workloads that share their answers.

package admission

import (
	"encoding/json"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
)

// Likeness is equal for workloads about which the next attempt decides alike: they wait in the same queue, ask for the
// same, and may preempt the same workloads. It is comparable.
type Likeness struct {
	queue *queue
	shape string
	// order is when the workload was queued, where preemption depends on it.
	order time.Time
}

// Likeness is what a workload has in common with others that wait; false for one that is not decided about by quota.
// Workloads that are alike have one [Decision], the same [Holder]s, and the same [Engine.DecideWith] after one change.
func (e *Engine) Likeness(c *charge.Charge) (Likeness, bool) {
	s := e.now()
	wl := e.byOf[c]
	if wl == nil || !wl.decidedByQuota() {
		return Likeness{}, false
	}
	if wl.likenessText == "" {
		wl.likenessText = wl.likeness()
	}
	return Likeness{wl.queue, wl.likenessText, s.preemptionOrder(wl)}, wl.likenessText != ""
}

// likeness is the hash with what the scheduler's own comparison of workloads leaves out.
func (wl *schedulerWorkload) likeness() string {
	shape := wl.schedulingHash()
	if shape == "" {
		if shape = wl.computeHash(); shape == "" {
			return ""
		}
	}
	type set struct {
		Name  string
		Count int32
	}
	sets := make([]set, len(wl.sets))
	for i := range wl.sets {
		sets[i] = set{wl.sets[i].name, wl.sets[i].specCount}
	}
	text, err := json.Marshal(sets)
	if err != nil {
		return ""
	}
	return shape + string(text)
}

// preemptionOrder is when a workload was queued where it may preempt newer ones of its priority; zero where that does
// not matter, because no policy asks for it or because all that hold quota in its tree are older.
func (s *scheduler) preemptionOrder(wl *schedulerWorkload) time.Time {
	p := &wl.queue.preemption
	if p.WithinClusterQueue != kueue.PreemptionPolicyLowerOrNewerEqualPriority &&
		p.ReclaimWithinCohort != kueue.PreemptionPolicyLowerOrNewerEqualPriority {
		return time.Time{}
	}
	if compareTimes(wl.order, s.newestHolder(wl.queue)) >= 0 {
		return time.Time{}
	}
	return wl.order
}

// newestHolder is when the last of those was queued that hold quota in the queue's tree. The state must be the present.
func (s *scheduler) newestHolder(q *queue) time.Time {
	if newest, known := s.newest[q.tree]; known {
		return newest
	}
	if s.newest == nil {
		s.newest = map[*tree]time.Time{}
	}
	newest := time.Unix(0, 0)
	for _, name := range s.names {
		if s.queues[name].tree != q.tree {
			continue
		}
		for _, o := range s.queues[name].holders {
			if compareTimes(o.order, newest) > 0 {
				newest = o.order
			}
		}
	}
	s.newest[q.tree] = newest
	return newest
}
