package audit

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// hardware fills in what there is of a flavor and resource: in ResourceSlices for the classes mapped to it, and what
// device plugins offer on nodes. What no class and no plugin leads to is not known: cpu, say, is not looked up.
func (b *builder) hardware(t *Total) {
	switch {
	case t.Flavor == "":
		t.Published, t.Healthy, t.Allocatable = Of(0), Of(0), Of(0)
		return
	case !OfDevices(t.Resource):
		return
	}
	in := b.reachOf(t.Flavor)
	t.Allocatable = b.allocatable(t.Resource, in)
	t.Offerable = strings.Contains(string(t.Resource), "/") && !b.transformed(t.Resource)
	name := string(t.Resource) + " in " + t.Flavor
	if !t.Allocatable.Known {
		b.lacks(ColumnAllocatable, name, "", cluster.Node.Kind)
	}
	classes, missing := b.classesOf(t.Resource)
	missing = append(missing, in.missing...)
	if len(classes) > 0 && !b.snap.Coverage.Has(cluster.ResourceSlice) {
		missing = append(missing, cluster.ResourceSlice.Kind)
	}
	if len(missing) > 0 {
		b.lacks(ColumnPublished, name, "", missing...)
		return
	}
	c := counter{builder: b, resource: t.Resource, in: in, devices: map[*cluster.Device]bool{},
		sets: map[setName]*counted{}}
	for _, class := range classes {
		c.class(class)
	}
	if c.failed != "" {
		b.lacks(ColumnPublished, name, c.failed)
		return
	}
	c.sum()
	t.Published, t.Healthy, t.AtMost = Of(c.published), Of(c.healthy), c.overlap
	t.Counted = strings.Join(c.counted, ", ")
	t.Offerable = t.Offerable || t.Counted != ""
}

// transformed tells that a transformation makes the resource out of others.
func (b *builder) transformed(name corev1.ResourceName) bool {
	if r := b.conf.Configuration.Resources; r != nil {
		for _, t := range r.Transformations {
			if _, ok := t.Outputs[name]; ok {
				return true
			}
		}
	}
	return false
}

// allocatable is what device plugins offer. Only names of extended resources can be offered.
func (b *builder) allocatable(name corev1.ResourceName, in *reach) Cell {
	if !strings.Contains(string(name), "/") {
		return Of(0)
	}
	out := Cell{Known: b.snap.Coverage.Has(cluster.Node) && len(in.missing) == 0}
	for _, node := range in.nodes {
		if q, ok := node.Status.Allocatable[name]; ok {
			out.Amount = out.Amount.Add(quota.Amount(charge.Units(name, q)))
		}
	}
	return out
}

// classesOf are the device classes that are charged to a resource: mapped to it, or, where a class is not mapped, by
// the name of its extended resource. missing tells what keeps it from being known.
func (b *builder) classesOf(name corev1.ResourceName) (classes []*resourcev1.DeviceClass, missing []string) {
	if !b.conf.Found {
		missing = append(missing, cluster.KueueConfiguration.Kind)
	}
	if !b.snap.Coverage.Has(cluster.DeviceClass) {
		missing = append(missing, cluster.DeviceClass.Kind)
	}
	for _, class := range cluster.All[*resourcev1.DeviceClass](b.snap, cluster.DeviceClass) {
		if slices.Contains(b.chargedTo(class), name) {
			classes = append(classes, class)
		}
	}
	return classes, missing
}

// chargedTo are the resources that the devices of a class are charged to.
func (b *builder) chargedTo(class *resourcev1.DeviceClass) []corev1.ResourceName {
	var out []corev1.ResourceName
	sources := append(b.conf.Counters(class.Name), b.conf.Capacities(class.Name)...)
	for _, s := range sources {
		if !slices.Contains(out, s.Resource) {
			out = append(out, s.Resource)
		}
	}
	if resource, ok := b.conf.Lookup(class.Name); ok && len(sources) == 0 {
		out = append(out, resource)
	} else if n := class.Spec.ExtendedResourceName; !ok && n != nil && *n != "" {
		out = append(out, corev1.ResourceName(*n))
	}
	return out
}

