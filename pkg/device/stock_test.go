package device

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// snapshotOf reads documents as an export of the whole cluster.
func snapshotOf(t *testing.T, documents ...string) *cluster.Snapshot {
	t.Helper()
	b := cluster.NewBuilder(nil)
	for i, text := range documents {
		if err := source.ReadBytes(context.Background(), fmt.Sprintf("%d.yaml", i), []byte(text), b.Sink(cluster.InputOptions{})); err != nil {
			t.Fatal(err)
		}
	}
	snap := b.Build()
	for _, p := range snap.Problems {
		t.Fatal(p)
	}
	return snap
}

func stockOf(t *testing.T, documents ...string) *Stock {
	t.Helper()
	snap := snapshotOf(t, documents...)
	return NewStock(NewInventory(snap, selector.Newest), NewAllocations(snap))
}

// slice is a ResourceSlice of node n; rest are its fields after the pool.
func slice(name string, count int, rest string) string {
	return fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: %s}\nspec:\n  driver: d\n  nodeName: n\n"+
		"  pool: {name: p, generation: 2, resourceSliceCount: %d}\n%s", name, count, rest)
}

// deviceText is a device of a slice with the fields given.
func deviceText(name, fields string) string { return fmt.Sprintf("  - {name: %s, %s}\n", name, fields) }

func kindText(kind, profile string) string {
	return fmt.Sprintf("attributes: {type: {string: %q}, productName: {string: A}, profile: {string: %q}}", kind, profile)
}

// gpu is a GPU of four memory slices: whole, in two halves or in four quarters.
var gpu = slice("counters", 2, `  sharedCounters:
  - name: gpu-0
    counters: {memory: {value: 40Gi}, s0: {value: "1"}, s1: {value: "1"}, s2: {value: "1"}, s3: {value: "1"}}
`) + "---\n" + slice("devices", 2, "  devices:\n"+partition("whole", "40Gi", 0, 1, 2, 3)+
	partition("half-0", "20Gi", 0, 1)+partition("half-2", "20Gi", 2, 3)+
	partition("quarter-0", "10Gi", 0)+partition("quarter-1", "10Gi", 1)+partition("quarter-2", "10Gi", 2)+partition("quarter-3", "10Gi", 3))

func partition(name, memory string, slices ...int) string {
	counters := "memory: {value: " + memory + "}"
	for _, s := range slices {
		counters += fmt.Sprintf(", s%d: {value: \"1\"}", s)
	}
	profile, _, _ := strings.Cut(name, "-")
	return deviceText(name, kindText("mig", profile)+", consumesCounters: [{counterSet: gpu-0, counters: {"+counters+"}}]")
}

// holding is a claim that holds devices of pool p.
func holding(name, extra string, devices ...string) string {
	out := fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: %s, namespace: team}\nspec: {}\nstatus:\n  allocation:\n    devices:\n      results:\n", name)
	for _, d := range devices {
		out += fmt.Sprintf("      - {request: r, driver: d, pool: p, device: %s%s}\n", d, extra)
	}
	return out
}

// noClaims is a list of all claims, of which there are none.
const noClaims = `{apiVersion: resource.k8s.io/v1, kind: ResourceClaimList, items: []}`

func counts(s *Stock) map[string]string {
	out := map[string]string{}
	for _, c := range s.Counts() {
		c.Kind.Driver, c.Kind.Type, c.Kind.Model = "", "", ""
		text := fmt.Sprintf("published %d", c.Published)
		for _, n := range []struct {
			name string
			n    int64
		}{{"tainted", c.Tainted}, {"unusable", c.Unusable}, {"allocated", c.Allocated}, {"shared", c.Shared}, {"blocked", c.Blocked}, {"candidates", c.Candidates}, {"free", c.Free}} {
			if n.n != 0 {
				text += fmt.Sprintf(", %s %d", n.name, n.n)
			}
		}
		out[c.Profile] = text
	}
	return out
}

