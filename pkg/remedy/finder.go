package remedy

import (
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
)

// Remedy is a change after which a workload would be admitted, or a queue active.
type Remedy = explain.Remedy

// Finder explains the workloads and queues of one snapshot, with what would help.
type Finder struct {
	explainer *explain.Explainer
	snap      *cluster.Snapshot
	conf      *config.Config
	engine    *admission.Engine
	queues    *queuestate.Queues
	// depth counts the changes made to get to this state, when remedies are tried in steps.
	depth int
	// commons is what workloads that are alike share.
	commons map[admission.Likeness]*common
	// whatIfs are the states that remedies were tried in last.
	whatIfs whatIfs
	// sizes are remedies of workloads alike in one namespace.
	sizes map[sizeKey][]Remedy
	// published is what the devices of each driver have.
	published map[string]*published
}

// New returns a Finder of what an explainer explains.
func New(e *explain.Explainer) *Finder {
	return &Finder{
		explainer: e, snap: e.Snapshot(), conf: e.Config(), engine: e.Engine(), queues: e.Queues(),
		commons: map[admission.Likeness]*common{},
		sizes:   map[sizeKey][]Remedy{}, published: map[string]*published{}, whatIfs: whatIfs{work: &work{}},
	}
}

// subject is a workload that is to be helped.
type subject struct {
	*explain.Explanation
	common *common
}

// Explain is [explain.Explainer.Explain] with remedies.
func (f *Finder) Explain(c *charge.Charge) *explain.Explanation {
	x := f.explainer.Explain(c)
	f.help(x)
	return x
}

// help fills in the remedies of an explanation.
func (f *Finder) help(x *explain.Explanation) {
	left := f.whatIfs.work.left
	x.Remedies = f.remedies(&subject{x, f.shared(x.Charge)})
	x.Untried = f.whatIfs.work.left > left
}

// Queue is [explain.Explainer.Queue] with remedies of the queue and of its first workload.
func (f *Finder) Queue(o *cluster.Object, trees *admission.Trees, most int) *explain.Queue {
	q := f.explainer.Queue(o, trees, most)
	if q.Head != nil {
		f.help(q.Head)
	}
	if q.Verdict == explain.QueueInactive {
		q.Opening = f.opening(o)
	}
	return q
}

// queue is a ClusterQueue of the snapshot; nil when it is not there.
func (f *Finder) queue(name string) *kueue.ClusterQueue {
	if name == "" {
		return nil
	}
	return cluster.As[*kueue.ClusterQueue](f.snap.Get(cluster.ClusterQueue, "", name))
}
