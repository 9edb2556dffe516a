package device

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/utils/ptr"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
)

// fleet builds an inventory without a snapshot.
func fleet(slices ...*resourcev1.ResourceSlice) *Inventory {
	return newInventory(selector.Newest, func(yield func(*Slice) bool) {
		for _, s := range slices {
			if !yield(&Slice{Object: cluster.NewDeviceSlice(s)}) {
				return
			}
		}
	})
}

type attrs map[resourcev1.QualifiedName]any

func dev(name string, a attrs) resourcev1.Device {
	d := resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}, Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{}}
	for q, v := range a {
		switch v := v.(type) {
		case string:
			d.Attributes[q] = resourcev1.DeviceAttribute{StringValue: ptr.To(v)}
		case int:
			d.Attributes[q] = resourcev1.DeviceAttribute{IntValue: ptr.To(int64(v))}
		case bool:
			d.Attributes[q] = resourcev1.DeviceAttribute{BoolValue: ptr.To(v)}
		case resource.Quantity:
			d.Capacity[q] = resourcev1.DeviceCapacity{Value: v}
		}
	}
	return d
}

func published(name, driver, pool string, generation, count int64, devices ...resourcev1.Device) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
		Driver: driver, Pool: resourcev1.ResourcePool{Name: pool, Generation: generation, ResourceSliceCount: count}, Devices: devices,
	}}
}

