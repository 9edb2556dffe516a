// ClusterQueues, their resource groups and flavors. Mirrors ClusterQueueSnapshot of pkg/cache/scheduler.

package admission

import (
	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// flavor is a ResourceFlavor as a queue names it.
type flavor struct {
	name string
	// object is nil when the flavor does not exist, or is not in the input.
	object *kueue.ResourceFlavor
}

func (f *flavor) topology() bool { return f.object != nil && f.object.Spec.TopologyName != nil }

// group is a resource group of a queue.
type group struct {
	index   int
	covered map[corev1.ResourceName]bool
	flavors []*flavor
	labels  map[string]bool // label keys of all its flavors
}

// tree is a whole tree of cohorts. Its version changes with what is reserved in it; its generation counts how often its
// quota was summed up anew.
type tree struct{ version, generation int }

// queue is a ClusterQueue with what it holds and what waits in it.
type queue struct {
	name       string
	object     *kueue.ClusterQueue
	record     *cluster.Object
	node       *quota.Node
	tree       *tree
	groups     []group
	preemption kueue.ClusterQueuePreemption
	fungible   kueue.FlavorFungibility
	strict     bool
	// inactive says why the queue takes no workloads; empty when it does.
	inactive string
	// orchestrated is the object whose status.effectiveQuotas is set, the queue itself or a cohort above; empty for
	// none.
	orchestrated string
	// topologyOnly: all its flavors have a topology.
	topologyOnly bool

	// holders have quota reserved here.
	holders []*schedulerWorkload
	// generation counts changes of what is reserved.
	generation int

	pending pendingQueue
	// ledger is what its LocalQueues used; nil where that does not order the queue.
	ledger *usageLedger
}

// allocatable counts what a queue's scans over flavors become outdated by: quota that came or went in the queue, and
// every new sum over its tree of cohorts.
func (q *queue) allocatable() int { return q.generation + q.tree.generation }

// covers finds the resource group of a resource; nil when the queue does not cover it.
func (q *queue) covers(name corev1.ResourceName) *group {
	for i := range q.groups {
		if q.groups[i].covered[name] {
			return &q.groups[i]
		}
	}
	return nil
}
