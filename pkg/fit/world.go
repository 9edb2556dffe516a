package fit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

// world is what is allocated while pods are placed one after another.
type world struct {
	*Checker
	state structured.AllocatedState
	// own are the devices given to pods placed here, also by pool.
	own   map[device.ID]bool
	taken map[*device.PoolStock][]*device.Unit
	// allocations of claims that several pods use.
	allocations map[*resourcev1.ResourceClaim]*resourcev1.AllocationResult
	// plugin tells that a node was passed over because a device plugin serves it.
	plugin bool
}

func (c *Checker) newWorld() *world {
	return &world{
		Checker: c, own: map[device.ID]bool{}, taken: map[*device.PoolStock][]*device.Unit{},
		allocations: map[*resourcev1.ResourceClaim]*resourcev1.AllocationResult{},
		state: structured.AllocatedState{
			AllocatedDevices:         c.state.AllocatedDevices.Clone(),
			AllocatedSharedDeviceIDs: c.state.AllocatedSharedDeviceIDs.Clone(),
			AggregatedCapacity:       c.state.AggregatedCapacity.Clone(),
		},
	}
}

// place places the pods of a pod set, each on the first node that takes it. A node that has refused one refuses the
// next, too, and is not asked again. The error is that of the context.
func (w *world) place(ctx context.Context, ps *podSet) (PodSet, error) {
	out := PodSet{Name: ps.Name, Count: ps.count, Holding: ps.holding}
	for _, a := range ps.asks.list {
		out.Claims = append(out.Claims, a.name)
	}
	if ps.asksNothing() {
		out.Placed = out.Count - out.Holding
		return out, nil
	}
	if ps.asks.refused != nil && out.Holding < out.Count {
		out.Refusals = []Refusal{{Reason: *ps.asks.refused}}
		return out, nil
	}
	refused := map[string]*Reason{}
	var open []*corev1.Node
	for _, n := range w.nodes {
		if r := ps.placing.excludes(n); r != nil {
			refused[n.Name] = r
		} else {
			open = append(open, n)
		}
	}
	if failed, err := w.failing(ctx, ps, open); err != nil || failed != nil && out.Holding < out.Count {
		if failed != nil {
			out.Refusals = []Refusal{*failed}
		}
		return out, err
	}
	var closed []*corev1.Node
	for out.Holding+out.Placed < out.Count {
		if len(open) == 0 {
			return out, w.explain(ctx, ps, closed, refused, &out)
		}
		node := open[0]
		p, reason, err := w.pod(ctx, ps, node)
		switch {
		case err != nil:
			return out, err
		case p != nil:
			out.Placed++
			out.Placements = append(out.Placements, *p)
		case reason != nil && reason.Code == Failed:
			out.Refusals = []Refusal{{Nodes: []string{node.Name}, Reason: *reason}}
			return out, nil
		default:
			if reason != nil {
				refused[node.Name] = reason
			} else {
				closed = append(closed, node)
			}
			open = open[1:]
		}
	}
	return out, nil
}

// failing looks for a node at which the scheduler gives up on the pod, where selectors can't be evaluated on some
// device. It looks at every node, so that one on which the pod would fit does not help.
func (w *world) failing(ctx context.Context, ps *podSet, open []*corev1.Node) (*Refusal, error) {
	if !w.mayFail(ps) {
		return nil, nil
	}
	for _, n := range open {
		claims, _, reason := w.claimsOn(ps, n)
		if reason != nil || len(claims) == 0 {
			continue
		}
		_, reason, err := w.allocate(ctx, n, claims)
		if err != nil {
			return nil, err
		}
		if reason != nil {
			return &Refusal{Nodes: []string{n.Name}, Reason: *reason}, nil
		}
	}
	return nil, nil
}

// claimsOn are the claims that have to be allocated for the next pod on a node, with their asks. The reason is why the
// node can't be used whatever is free there.
func (w *world) claimsOn(ps *podSet, node *corev1.Node) (claims []*resourcev1.ResourceClaim, of []*ask,
	reason *Reason) {
	for _, a := range ps.asks.list {
		if a.extended != "" {
			if q := node.Status.Allocatable[a.extended]; !q.IsZero() {
				w.plugin = true
				return nil, nil,
					&Reason{Code: DevicePlugin, Claim: a.name, Text: "a device plugin serves " + a.name +
						" here; what it has free is not looked at"}
			}
		}
		if a.shared {
			allocation := a.claim.Status.Allocation
			if allocation == nil {
				allocation = w.allocations[a.claim]
			}
			if allocation != nil {
				if r := elsewhere(a, allocation, node); r != nil {
					return nil, nil, r
				}
				continue
			}
		}
		claims, of = append(claims, a.claim), append(of, a)
	}
	return claims, of, nil
}

