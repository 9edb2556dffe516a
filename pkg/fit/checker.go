package fit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

// Options are what a Checker needs besides the snapshot.
type Options struct {
	// Limit is the time for one workload, after which its result is Unknown; zero means DefaultLimit.
	Limit time.Duration
}

// Checker answers for the workloads of one snapshot.
type Checker struct {
	snap  *cluster.Snapshot
	inv   *device.Inventory
	stock *device.Stock
	limit time.Duration

	nodes []*corev1.Node
	// nodesKnown tells that nodes are all there is; else they are made up from the names in ResourceSlices.
	nodesKnown bool
	// missingNodes are named by slices and don't exist.
	missingNodes []string
	// local are the pools of one node by its name, shared those that several can use.
	local  map[string][]*device.PoolStock
	shared []*device.PoolStock
	// slices of the pools that were looked at so far, as the allocator takes them.
	slices map[*device.PoolStock][]*resourcev1.ResourceSlice

	state    structured.AllocatedState
	classes  classLister
	extended *extendedresourcecache.ExtendedResourceCache
	cel      *dracel.Cache
}

// New returns a Checker. The inventory must be that of the snapshot.
func New(snap *cluster.Snapshot, inv *device.Inventory, o Options) *Checker {
	held := device.NewAllocations(snap)
	c := &Checker{
		snap: snap, inv: inv, stock: device.NewStock(inv, held), limit: cmp.Or(o.Limit, DefaultLimit),
		local: map[string][]*device.PoolStock{}, slices: map[*device.PoolStock][]*resourcev1.ResourceSlice{},
		state: stateOf(held), classes: classLister{snap}, cel: dracel.NewCache(1000,
			dracel.Features{EnableConsumableCapacity: true}),
		extended: extendedresourcecache.NewExtendedResourceCache(logr.Discard()),
	}
	for _, class := range cluster.All[*resourcev1.DeviceClass](snap, cluster.DeviceClass) {
		c.extended.OnAdd(class, true)
	}
	for _, p := range c.stock.Pools {
		if node, ok := onlyNode(p); ok {
			c.local[node] = append(c.local[node], p)
		} else {
			c.shared = append(c.shared, p)
		}
	}
	c.findNodes()
	return c
}

// onlyNode is the node that alone can use the devices of a pool.
func onlyNode(p *device.PoolStock) (string, bool) {
	node := ""
	for _, g := range p.Groups {
		if g.Place.Node == "" || node != "" && node != g.Place.Node {
			return "", false
		}
		node = g.Place.Node
	}
	return node, node != ""
}

// findNodes takes the nodes of the input or, where it holds none, those that devices are published for.
func (c *Checker) findNodes() {
	c.nodesKnown = c.snap.Coverage.Has(cluster.Node)
	known := map[string]bool{}
	for _, n := range cluster.All[*corev1.Node](c.snap, cluster.Node) {
		c.nodes = append(c.nodes, n)
		known[n.Name] = true
	}
	named := map[string]bool{}
	for _, p := range c.stock.Pools {
		for _, g := range p.Groups {
			if name := g.Place.Node; name != "" && !known[name] && !named[name] {
				named[name] = true
				c.missingNodes = append(c.missingNodes, name)
			}
		}
	}
	slices.Sort(c.missingNodes)
	if c.nodesKnown {
		return
	}
	for _, name := range c.missingNodes {
		c.nodes = append(c.nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	c.missingNodes = nil
	slices.SortFunc(c.nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
}

// poolsOf are the pools from which a node can use devices.
func (c *Checker) poolsOf(node *corev1.Node) []*device.PoolStock {
	return slices.Concat(c.local[node.Name], c.shared)
}

// slicesOf are the slices the allocator gets for a node. A pool whose slices contradict each other is left out: whether
// it is complete depends on their order.
func (c *Checker) slicesOf(node *corev1.Node) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for _, p := range c.poolsOf(node) {
		if p.Disagree {
			continue
		}
		of, ok := c.slices[p]
		if !ok {
			of = c.allocatorSlices(p.Pool)
			c.slices[p] = of
		}
		out = append(out, of...)
	}
	return out
}

// allocatorSlices are the slices of a pool in the layout the allocator knows: since Kubernetes 1.35 counters and
// devices are in slices of their own, and it passes over the devices of a slice that has both. It knows no
// DeviceTaintRules: the scheduler adds their taints to the devices before.
func (c *Checker) allocatorSlices(p *device.Pool) []*resourcev1.ResourceSlice {
	extra := int64(0)
	for _, s := range p.Slices {
		if len(s.Object.Spec.SharedCounters) > 0 && len(s.Object.Spec.Devices) > 0 {
			extra++
		}
	}
	out := make([]*resourcev1.ResourceSlice, 0, len(p.Slices)+int(extra))
	for _, s := range p.Slices {
		tainted := c.tainted(s)
		if extra == 0 {
			out = append(out, tainted)
			continue
		}
		devices := *tainted
		devices.Spec.Pool.ResourceSliceCount += extra
		if len(devices.Spec.SharedCounters) > 0 && len(devices.Spec.Devices) > 0 {
			counters := devices
			counters.Name += "/counters" // no object can have this name
			counters.Spec.Devices, devices.Spec.SharedCounters = nil, nil
			out = append(out, &counters)
		}
		out = append(out, &devices)
	}
	return out
}

// tainted is a slice with the taints of DeviceTaintRules.
func (c *Checker) tainted(s *device.Slice) *resourcev1.ResourceSlice {
	out := s.Object.API()
	for i := range out.Spec.Devices {
		d := &out.Spec.Devices[i]
		more := c.stock.RuleTaints(device.ID{Driver: out.Spec.Driver, Pool: out.Spec.Pool.Name, Device: d.Name})
		if len(more) > 0 {
			d.Taints = slices.Concat(d.Taints, more)
		}
	}
	return out
}

// stateOf is what claims hold, as the allocator takes it.
func stateOf(held *device.Allocations) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for id, holders := range held.Devices {
		for _, h := range holders {
			add(state, id, h.Share, resourcev1.DeviceRequestAllocationResult{ConsumedCapacity: h.Consumed})
		}
	}
	return state
}

func add(state structured.AllocatedState, id device.ID, share string, r resourcev1.DeviceRequestAllocationResult) {
	key := structured.MakeDeviceID(id.Driver, id.Pool, id.Device)
	if share == "" {
		state.AllocatedDevices.Insert(key)
		return
	}
	uid := types.UID(share)
	state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(key, &uid))
	state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(key, r.ConsumedCapacity))
}

// classLister finds DeviceClasses.
type classLister struct{ snap *cluster.Snapshot }

func (l classLister) List() ([]*resourcev1.DeviceClass, error) {
	var out []*resourcev1.DeviceClass
	for _, c := range cluster.All[*resourcev1.DeviceClass](l.snap, cluster.DeviceClass) {
		out = append(out, c)
	}
	return out, nil
}

func (l classLister) Get(name string) (*resourcev1.DeviceClass, error) {
	class, _, ok := cluster.Lookup[*resourcev1.DeviceClass](l.snap, cluster.DeviceClass, "", name)
	if !ok {
		return nil, fmt.Errorf("deviceclass.resource.k8s.io %q not found", name)
	}
	return class, nil
}
