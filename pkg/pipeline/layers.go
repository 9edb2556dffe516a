package pipeline

import (
	"context"
	"fmt"
	"sync"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// Layers are a snapshot, the configuration that holds, and what the layers above make of them. What is returned is
// shared and must not be changed.
type Layers struct {
	Snapshot *cluster.Snapshot
	Config   *config.Config

	inventory func() *device.Inventory
	charger   func() *charge.Engine
	workloads func() []*workload.Workload
	charges   func() []*charge.Charge
	decider   func() *admission.Engine

	mu    sync.Mutex // charger, decider and known
	known map[*workload.Workload]*charge.Charge
}

// New puts the layers on a snapshot and a configuration.
func New(snap *cluster.Snapshot, conf *config.Config) *Layers {
	l := &Layers{Snapshot: snap, Config: conf, known: map[*workload.Workload]*charge.Charge{}}
	l.inventory = sync.OnceValue(func() *device.Inventory {
		return device.NewInventory(snap,
			selector.Of(conf.Behavior))
	})
	l.charger = sync.OnceValue(func() *charge.Engine { return charge.NewEngine(snap, conf, l.inventory()) })
	l.workloads = sync.OnceValue(func() []*workload.Workload { return workload.Find(snap, conf, workload.Options{}) })
	l.charges = sync.OnceValue(func() []*charge.Charge {
		var out []*charge.Charge
		for _, w := range l.Workloads() {
			out = append(out, l.Charge(w))
		}
		return out
	})
	l.decider = sync.OnceValue(func() *admission.Engine { return admission.New(l.charger(), l.Charges()) })
	return l
}

// Load reads a dump (YAML or JSON, several documents or a list) and finds its configuration. The error says that a part
// of it can't be read, or that an option can't be used.
func Load(ctx context.Context, name string, data []byte, options config.Options) (*Layers, error) {
	snap, err := cluster.FromBytes(ctx, name, data)
	if err != nil {
		return nil, err
	}
	if len(snap.Problems) > 0 {
		return nil, snap.Problems[0]
	}
	conf, err := config.Resolve(snap, options)
	if err != nil {
		return nil, err
	}
	return New(snap, conf), nil
}

// Inventory is what the drivers have published, ready for matching: counters and selectors in use are known to it. It
// answers one question at a time.
func (l *Layers) Inventory() *device.Inventory {
	l.charger()
	return l.inventory()
}

// Charger charges workloads. It answers one question at a time; [Layers.Charge] is for several goroutines.
func (l *Layers) Charger() *charge.Engine { return l.charger() }

// Workloads are those of the snapshot, in the order of package workload.
func (l *Layers) Workloads() []*workload.Workload { return l.workloads() }

// Charge is what a workload is charged, computed once.
func (l *Layers) Charge(w *workload.Workload) *charge.Charge {
	engine := l.charger()
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.known[w]
	if c == nil {
		c = engine.Charge(w)
		l.known[w] = c
	}
	return c
}

// Charges are those of all workloads, in the same order.
func (l *Layers) Charges() []*charge.Charge { return l.charges() }

// Decider decides about [Layers.Charges]. It answers one question at a time; [Layers.Decide] is for several goroutines.
func (l *Layers) Decider() *admission.Engine { return l.decider() }

// DeciderOf decides where these charges alone are there: others may be added to it.
func (l *Layers) DeciderOf(charges []*charge.Charge) *admission.Engine {
	return admission.New(l.charger(), charges)
}

// Decide is what the next scheduling attempt would decide about a charge of [Layers.Charges].
func (l *Layers) Decide(c *charge.Charge) *admission.Decision {
	decider := l.decider()
	l.mu.Lock()
	defer l.mu.Unlock()
	return decider.Decide(c)
}

// Position is where a charge of [Layers.Charges] waits; nil for one that does not.
func (l *Layers) Position(c *charge.Charge) *admission.Position {
	decider := l.decider()
	l.mu.Lock()
	defer l.mu.Unlock()
	return decider.Position(c)
}

// Simulate runs scheduling cycles until nothing changes any more: from the present state, or with replay from an empty
// cluster in the order in which the workloads came.
func (l *Layers) Simulate(replay bool) *admission.Simulation {
	return admission.New(l.charger(), l.Charges()).Simulate(replay)
}

// WhatIf are the layers after changes of objects; the error says that they do not fit.
func (l *Layers) WhatIf(changes ...cluster.Change) (*Layers, error) {
	snap, err := l.Snapshot.Apply(changes...)
	if err != nil {
		return nil, err
	}
	return l.over(snap)
}

// As are the layers as another release of Kueue has them; the error says that it can't be told, or would not start.
func (l *Layers) As(release string) (*Layers, error) {
	conf, err := l.Config.As(l.Snapshot, release)
	if err != nil {
		return nil, err
	}
	if why := conf.Refusal(); why != "" {
		return nil, fmt.Errorf("a manager of Kueue %s does not start: %s", release, why)
	}
	return New(l.Snapshot, conf), nil
}

func (l *Layers) over(snap *cluster.Snapshot) (*Layers, error) {
	conf, err := l.Config.Again(snap)
	if err != nil {
		return nil, err
	}
	return New(snap, conf), nil
}