// pod places one pod on a node: the placement, or nil, and where it is plain already why not.
func (w *world) pod(ctx context.Context, ps *podSet, node *corev1.Node) (*Placement, *Reason, error) {
	claims, of, reason := w.claimsOn(ps, node)
	if reason != nil {
		return nil, reason, nil
	}
	p := &Placement{Node: node.Name}
	if len(claims) == 0 {
		return p, nil, nil
	}
	results, reason, err := w.allocate(ctx, node, claims)
	if err != nil || reason != nil || results == nil {
		return nil, reason, err
	}
	for i := range results {
		if of[i].shared {
			w.allocations[of[i].claim] = &results[i]
		}
		p.Devices = append(p.Devices, w.take(of[i], results[i])...)
	}
	return p, nil, nil
}

// allocate asks the scheduler's allocator. No results and no reason: the claims can't be satisfied. The error is that
// of the context, or that the allocator can't go on.
func (w *world) allocate(ctx context.Context, node *corev1.Node,
	claims []*resourcev1.ResourceClaim) (out []resourcev1.AllocationResult, refused *Reason, failed error) {
	defer func() {
		// The allocator trusts that an API server has validated everything; files may hold anything.
		if p := recover(); p != nil {
			out, refused, failed = nil, nil, fmt.Errorf("the scheduler's allocator can't handle the objects, which "+
				"no API server would take: %v", p)
		}
	}()
	allocator, err := structured.NewAllocator(ctx, features, w.state, w.classes, w.slicesOf(node), w.cel)
	if err == nil {
		var results []resourcev1.AllocationResult
		if results, err = allocator.Allocate(ctx, node, claims); err == nil {
			return results, nil, nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		return nil, nil, nil
	}
	return nil, &Reason{Code: Failed, Text: "the scheduler gives up on the pod: " + strings.TrimSpace(err.Error())}, nil
}

// take notes the devices that a claim got.
func (w *world) take(a *ask, result resourcev1.AllocationResult) []Device {
	var out []Device
	for _, r := range result.Devices.Results {
		id := device.ID{Driver: r.Driver, Pool: r.Pool, Device: r.Device}
		d := Device{Claim: a.name, Request: r.Request, ID: id}
		if a.extended != "" {
			d.Request = ""
		}
		out = append(out, d)
		if r.AdminAccess != nil && *r.AdminAccess {
			continue
		}
		share := ""
		if r.ShareID != nil {
			share = string(*r.ShareID)
		}
		add(w.state, id, share, r)
		if u := w.stock.Unit(id); u != nil && !w.own[id] {
			pool := w.poolOf(u)
			w.taken[pool] = append(w.taken[pool], u)
		}
		w.own[id] = true
	}
	return out
}

func (c *Checker) poolOf(u *device.Unit) *device.PoolStock {
	i := slices.IndexFunc(c.stock.Pools,
		func(p *device.PoolStock) bool { return p.Driver == u.ID().Driver && p.Name == u.ID().Pool })
	return c.stock.Pools[i]
}

// explain says for every node why it takes no further pod. Nodes with one reason stand together.
func (w *world) explain(ctx context.Context, ps *podSet, closed []*corev1.Node, refused map[string]*Reason,
	out *PodSet) error {
	for _, n := range closed {
		r, err := w.diagnose(ctx, ps, n)
		if err != nil {
			return err
		}
		refused[n.Name] = r
	}
	for _, name := range w.missingNodes {
		refused[name] = &Reason{Code: NodeMissing, Text: "devices are published for it, but there is no such node"}
	}
	if len(w.nodes) == 0 {
		out.Refusals = append(out.Refusals, Refusal{Reason: Reason{Code: NoNodes, Text: "there are no nodes"}})
	}
	at := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		r := refused[name]
		key := string(r.Code) + "\n" + r.Claim + "\n" + r.Request + "\n" + r.Text
		i, ok := at[key]
		if !ok {
			i = len(out.Refusals)
			at[key] = i
			out.Refusals = append(out.Refusals, Refusal{Reason: *r})
		}
		out.Refusals[i].Nodes = append(out.Refusals[i].Nodes, name)
	}
	return nil
}