// What an expression can see decides which devices count as equal; too little would be a wrong answer.
func TestReadsOf(t *testing.T) {
	name1 := func(n ...name) fields {
		f := fields{names: map[name]bool{}}
		for _, x := range n {
			f.names[x] = true
		}
		return f
	}
	tests := map[string]struct {
		expression string
		want       reads
	}{
		"the driver is no attribute": {`device.driver == "gpu.nvidia.com"`, reads{}},
		"an attribute by dot":        {`device.attributes["gpu.nvidia.com"].type == "mig"`, reads{attributes: name1(name{"gpu.nvidia.com", "type"})}},
		"an attribute by index":      {`device.attributes["gpu.nvidia.com"]["type"] == "mig"`, reads{attributes: name1(name{"gpu.nvidia.com", "type"})}},
		"an optional attribute":      {`device.attributes["d"].?x.orValue("") == "y"`, reads{attributes: name1(name{"d", "x"})}},
		"a test for presence":        {`has(device.attributes["d"].x)`, reads{attributes: name1(name{"d", "x"})}},
		"in":                         {`"x" in device.attributes["d"]`, reads{attributes: name1(name{"d", "x"})}},
		"a capacity":                 {`device.capacity["d"].memory.compareTo(quantity("1Gi")) >= 0`, reads{capacity: name1(name{"d", "memory"})}},
		"a bound domain":             {`cel.bind(g, device.attributes["d"], g.x == "y")`, reads{attributes: fields{domains: map[string]bool{"d": true}}}},
		"a computed domain":          {`device.attributes[device.driver].x == "y"`, reads{attributes: fields{all: true}}},
		"every attribute":            {`device.attributes["d"].exists(k, k == "x")`, reads{attributes: fields{domains: map[string]bool{"d": true}}}},
		"both maps": {`device.attributes["d"].x == "y" && device.capacity["d"].m.isGreaterThan(quantity("1"))`,
			reads{attributes: name1(name{"d", "x"}), capacity: name1(name{"d", "m"})}},
		"the mistake of indexing without a domain": {`device.attributes["memory"].quantity >= "80Gi"`, reads{attributes: name1(name{"memory", "quantity"})}},
	}
	for title, tc := range tests {
		t.Run(title, func(t *testing.T) {
			e := compileExpression(selector.Newest, tc.expression)
			if e.CompileError != "" {
				t.Fatalf("does not compile: %s", e.CompileError)
			}
			if diff := cmp.Diff(tc.want, e.reads, cmp.AllowUnexported(reads{}, fields{}, name{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Grouping must not change any answer: each device alone, with everything it has, gives the same.
func TestGroupsAgreeWithSingleDevices(t *testing.T) {
	expressions := []string{
		`device.attributes["d"].type == "mig"`,
		`device.attributes["d"].model.startsWith("A")`,
		`has(device.attributes["d"].uuid) && device.attributes["d"].uuid.endsWith("7")`,
		`device.capacity["d"].memory.isGreaterThan(quantity("10Gi"))`,
		`device.attributes["other"].x == 1`,
		`cel.bind(g, device.attributes["d"], has(g.type) && g.type == "gpu")`,
		`device.driver == "d"`,
		`device.attributes.size() >= 0 || true`,
	}
	rng := rand.New(rand.NewPCG(7, 7))
	var all []*resourcev1.ResourceSlice
	for s := range 12 {
		var devices []resourcev1.Device
		for i := range 10 {
			a := attrs{"uuid": fmt.Sprint(rng.IntN(100))}
			if rng.IntN(3) > 0 {
				a["type"] = []string{"mig", "gpu"}[rng.IntN(2)]
			}
			if rng.IntN(3) > 0 {
				a["model"] = []string{"A100", "H100"}[rng.IntN(2)]
			}
			if rng.IntN(4) > 0 {
				a["memory"] = *resource.NewQuantity(int64(rng.IntN(20))<<30, resource.BinarySI)
			}
			if rng.IntN(5) == 0 {
				a["other/x"] = rng.IntN(2)
			}
			devices = append(devices, dev(fmt.Sprintf("dev-%d", i), a))
		}
		all = append(all, published(fmt.Sprintf("s%02d", s), []string{"d", "e"}[s%2], "p", 1, 6, devices...))
	}
	for _, first := range expressions {
		for _, second := range expressions {
			inv := fleet(all...)
			a, b := inv.Compile(first), inv.Compile(second)
			if a.CompileError != "" || b.CompileError != "" {
				t.Fatalf("does not compile: %s %s", a.CompileError, b.CompileError)
			}
			m := inv.Match([]*Expression{a}, []*Expression{b})
			for _, s := range inv.Slices {
				for i, g := range s.groups {
					got, want := m.results[g.shape], alone(s.Object.API(), i, a, b)
					if got.match != want.match || got.row != want.row || !same(got.errs, want.errs) {
						t.Errorf("%s then %s on %s/%d: got %v, alone %v", first, second, s.Object.Name, i, got, want)
					}
				}
			}
		}
	}
}

// alone evaluates on one device with everything it publishes.
func alone(s *resourcev1.ResourceSlice, i int, rows ...*Expression) matched {
	for r, e := range rows {
		ok, _, err := e.program.DeviceMatches(context.Background(), dracel.Device{Driver: s.Spec.Driver, Attributes: s.Spec.Devices[i].Attributes, Capacity: s.Spec.Devices[i].Capacity})
		if err != nil {
			return matched{row: r, errs: []error{err}}
		}
		if !ok {
			return matched{}
		}
	}
	return matched{match: true}
}

// A certain answer must be what every order of slices gives; an uncertain one must list what some order gives.
func TestSatisfyAgreesWithEveryOrderOfSlices(t *testing.T) {
	pool := []string{
		`device.attributes["d"].a == 1`,
		`device.attributes["d"].b == 1`,
		`true`,
		`has(device.attributes["d"].a) && device.attributes["d"].a == 1`,
		`has(device.attributes["d"].b)`,
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 400 {
		var all []*resourcev1.ResourceSlice
		for s := range 1 + rng.IntN(4) {
			var devices []resourcev1.Device
			for i := range rng.IntN(4) {
				a := attrs{}
				for _, q := range []resourcev1.QualifiedName{"a", "b"} {
					if rng.IntN(4) > 0 {
						a[q] = rng.IntN(2)
					}
				}
				devices = append(devices, dev(fmt.Sprintf("dev-%d", i), a))
			}
			all = append(all, published(fmt.Sprintf("s%d", s), "d", fmt.Sprintf("p%d", s), 1, 1, devices...))
		}
		inv := fleet(all...)
		var requests []Request
		for range 1 + rng.IntN(3) {
			requests = append(requests, Request{Selectors: []*Expression{inv.Compile(pool[rng.IntN(len(pool))])}, Count: int64(1 + rng.IntN(3))})
		}
		got := inv.Satisfy(requests, nil)
		c := &claim{inv: inv, requests: requests}
		for _, r := range requests {
			c.matches = append(c.matches, inv.Match(r.Class, r.Selectors))
		}
		EveryOrder(inv.Slices, func(order []*Slice) {
			for k, want := range c.walk(order) {
				possible := append([]Answer{got[k]}, got[k].Other...)
				if !slices.ContainsFunc(possible, want.equal) && !between(got[k], want) {
					t.Fatalf("round %d, request %d: an order gives %+v, answered %+v", round, k, want, got[k])
				}
			}
		})
	}
}

// between tells that the answer is a range of match counts that holds the wanted one.
func between(got, want Answer) bool {
	return got.Err == nil && want.Err == nil && len(got.Other) == 1 && got.Other[0].Err == nil && got.Matched <= want.Matched && want.Matched <= got.Other[0].Matched
}

func TestPools(t *testing.T) {
	tests := map[string]struct {
		slices         []*resourcev1.ResourceSlice
		complete       bool
		usable, listed int64
	}{
		"all slices are there":                {[]*resourcev1.ResourceSlice{published("a", "d", "p", 1, 2, dev("0", nil)), published("b", "d", "p", 1, 2, dev("1", nil))}, true, 2, 2},
		"a slice is missing":                  {[]*resourcev1.ResourceSlice{published("a", "d", "p", 1, 2, dev("0", nil))}, false, 0, 1},
		"an old generation does not count":    {[]*resourcev1.ResourceSlice{published("a", "d", "p", 1, 1, dev("0", nil)), published("b", "d", "p", 2, 1, dev("1", nil))}, true, 1, 2},
		"a newer generation comes first":      {[]*resourcev1.ResourceSlice{published("a", "d", "p", 2, 1, dev("0", nil)), published("b", "d", "p", 1, 1, dev("1", nil))}, true, 1, 2},
		"two nodes share the name of a pool":  {[]*resourcev1.ResourceSlice{published("a", "d", "p", 1, 1, dev("0", nil)), published("b", "d", "p", 1, 1, dev("1", nil))}, false, 0, 2},
		"a counter slice belongs to the pool": {[]*resourcev1.ResourceSlice{published("a", "d", "p", 1, 2), published("b", "d", "p", 1, 2, dev("1", nil))}, true, 1, 1},
	}
	for title, tc := range tests {
		t.Run(title, func(t *testing.T) {
			inv := fleet(tc.slices...)
			if got := inv.Pools["d"][0].Complete(); got != tc.complete {
				t.Errorf("complete = %v", got)
			}
			all := inv.Match([]*Expression{inv.Compile("true")})
			if got := all.Usable("d"); got != tc.usable {
				t.Errorf("usable devices = %d, want %d", got, tc.usable)
			}
			if got := inv.Satisfy([]Request{{Selectors: []*Expression{inv.Compile("true")}, Count: 99}}, nil)[0].Matched; got != tc.listed {
				t.Errorf("devices seen by selectors = %d, want %d", got, tc.listed)
			}
		})
	}
}

func TestMaxCounter(t *testing.T) {
	counted := func(name string, sets ...map[string]string) resourcev1.Device {
		d := dev(name, nil)
		for i, s := range sets {
			c := resourcev1.DeviceCounterConsumption{CounterSet: fmt.Sprint(i), Counters: map[string]resourcev1.Counter{}}
			for k, v := range s {
				c.Counters[k] = resourcev1.Counter{Value: resource.MustParse(v)}
			}
			d.ConsumesCounters = append(d.ConsumesCounters, c)
		}
		return d
	}
	tests := map[string]struct {
		devices []resourcev1.Device
		allSets bool
		want    string
	}{
		"the largest of several devices":     {[]resourcev1.Device{counted("a", map[string]string{"memory": "1Gi"}), counted("b", map[string]string{"memory": "4864Mi"})}, true, "4864Mi"},
		"no device has it":                   {[]resourcev1.Device{counted("a", map[string]string{"other": "1Gi"})}, true, ""},
		"the second set holds more":          {[]resourcev1.Device{counted("a", map[string]string{"memory": "1Gi"}, map[string]string{"memory": "3Gi"})}, true, "3Gi"},
		"older versions stop at the first":   {[]resourcev1.Device{counted("a", map[string]string{"memory": "1Gi"}, map[string]string{"memory": "3Gi"})}, false, "1Gi"},
		"the first set need not hold it":     {[]resourcev1.Device{counted("a", map[string]string{"other": "1"}, map[string]string{"memory": "3Gi"})}, false, "3Gi"},
		"negative values are still a value":  {[]resourcev1.Device{counted("a", map[string]string{"memory": "-5"})}, true, "-5"},
		"a fraction beats a smaller integer": {[]resourcev1.Device{counted("a", map[string]string{"memory": "1500m"}), counted("b", map[string]string{"memory": "1"})}, true, "1500m"},
	}
	for title, tc := range tests {
		t.Run(title, func(t *testing.T) {
			inv := fleet(published("s", "d", "p", 1, 1, tc.devices...))
			inv.Charge([]string{"memory"}, nil)
			got := inv.Match([]*Expression{inv.Compile("true")}).MaxCounter("d", "memory", tc.allSets)
			text := ""
			if got.Found {
				text = got.Value.String()
			}
			if text != tc.want {
				t.Errorf("got %q, want %q", text, tc.want)
			}
		})
	}
}
