package report

import (
	"iter"
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

// DeviceList is the result of `devices`: the pools of devices that drivers publish, and what claims hold of them.
type DeviceList struct {
	DeviceListHead
	// Items are sorted by driver and name.
	Items []DevicePool `json:"items"`
}

// DeviceListHead is a DeviceList before its pools.
type DeviceListHead struct {
	TypeMeta
	// Allocations says whether what claims hold is known. Where it is Unknown, the numbers that rest on it are null.
	Allocations string `json:"allocations" jsonschema:"enum=Known,enum=Unknown"`
	// Missing are the kinds that are not in the input as a whole: without ResourceSlices there may be more pools,
	// without ResourceClaims nothing is known to be free.
	Missing []string `json:"missing"`
	// Models add up the devices of each kind in the pools listed.
	Models []DeviceCount `json:"models"`
	// Unpublished devices are held by claims, but no pool has them.
	Unpublished []HeldDevice `json:"unpublished"`
	// Assumptions are sentences about what the input does not tell, and what is taken for true instead.
	Assumptions []string `json:"assumptions,omitempty"`
}

// DeviceCount counts the devices of one kind. What depends on claims that are not in the input is null.
type DeviceCount struct {
	Driver string `json:"driver"`
	// Model, Type and Profile are attributes of the devices; empty where they have none.
	Model   string `json:"model"`
	Type    string `json:"type"`
	Profile string `json:"profile"`
	// Published by the driver.
	Published int64 `json:"published"`
	// Tainted devices keep away claims that do not tolerate it, whether they are held or not.
	Tainted int64 `json:"tainted"`
	// Unusable devices are in pools from which the scheduler takes none.
	Unusable int64 `json:"unusable"`
	// Allocated devices are held by one claim, Shared ones by claims that share them.
	Allocated *int64 `json:"allocated" jsonschema:"nullable"`
	Shared    *int64 `json:"shared" jsonschema:"nullable"`
	// Blocked devices lack counters that allocated devices use.
	Blocked *int64 `json:"blocked" jsonschema:"nullable"`
	// Candidates are the devices each of which could be allocated if nothing else were.
	Candidates *int64 `json:"candidates" jsonschema:"nullable"`
	// Free is how many could be allocated together, if no devices of another kind were.
	Free *int64 `json:"free" jsonschema:"nullable"`
	// FreeAtLeast tells that Free may be larger: there were too many combinations to try.
	FreeAtLeast bool `json:"freeAtLeast,omitempty"`
}

// DevicePool is the newest generation of one pool.
type DevicePool struct {
	Driver string `json:"driver"`
	Name   string `json:"name"`
	// Generation of the pool, its slices in the input and the number of slices they say it has.
	Generation     int64 `json:"generation"`
	Slices         int   `json:"slices"`
	ExpectedSlices int64 `json:"expectedSlices"`
	// Problem is why the scheduler allocates nothing from the pool; empty when it does.
	Problem string `json:"problem"`
	// Devices by place and kind.
	Devices     []DeviceGroup      `json:"devices"`
	CounterSets []DeviceCounterSet `json:"counterSets"`
	Taints      []DeviceTaint      `json:"taints"`
	// Held are the devices that claims hold.
	Held []HeldDevice `json:"held"`
}

// DeviceGroup are the devices of one kind in one place.
type DeviceGroup struct {
	// Node from which they can be used; empty when it is not a single one.
	Node string `json:"node"`
	// Nodes says in words from where, when it is not a single node.
	Nodes string `json:"nodes,omitempty"`
	DeviceCount
}

// DeviceCounterSet is the account of a counter set, from which partitions consume.
type DeviceCounterSet struct {
	Name     string          `json:"name"`
	Counters []DeviceCounter `json:"counters"`
}

// DeviceCounter is the account of one counter; Used and Left are null where it is not known what claims hold.
type DeviceCounter struct {
	Name  string  `json:"name"`
	Total string  `json:"total"`
	Used  *string `json:"used" jsonschema:"nullable"`
	Left  *string `json:"left" jsonschema:"nullable"`
}

// DeviceTaint is a taint of one device.
type DeviceTaint struct {
	Device string `json:"device"`
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// HeldDevice is a device that a claim holds.
type HeldDevice struct {
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
	Device string `json:"device"`
	// Claim that holds it, and the request it was allocated for.
	Claim   cluster.Ref `json:"claim"`
	Request string      `json:"request"`
	// Share identifies one of several allocations of a device; empty when the claim holds it alone.
	Share string `json:"share,omitempty"`
	// Consumed is what a share takes of the capacity.
	Consumed map[string]string `json:"consumed,omitempty"`
	// For are the consumers the claim is reserved for, as resource/name in the claim's namespace.
	For []string `json:"for"`
}

// Devices is the document of `devices`.
type Devices struct {
	stock *device.Stock
	pools []keptPool
	// missing are the kinds that are not in the input.
	missing []string
	// whole tells that nothing was left out.
	whole bool
}

// keptPool is a pool with those of its groups that are shown.
type keptPool struct {
	*device.PoolStock
	groups []*device.Group
}

// NewDevices returns the document of a stock; missing are the kinds it lacks. Pools are left out that pool says no to,
// and of the others devices that group says no to; a pool without any device stays when group is nil. Nil keeps all.
func NewDevices(stock *device.Stock, missing []string, pool func(*device.PoolStock) bool,
	group func(*device.Group) bool) *Devices {
	d := &Devices{stock: stock, missing: missing, whole: pool == nil && group == nil}
	for _, p := range stock.Pools {
		if pool != nil && !pool(p) {
			continue
		}
		groups := p.Groups
		if group != nil {
			groups = slices.DeleteFunc(slices.Clone(groups), func(g *device.Group) bool { return !group(g) })
			if len(groups) == 0 {
				continue
			}
		}
		d.pools = append(d.pools, keptPool{p, groups})
	}
	return d
}

// Pools counts the pools shown.
func (d *Devices) Pools() int { return len(d.pools) }

// counts adds up the kinds of the pools shown.
func (d *Devices) counts() []device.Count {
	shown := &device.Stock{}
	for _, p := range d.pools {
		shown.Pools = append(shown.Pools, &device.PoolStock{Pool: p.Pool, Groups: p.groups})
	}
	return shown.Counts()
}

// Head implements [Document].
func (d *Devices) Head() any {
	head := DeviceListHead{TypeMeta: TypeMeta{APIVersion, "DeviceList"}, Allocations: "Known", Missing: list(d.missing),
		Models: []DeviceCount{}, Unpublished: []HeldDevice{},
		Assumptions: d.stock.Assumptions}
	if !d.stock.Known {
		head.Allocations = "Unknown"
	}
	for _, c := range d.counts() {
		head.Models = append(head.Models, d.count(c))
	}
	if d.whole {
		for _, h := range d.stock.Gone {
			head.Unpublished = append(head.Unpublished, heldDevices(h.ID, h.Holders)...)
		}
	}
	return head
}

func (d *Devices) count(c device.Count) DeviceCount {
	out := DeviceCount{
		Driver: c.Driver, Model: c.Model, Type: c.Type, Profile: c.Profile, Published: c.Published, Tainted: c.Tainted,
		Unusable: c.Unusable, FreeAtLeast: c.AtLeast,
	}
	if d.stock.Known {
		out.Allocated, out.Shared, out.Blocked, out.Candidates, out.Free = &c.Allocated, &c.Shared, &c.Blocked,
			&c.Candidates, &c.Free
	}
	return out
}

// Items implements [Document].
func (d *Devices) Items() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, p := range d.pools {
			if !yield(d.pool(p)) {
				return
			}
		}
	}
}

