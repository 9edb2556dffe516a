package remedy

import (
	"encoding/json"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// whatIf is the cluster after some changes. What is decided about a workload depends on those that hold quota, and not
// on who else waits: only these are charged, and the others when they are asked about.
type whatIf struct {
	*Finder
	layers *pipeline.Layers
	found  map[identity]*workload.Workload
	// added are the workloads whose charges the engine knows.
	added map[*workload.Workload]bool
}

// identity tells workloads apart across states.
type identity struct {
	namespace, name string
	owner           cluster.Ref
	index           int
}

func identify(w *workload.Workload) identity {
	return identity{w.Namespace, w.Name, w.OwnerRef, w.Index}
}

// mostWhatIfs bounds how many states are kept: those of the latest changes.
const mostWhatIfs = 4

// mostWork bounds the workloads looked at in all states together: hundreds of states of a cluster with a thousand
// workloads. Who explains a whole fleet of refused workloads is told less about each than who explains one of them.
const mostWork = 500_000

// whatIfs keeps the states made last, by what was changed.
type whatIfs struct {
	byChange map[string]*whatIf
	order    []string
	work     *work
}

// work is what was done for states, those that followed from them included, and how many were not made because that was
// enough.
type work struct{ done, left int }

// after is the state after changes, and the workload in it; nil when it is not there or the changes do not fit.
func (f *Finder) after(c *charge.Charge, changes ...cluster.Change) (*Finder, *charge.Charge) {
	w := f.whatIfAfter(changes)
	if w == nil {
		return nil, nil
	}
	found := w.found[identify(c.Workload)]
	if found == nil {
		return nil, nil
	}
	again := w.layers.Charge(found)
	if !w.added[found] {
		w.added[found] = true
		w.engine.Add(again)
	}
	return w.Finder, again
}

func (f *Finder) whatIfAfter(changes []cluster.Change) *whatIf {
	key, err := json.Marshal(changes)
	if err != nil {
		return f.makeWhatIf(changes)
	}
	w, known := f.whatIfs.byChange[string(key)]
	if known {
		return w
	}
	if f.whatIfs.work.done > mostWork {
		f.whatIfs.work.left++
		return nil
	}
	w = f.makeWhatIf(changes)
	if f.whatIfs.byChange == nil {
		f.whatIfs.byChange = map[string]*whatIf{}
	}
	if len(f.whatIfs.order) == mostWhatIfs {
		delete(f.whatIfs.byChange, f.whatIfs.order[0])
		f.whatIfs.order = f.whatIfs.order[1:]
	}
	f.whatIfs.byChange[string(key)], f.whatIfs.order = w, append(f.whatIfs.order, string(key))
	return w
}

// makeWhatIf runs all layers again after changes; nil when they do not fit.
func (f *Finder) makeWhatIf(changes []cluster.Change) *whatIf {
	layers, err := pipeline.New(f.snap, f.conf).WhatIf(changes...)
	if err != nil {
		return nil
	}
	w := &whatIf{layers: layers, found: map[identity]*workload.Workload{}, added: map[*workload.Workload]bool{}}
	var holding []*charge.Charge
	for _, found := range layers.Workloads() {
		id := identify(found)
		if w.found[id] == nil {
			w.found[id] = found
		}
		if holds(found.Object) {
			w.added[found] = true
			holding = append(holding, layers.Charge(found))
		}
	}
	w.Finder = New(explain.New(layers.Snapshot, layers.Config, layers.DeciderOf(holding)))
	w.whatIfs.work = f.whatIfs.work
	f.whatIfs.work.done += len(w.found)
	return w
}

// holds tells that a Workload has quota by its status.
func holds(o *kueue.Workload) bool { return o != nil && o.Status.Admission != nil }