// counter counts the hardware behind one resource.
type counter struct {
	*builder
	resource corev1.ResourceName
	in       *reach
	// devices counted so far, by one of several classes.
	devices map[*cluster.Device]bool
	// sets are the counter sets that matching devices consume.
	sets               map[setName]*counted
	published, healthy quota.Amount
	// overlap tells that devices counted one by one share a counter set.
	overlap bool
	counted []string
	failed  string
}

type setName struct{ driver, pool, set, counter string }

type counted struct {
	pool    *device.PoolStock
	healthy bool
	users   int
}

// class counts the devices of a class, by its sources or one by one.
func (c *counter) class(class *resourcev1.DeviceClass) {
	row, ok := c.Inventory().Row(class.Spec.Selectors)
	if !ok {
		c.failed = "a selector of DeviceClass " + class.Name + " does not compile"
		return
	}
	sources := append(c.conf.Counters(class.Name), c.conf.Capacities(class.Name)...)
	if len(sources) == 0 {
		c.say("devices of class " + class.Name)
		c.each(c.Inventory().Match(row), "", c.one)
		return
	}
	for _, s := range sources {
		if s.Resource != c.resource {
			continue
		}
		var source []*device.Expression
		if s.Selector != "" {
			x := c.Inventory().Compile(s.Selector)
			if x.CompileError != "" {
				c.failed = fmt.Sprintf("the selector of source %d of mapping %s does not compile", s.Index, s.Resource)
				return
			}
			source = append(source, x)
		}
		count := c.consumed
		what := fmt.Sprintf("counter %q of %s", s.Name, s.Driver)
		if s.Capacity {
			count, what = c.capacity, fmt.Sprintf("capacity %q of %s", s.Name, s.Driver)
		}
		c.say(what)
		c.each(c.Inventory().Match(source, row), s.Driver, func(at *device.Unit) { count(at, s) })
	}
}

func (c *counter) say(what string) {
	if !slices.Contains(c.counted, what) {
		c.counted = append(c.counted, what)
	}
}

// each visits the devices of a match that the flavor leads to, in the newest generation of their pools.
func (c *counter) each(m *device.Match, driver string, visit func(*device.Unit)) {
	for slice, i := range m.Indexes() {
		if at := c.stock.At(slice, i); at != nil && (driver == "" || at.ID().Driver == driver) &&
			c.in.has(at.Group().Place) {
			visit(at)
		}
	}
}

// one counts a device as one.
func (c *counter) one(at *device.Unit) {
	if c.devices[at.Device()] {
		return
	}
	c.devices[at.Device()] = true
	c.published++
	if usable(at) {
		c.healthy++
	}
	for _, set := range at.Device().ConsumesCounters {
		u := c.set(at, set.CounterSet, "")
		if u.users++; u.users > 1 {
			c.overlap = true
		}
	}
}

// consumed notes the counter sets that a device consumes. A set is hardware that is there once, however many devices
// can be made of it.
func (c *counter) consumed(at *device.Unit, s config.Source) {
	for _, set := range at.Device().ConsumesCounters {
		if _, ok := set.Counters[s.Name]; ok {
			u := c.set(at, set.CounterSet, s.Name)
			u.healthy = u.healthy || usable(at)
		}
	}
}

func (c *counter) set(at *device.Unit, set, name string) *counted {
	key := setName{at.ID().Driver, at.ID().Pool, set, name}
	if c.sets[key] == nil {
		c.sets[key] = &counted{pool: at.Group().Pool()}
	}
	return c.sets[key]
}

// capacity counts what a device has of a capacity.
func (c *counter) capacity(at *device.Unit, s config.Source) {
	if c.devices[at.Device()] {
		return
	}
	c.devices[at.Device()] = true
	v := quota.Amount(charge.Units(c.resource, at.Device().Capacity[resourcev1.QualifiedName(s.Name)].Value))
	c.published = c.published.Add(v)
	if usable(at) {
		c.healthy = c.healthy.Add(v)
	}
}

// sum adds the counter sets up, as far as the pools publish them.
func (c *counter) sum() {
	for key, u := range c.sets {
		if key.counter == "" {
			continue
		}
		v := quota.Amount(0)
		for _, set := range u.pool.CounterSets {
			for counter := range set.Counters {
				if set.Name == key.set && counter.Name == key.counter {
					v = quota.Amount(charge.Units(c.resource, counter.Total))
				}
			}
		}
		c.published = c.published.Add(v)
		if u.healthy {
			c.healthy = c.healthy.Add(v)
		}
	}
}