func TestStockCountsDevices(t *testing.T) {
	plain := func(fields ...string) string {
		text := slice("devices", 1, "  devices:\n")
		for i, f := range fields {
			text += deviceText(fmt.Sprintf("gpu-%d", i), strings.TrimSuffix(kindText("gpu", "")+", "+f, ", "))
		}
		return text
	}
	tests := map[string]struct {
		documents []string
		want      map[string]string
		problem   string
	}{
		"partitions of one GPU exclude one another": {[]string{gpu, noClaims}, map[string]string{
			"whole": "published 1, candidates 1, free 1", "half": "published 2, candidates 2, free 2", "quarter": "published 4, candidates 4, free 4"}, ""},
		"an allocated partition blocks those that need its counters": {[]string{gpu, holding("a", "", "quarter-1")}, map[string]string{
			"whole": "published 1, blocked 1", "half": "published 2, blocked 1, candidates 1, free 1", "quarter": "published 4, allocated 1, candidates 3, free 3"}, ""},
		"memory runs out before the slices": {[]string{strings.Replace(gpu, "value: 40Gi", "value: 25Gi", 1), noClaims},
			map[string]string{"whole": "published 1, blocked 1", "half": "published 2, candidates 2, free 1", "quarter": "published 4, candidates 4, free 2"}, ""},
		"devices allocated that can't be together block the pool": {[]string{gpu, holding("a", "", "whole", "half-0")}, map[string]string{
			"whole": "published 1, allocated 1", "half": "published 2, allocated 1, blocked 1", "quarter": "published 4, blocked 4"}, ""},
		"without claims nothing is known to be free": {[]string{gpu}, map[string]string{"whole": "published 1", "half": "published 2", "quarter": "published 4"}, ""},
		"admin access takes nothing":                 {[]string{plain(""), holding("a", ", adminAccess: true", "gpu-0")}, map[string]string{"": "published 1, candidates 1, free 1"}, ""},
		"taints that keep claims away": {[]string{plain("taints: [{key: lost, effect: NoExecute}]", "taints: [{key: info, effect: None}]", ""), noClaims},
			map[string]string{"": "published 3, tainted 1, candidates 2, free 2"}, ""},
		"taints of rules": {[]string{plain("", "", ""), noClaims,
			"apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: one}\nspec: {deviceSelector: {driver: d, device: gpu-1}, taint: {key: broken, effect: NoExecute}}\n",
			"apiVersion: resource.k8s.io/v1beta2\nkind: DeviceTaintRule\nmetadata: {name: none}\nspec: {taint: {key: x, effect: NoExecute}}\n",
			"apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: elsewhere}\nspec: {deviceSelector: {pool: q}, taint: {key: x, effect: NoSchedule}}\n"},
			map[string]string{"": "published 3, tainted 1, candidates 2, free 2"}, ""},
		"a tainted device that is held counts twice": {[]string{plain("taints: [{key: xid, effect: NoSchedule}]"), holding("a", "", "gpu-0")},
			map[string]string{"": "published 1, tainted 1, allocated 1"}, ""},
		"a shared device": {[]string{plain("allowMultipleAllocations: true", "allowMultipleAllocations: true"),
			holding("a", ", shareID: 11111111-0000-4000-8000-000000000000", "gpu-1") + "---\n" + holding("b", ", shareID: 22222222-0000-4000-8000-000000000000", "gpu-1")},
			map[string]string{"": "published 2, shared 1, candidates 1, free 1"}, ""},
		"an incomplete pool": {[]string{slice("devices", 2, "  devices:\n"+deviceText("gpu-0", kindText("gpu", ""))+deviceText("gpu-1", kindText("gpu", ""))), holding("a", "", "gpu-1")},
			map[string]string{"": "published 2, unusable 2, allocated 1"}, "incomplete: 1 of 2 slices are published"},
		"slices that disagree": {[]string{strings.Replace(gpu, "resourceSliceCount: 2", "resourceSliceCount: 3", 1), noClaims},
			map[string]string{"whole": "published 1, unusable 1", "half": "published 2, unusable 2", "quarter": "published 4, unusable 4"}, "its slices state different numbers of slices"},
		"a name published twice": {[]string{slice("devices", 1, "  devices:\n"+deviceText("gpu-0", kindText("gpu", ""))+deviceText("gpu-0", kindText("gpu", ""))), noClaims},
			map[string]string{"": "published 2, unusable 2"}, "invalid: device gpu-0 is published twice"},
		"the first of several names published twice": {[]string{slice("devices", 1, "  devices:\n"+deviceText("gpu-2", kindText("gpu", ""))+deviceText("gpu-1", kindText("gpu", ""))+
			deviceText("gpu-2", kindText("gpu", ""))+deviceText("gpu-1", kindText("gpu", ""))), noClaims},
			map[string]string{"": "published 4, unusable 4"}, "invalid: device gpu-2 is published twice"},
		"a counter set that is not published": {[]string{slice("devices", 1, "  devices:\n"+partition("half-0", "20Gi", 0)), noClaims},
			map[string]string{"half": "published 1, unusable 1"}, "invalid: device half-0 consumes counter set gpu-0, which the pool does not have"},
		"an older generation is gone": {[]string{plain(""), strings.NewReplacer("generation: 2", "generation: 1", "name: devices", "name: old").Replace(plain("", "")), noClaims},
			map[string]string{"": "published 1, candidates 1, free 1"}, ""},
	}
	for title, tc := range tests {
		t.Run(title, func(t *testing.T) {
			s := stockOf(t, tc.documents...)
			if diff := cmp.Diff(tc.want, counts(s)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if s.Pools[0].Problem != tc.problem {
				t.Errorf("problem %q, want %q", s.Pools[0].Problem, tc.problem)
			}
		})
	}
}

func TestStockTellsWhatIsShort(t *testing.T) {
	s := stockOf(t, gpu, holding("a", "", "quarter-1", "vanished"))
	u := s.Unit(ID{"d", "p", "half-0"})
	if u == nil || u.State != Blocked || len(u.Short()) != 1 || u.Short()[0].String() != "gpu-0: s1 needs 1, 0 left" {
		t.Errorf("half-0 is %+v", u)
	}
	if len(s.Gone) != 1 || s.Gone[0].ID.String() != "d/p/vanished" {
		t.Errorf("devices that are held and not published: %v", s.Gone)
	}
	if c := s.Pools[0].CounterSets[0].at(0); c.Name != "memory" || c.Used.String() != "10Gi" {
		t.Errorf("memory used: %s, want 10Gi", c.Used.String())
	}
}

func TestDevicesAreFoundByName(t *testing.T) {
	s := stockOf(t, gpu, noClaims)
	names := 0
	for _, p := range s.Pools {
		for i := range p.units {
			names++
			if u := &p.units[i]; s.Unit(u.ID()) != u || s.At(u.Slice, u.Index()) != u {
				t.Errorf("%s is not found", u.ID())
			}
		}
	}
	if names != 7 {
		t.Errorf("%d devices, want 7", names)
	}
	for _, id := range []ID{{"d", "p", ""}, {"d", "p", "half-1"}, {"d", "p", "z"}, {"d", "q", "half-0"}, {"e", "p", "half-0"}} {
		if u := s.Unit(id); u != nil {
			t.Errorf("%s is found as %s", id, u.ID())
		}
	}
	twice := stockOf(t, slice("devices", 1, "  devices:\n"+deviceText("a", kindText("gpu", ""))+deviceText("a", kindText("gpu", ""))), noClaims)
	if u := twice.Unit(ID{"d", "p", "a"}); u == nil || u.Index() != 1 {
		t.Errorf("of two devices of a name %+v is found, want the last", u)
	}
}

func TestKindOfDriversInUse(t *testing.T) {
	profile := resourcev1.FullyQualifiedName("x.example.com/size")
	tests := map[string]struct {
		spec  cluster.DeviceSliceSpec
		attrs attrs
		want  Kind
	}{
		"NVIDIA":                         {cluster.DeviceSliceSpec{Driver: "gpu.nvidia.com"}, attrs{"type": "mig", "productName": "A100", "profile": "1g.5gb"}, Kind{"gpu.nvidia.com", "mig", "A100", "1g.5gb"}},
		"AMD":                            {cluster.DeviceSliceSpec{Driver: "gpu.amd.com"}, attrs{"type": "amdgpu-partition", "productName": "MI300X", "partitionProfile": "cpx_nps4"}, Kind{"gpu.amd.com", "amdgpu-partition", "MI300X", "cpx_nps4"}},
		"the example driver":             {cluster.DeviceSliceSpec{Driver: "gpu.example.com"}, attrs{"model": "LATEST"}, Kind{"gpu.example.com", "", "LATEST", ""}},
		"names with the driver's domain": {cluster.DeviceSliceSpec{Driver: "d.io"}, attrs{"d.io/model": "M", "other.io/profile": "no"}, Kind{"d.io", "", "M", ""}},
		"the attribute the slice names":  {cluster.DeviceSliceSpec{Driver: "d", PartitionTypeAttribute: &profile}, attrs{profileName: "half", "profile": "no"}, Kind{"d", "", "", "half"}},
		"a number is no model":           {cluster.DeviceSliceSpec{Driver: "d"}, attrs{"model": 3}, Kind{Driver: "d"}},
	}
	for title, tc := range tests {
		t.Run(title, func(t *testing.T) {
			d := cluster.NewDeviceSlice(published("s", tc.spec.Driver, "p", 1, 1, dev("x", tc.attrs))).Spec.Devices[0]
			if diff := cmp.Diff(tc.want, kindOf(&tc.spec, &d)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

const profileName = "x.example.com/size"

// The search for the largest number of devices that fit together must find what trying all subsets finds.
func TestPackingFindsTheMost(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for range 400 {
		pool := &PoolStock{Pool: &Pool{}}
		for s := range 2 {
			set := &CounterSet{Name: fmt.Sprint(s)}
			for c := range 3 {
				set.published = append(set.published, supply{fmt.Sprint(c), *resource.NewMilliQuantity(rng.Int64N(9)*500, resource.DecimalSI)})
			}
			pool.CounterSets = append(pool.CounterSets, set)
		}
		var units []*Unit
		for range rng.IntN(9) {
			d := &cluster.Device{}
			for s := range 1 + rng.IntN(2) {
				counters := map[string]resourcev1.Counter{}
				for c := range 3 {
					counters[fmt.Sprint(c)] = resourcev1.Counter{Value: *resource.NewMilliQuantity(rng.Int64N(4)*500, resource.DecimalSI)}
				}
				d.ConsumesCounters = append(d.ConsumesCounters, resourcev1.DeviceCounterConsumption{CounterSet: fmt.Sprint((s + rng.IntN(2)) % 2), Counters: counters})
			}
			if len(d.ConsumesCounters) == 2 && d.ConsumesCounters[0].CounterSet == d.ConsumesCounters[1].CounterSet {
				d.ConsumesCounters = d.ConsumesCounters[:1]
			}
			units = append(units, &Unit{Slice: &Slice{Object: &cluster.DeviceSlice{Spec: cluster.DeviceSliceSpec{Devices: []cluster.Device{*d}}}}})
		}
		got, atLeast := newPacker().most(pool, units)
		if want := mostByTrying(pool, units); got != want || atLeast {
			t.Fatalf("%d devices, %d fit together, found %d (at least: %t)", len(units), want, got, atLeast)
		}
	}
}

func mostByTrying(pool *PoolStock, units []*Unit) int64 {
	best := int64(0)
	for subset := range 1 << len(units) {
		used, n := map[string]*resource.Quantity{}, int64(0)
		for i, u := range units {
			if subset>>i&1 == 0 {
				continue
			}
			n++
			for _, of := range u.Device().ConsumesCounters {
				for name, c := range of.Counters {
					key := of.CounterSet + "/" + name
					if used[key] == nil {
						used[key] = &resource.Quantity{}
					}
					used[key].Add(c.Value)
				}
			}
		}
		fits := true
		for _, set := range pool.CounterSets {
			for c := range set.Counters {
				if u := used[set.Name+"/"+c.Name]; u != nil && u.Cmp(c.Total) > 0 {
					fits = false
				}
			}
		}
		if fits {
			best = max(best, n)
		}
	}
	return best
}