func (d *Devices) pool(p keptPool) DevicePool {
	out := DevicePool{
		Driver: p.Driver, Name: p.Name, Generation: p.Generation, Slices: len(p.Slices), ExpectedSlices: p.Expected,
		Problem: p.Problem,
		Devices: []DeviceGroup{}, CounterSets: []DeviceCounterSet{}, Taints: []DeviceTaint{}, Held: []HeldDevice{},
	}
	for _, g := range p.groups {
		group := DeviceGroup{Node: g.Place.Node, DeviceCount: d.count(g.Count)}
		if group.Node == "" {
			group.Nodes = g.Place.String()
		}
		out.Devices = append(out.Devices, group)
		for _, u := range g.Devices {
			for _, t := range u.Taints() {
				out.Taints = append(out.Taints, DeviceTaint{u.ID().Device, t.Key, t.Value, string(t.Effect)})
			}
			out.Held = append(out.Held, heldDevices(u.ID(), u.Holders())...)
		}
	}
	for _, set := range p.sets() {
		out.CounterSets = append(out.CounterSets, d.counterSet(set))
	}
	return out
}

// sets are the counter sets that the devices shown consume from; all of them where all devices are shown.
func (p keptPool) sets() []*device.CounterSet {
	if len(p.groups) == len(p.Groups) {
		return p.CounterSets
	}
	consumed := map[string]bool{}
	for _, g := range p.groups {
		for _, u := range g.Devices {
			for _, of := range u.Device().ConsumesCounters {
				consumed[of.CounterSet] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.CounterSets), func(s *device.CounterSet) bool { return !consumed[s.Name] })
}

func (d *Devices) counterSet(set *device.CounterSet) DeviceCounterSet {
	out := DeviceCounterSet{Name: set.Name, Counters: []DeviceCounter{}}
	for c := range set.Counters {
		counter := DeviceCounter{Name: c.Name, Total: c.Total.String()}
		if d.stock.Known {
			left := c.Left()
			used, rest := c.Used.String(), left.String()
			counter.Used, counter.Left = &used, &rest
		}
		out.Counters = append(out.Counters, counter)
	}
	return out
}

func heldDevices(id device.ID, holders []device.Holder) []HeldDevice {
	var out []HeldDevice
	for _, h := range holders {
		held := HeldDevice{Driver: id.Driver, Pool: id.Pool, Device: id.Device, Claim: h.Claim.Ref, Request: h.Request,
			Share: h.Share, For: []string{}}
		for name, q := range h.Consumed {
			if held.Consumed == nil {
				held.Consumed = map[string]string{}
			}
			held.Consumed[string(name)] = q.String()
		}
		for _, r := range h.Status.ReservedFor {
			held.For = append(held.For, r.Resource+"/"+r.Name)
		}
		out = append(out, held)
	}
	return out
}

// Names implements [Document]: the ResourceSlices of the pools.
func (d *Devices) Names() iter.Seq[cluster.Ref] {
	return func(yield func(cluster.Ref) bool) {
		for _, p := range d.pools {
			for _, s := range p.Slices {
				if !yield(s.Record.Ref) {
					return
				}
			}
		}
	}
}
