package lint

import (
	"sync"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// Input is what is linted. It does not change.
type Input struct {
	Snapshot *cluster.Snapshot
	Config   *config.Config
	// Documents are the objects as they stand in files, in input order. Those that come from an API server may be left
	// out: it has checked their shape.
	Documents []source.Document
	// Kept are the documents that rules of users look at as they are written.
	Kept []source.Document
	// Kubernetes is the version of Kubernetes the manifests are for.
	Kubernetes KubernetesVersion
	// Files counts the files read.
	Files int
	// Suppressions are those that the input holds.
	Suppressions []Suppression
}

// Facts are the input and what the layers above make of it, computed when first asked for.
type Facts struct {
	Input

	layers *pipeline.Layers
	queues *queuestate.Queues
	// concurrent facts are for rules that run beside others: see [Facts.concurrently].
	concurrent bool
	selectors  func() []Selector
	ifComplete func() *IfComplete
	read       *readSelectors
	kept       func() map[*source.Origin][]byte
	shared     *sync.Map
}

// readSelectors remembers what selectors say: many are written alike.
type readSelectors struct {
	mu       sync.Mutex
	uses     map[string][]device.Use
	compiled map[string]compiledSelector
}

type compiledSelector struct {
	detail       string
	tooExpensive bool
}

// Uses is [device.Uses] of a selector. The result must not be changed.
func (f *Facts) Uses(text string) []device.Use {
	return remembered(&f.read.mu, &f.read.uses, text, device.Uses)
}

// CompileNew is [device.CompileNew] of a selector.
func (f *Facts) CompileNew(text string) (detail string, tooExpensive bool) {
	c := remembered(&f.read.mu, &f.read.compiled, text, func(text string) (c compiledSelector) {
		c.detail, c.tooExpensive = device.CompileNew(text)
		return c
	})
	return c.detail, c.tooExpensive
}

func remembered[T any](mu *sync.Mutex, known *map[string]T, text string, read func(string) T) T {
	mu.Lock()
	defer mu.Unlock()
	if v, ok := (*known)[text]; ok {
		return v
	}
	if *known == nil {
		*known = map[string]T{}
	}
	v := read(text)
	(*known)[text] = v
	return v
}

func newFacts(in Input) *Facts {
	f := &Facts{
		Input: in, layers: pipeline.New(in.Snapshot, in.Config), queues: queuestate.New(in.Snapshot, in.Config),
		read: &readSelectors{}, shared: &sync.Map{},
	}
	f.ifComplete = sync.OnceValue(func() *IfComplete { return newIfComplete(f.layers) })
	f.kept = sync.OnceValue(func() map[*source.Origin][]byte {
		out := map[*source.Origin][]byte{}
		for _, d := range in.Kept {
			out[d.Origin] = d.JSON
		}
		return out
	})
	f.selectors = sync.OnceValue(f.findSelectors)
	return f
}

// concurrently are the same facts for rules that run beside the others. The engines answer one question at a time, so
// only what is computed once is for both.
func (f *Facts) concurrently() *Facts {
	out := *f
	out.concurrent = true
	return &out
}

// mustBeFirst panics where a concurrent rule asks an engine that another rule may be asking.
func (f *Facts) mustBeFirst() {
	if f.concurrent {
		panic("a concurrent rule asks for what only the others may")
	}
}

// Once is what compute makes of the facts, computed for the first rule that asks for it under the key.
func Once[T any](f *Facts, key string, compute func(*Facts) T) T {
	value, _ := f.shared.LoadOrStore(key, sync.OnceValue(func() T { return compute(f) }))
	return value.(func() T)()
}

// Written is an object as it was read, as JSON; ok is false where its document was not kept ([Collector.Keep]).
func (f *Facts) Written(o *cluster.Object) (data []byte, ok bool) {
	data, ok = f.kept()[o.Origin]
	return data, ok
}

// Workloads are the workloads of the input, in the order of package workload.
func (f *Facts) Workloads() []*workload.Workload { return f.layers.Workloads() }

// Inventory is what the drivers have published. It is ready for matching: counters and selectors in use are known to
// it.
func (f *Facts) Inventory() *device.Inventory {
	f.mustBeFirst()
	return f.layers.Inventory()
}

// Charges of the workloads, in the same order.
func (f *Facts) Charges() []*charge.Charge { return f.layers.Charges() }

// IfComplete is the input if it were all there is.
func (f *Facts) IfComplete() *IfComplete { return f.ifComplete() }

// Decide is what the next scheduling attempt would decide about a charge of [Facts.Charges].
func (f *Facts) Decide(c *charge.Charge) *admission.Decision {
	f.mustBeFirst()
	return f.layers.Decider().Decide(c)
}

// QueueNode is a ClusterQueue in its cohort tree; nil when the queue is not in the input.
func (f *Facts) QueueNode(queue string) *quota.Node {
	f.mustBeFirst()
	return f.layers.Decider().Node(queue)
}

// Configured is the place of a field of Kueue's configuration.
func (f *Facts) Configured(path string) Place {
	c := f.Config
	if c.Ref.GroupKind() == cluster.OpenShiftKueue && path != "" {
		path = "spec.config." + path
	}
	return Place{Ref: c.Ref, Origin: c.Origin, Path: path}
}

// place is that of a fact of a charge. Facts of the configuration are told by paths of the Configuration.
func (f *Facts) place(e charge.Evidence) Place {
	if e.Object == nil && e.Ref == f.Config.Ref && !e.Ref.IsZero() {
		p := f.Configured(e.Path)
		p.Value = e.Value
		return p
	}
	return Evidence(e)
}
