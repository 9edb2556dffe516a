package explain

import (
	"encoding/json"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// world is the cluster after some changes. What is decided about a workload depends on those that hold quota, and not on
// who else waits: only these are charged, and the others when they are asked about.
type world struct {
	*Explainer
	layers *pipeline.Layers
	found  map[identity]*workload.Workload
	// added are the workloads whose charges the engine knows.
	added map[*workload.Workload]bool
}

// identity tells workloads apart across worlds.
type identity struct {
	namespace, name string
	owner           cluster.Ref
	index           int
}

func identify(w *workload.Workload) identity {
	return identity{w.Namespace, w.Name, w.OwnerRef, w.Index}
}

// mostWorlds bounds how many worlds are kept: those of the latest changes.
const mostWorlds = 4

// mostWork bounds the workloads looked at in all worlds together: hundreds of worlds of a cluster with a thousand
// workloads. Who explains a whole fleet of refused workloads is told less about each than who explains one of them.
const mostWork = 500_000

// worlds keeps the worlds made last, by what was changed.
type worlds struct {
	byChange map[string]*world
	order    []string
	work     *work
}

// work is what was done for worlds, those of worlds included, and how many were not made because that was enough.
type work struct{ done, left int }

// after is the world after changes, and the workload in it; nil when it is not there or the changes do not fit.
func (e *Explainer) after(c *charge.Charge, changes ...cluster.Change) (*Explainer, *charge.Charge) {
	w := e.worldAfter(changes)
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
	return w.Explainer, again
}

func (e *Explainer) worldAfter(changes []cluster.Change) *world {
	key, err := json.Marshal(changes)
	if err != nil {
		return e.makeWorld(changes)
	}
	w, known := e.worlds.byChange[string(key)]
	if known {
		return w
	}
	if e.worlds.work.done > mostWork {
		e.worlds.work.left++
		return nil
	}
	w = e.makeWorld(changes)
	if e.worlds.byChange == nil {
		e.worlds.byChange = map[string]*world{}
	}
	if len(e.worlds.order) == mostWorlds {
		delete(e.worlds.byChange, e.worlds.order[0])
		e.worlds.order = e.worlds.order[1:]
	}
	e.worlds.byChange[string(key)], e.worlds.order = w, append(e.worlds.order, string(key))
	return w
}

// makeWorld runs all layers again after changes; nil when they do not fit.
func (e *Explainer) makeWorld(changes []cluster.Change) *world {
	layers, err := pipeline.New(e.snap, e.conf).WhatIf(changes...)
	if err != nil {
		return nil
	}
	w := &world{layers: layers, found: map[identity]*workload.Workload{}, added: map[*workload.Workload]bool{}}
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
	w.Explainer = New(layers.Snapshot, layers.Config, layers.DeciderOf(holding))
	w.worlds.work = e.worlds.work
	e.worlds.work.done += len(w.found)
	return w
}

// holds tells that a Workload has quota by its status.
func holds(o *kueue.Workload) bool { return o != nil && o.Status.Admission != nil }
