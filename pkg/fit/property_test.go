package fit

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
	"github.com/gpu-quota/kubectl-gpu-quota/test/fleet"
)

// randomFleet is a fleet with its nodes, some of its devices tainted, and the claims given.
func randomFleet(t *testing.T, rng *rand.Rand, size fleet.Size, claims string) *cluster.Snapshot {
	t.Helper()
	var export bytes.Buffer
	if err := fleet.Write(&export, size); err != nil {
		t.Fatal(err)
	}
	var nodes strings.Builder
	for n := range size.Nodes {
		fmt.Fprintf(&nodes, "---\napiVersion: v1\nkind: Node\nmetadata: {name: gpu-node-%04d}\n", n)
	}
	text := export.String()
	if rng.IntN(2) == 0 {
		text = strings.Replace(text, `"name":"gpu-0-mig-1g5gb-19-1"`, `"name":"gpu-0-mig-1g5gb-19-1","taints":[{"key":"xid","effect":"NoSchedule"}]`, 1)
	}
	return read(t, text, nodes.String(), `{apiVersion: resource.k8s.io/v1, kind: ResourceClaimList, items: []}`, claims)
}

// drawn is a workload whose pod sets use random templates of a team.
func drawn(rng *rand.Rand, snap *cluster.Snapshot, sets, most int) *workload.Workload {
	var names []string
	for o := range cluster.All[*resourcev1.ResourceClaimTemplate](snap, cluster.ResourceClaimTemplate) {
		if !slices.Contains(names, o.Ref.Name) {
			names = append(names, o.Ref.Name)
		}
	}
	w := &workload.Workload{Name: "w"}
	w.Namespace = snap.List(cluster.ResourceClaimTemplate)[0].Ref.Namespace
	for i := range sets {
		ps := pods(fmt.Sprint(i), 1+rng.IntN(most), "a="+names[rng.IntN(len(names))], "b="+names[rng.IntN(len(names))])
		if rng.IntN(2) == 0 {
			ps.Template.Spec.ResourceClaims = ps.Template.Spec.ResourceClaims[:1]
		}
		w.PodSets = append(w.PodSets, ps)
	}
	return w
}

// claimsOf are claim objects that hold what the pods of a result got.
func claimsOf(r *Result) string {
	var out strings.Builder
	i := 0
	for _, ps := range r.PodSets {
		for _, p := range ps.Placements {
			fmt.Fprintf(&out, "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c%d, namespace: held}\nspec: {}\nstatus:\n  allocation:\n    devices:\n      results:\n", i)
			for _, d := range p.Devices {
				fmt.Fprintf(&out, "      - {request: r, driver: %s, pool: %s, device: %s}\n", d.Driver, d.Pool, d.Device)
			}
			i++
		}
	}
	return out.String()
}

// Whatever the pods get, no device is given twice or although it is held or tainted, it is on the pod's node, and the
// devices of a pool together stay within its counters.
func TestNothingIsGivenTwice(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	fits, refused := 0, 0
	for round := range 25 {
		size := fleet.Size{Nodes: 1 + rng.IntN(3), GPUs: 1 + rng.IntN(2), Workloads: 8, Seed: uint64(round)}
		empty := randomFleet(t, rng, size, "")
		inv := device.NewInventory(empty, selector.Newest)
		first := New(empty, inv, Options{}).Check(context.Background(), drawn(rng, empty, 1, 2), nil)
		snap := randomFleet(t, rng, size, claimsOf(first))
		w := drawn(rng, snap, 1+rng.IntN(3), 4)
		c := New(snap, device.NewInventory(snap, selector.Newest), Options{})
		r := c.Check(context.Background(), w, nil)
		switch r.Verdict {
		case Fits:
			fits++
		case DoesNotFit:
			refused++
		}
		checkPlacements(t, c.stock, r)
		if again := New(snap, device.NewInventory(snap, selector.Newest), Options{}).Check(context.Background(), w, nil); said(again) != said(r) {
			t.Fatalf("round %d: two runs differ:\n%s\n%s", round, said(r), said(again))
		}
		for _, ps := range r.PodSets {
			if ps.Placed < ps.Count && r.Verdict == Fits || ps.Placed < ps.Count && len(ps.Refusals) == 0 {
				t.Errorf("round %d: %s", round, said(r))
			}
		}
	}
	if fits < 5 || refused < 5 {
		t.Errorf("%d fit, %d refused: too few of one kind to mean anything", fits, refused)
	}
}

func checkPlacements(t *testing.T, stock *device.Stock, r *Result) {
	t.Helper()
	used := map[string]*resource.Quantity{}
	consume := func(u *device.Unit) {
		for _, of := range u.Device().ConsumesCounters {
			for name, c := range of.Counters {
				key := u.ID().Pool + "/" + of.CounterSet + "/" + name
				if used[key] == nil {
					used[key] = &resource.Quantity{}
				}
				used[key].Add(c.Value)
			}
		}
	}
	totals := map[string]resource.Quantity{}
	for _, p := range stock.Pools {
		for _, set := range p.CounterSets {
			for c := range set.Counters {
				totals[p.Name+"/"+set.Name+"/"+c.Name] = c.Total
			}
		}
		for _, g := range p.Groups {
			for _, u := range g.Devices {
				if len(u.Holders()) > 0 {
					consume(u)
				}
			}
		}
	}
	seen := map[device.ID]bool{}
	for _, ps := range r.PodSets {
		for _, p := range ps.Placements {
			for _, d := range p.Devices {
				u := stock.Unit(d.ID)
				if u == nil || seen[d.ID] || len(u.Holders()) > 0 || len(u.Taints()) > 0 || *u.Slice.Object.Spec.NodeName != p.Node {
					t.Errorf("device %s can't be given to a pod on %s (again: %t): %+v", d.ID, p.Node, seen[d.ID], u)
				}
				seen[d.ID] = true
				consume(u)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(used)) {
		if total := totals[key]; used[key].Cmp(total) > 0 {
			t.Errorf("%s: %s used of %s", key, used[key], total.String())
		}
	}
}

// A diagnosis counts what the allocator refuses: where it finds enough devices for a request of one claim with one device,
// the allocator finds one, too.
func TestDiagnosisAgreesWithTheAllocator(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	refused := 0
	for round := range 30 {
		size := fleet.Size{Nodes: 1, GPUs: 1, Workloads: 8, Seed: uint64(round)}
		empty := randomFleet(t, rng, size, "")
		first := New(empty, device.NewInventory(empty, selector.Newest), Options{}).Check(context.Background(), drawn(rng, empty, 2, 2), nil)
		snap := randomFleet(t, rng, size, claimsOf(first))
		c := New(snap, device.NewInventory(snap, selector.Newest), Options{})
		for _, o := range snap.List(cluster.ResourceClaimTemplate) {
			w := &workload.Workload{Namespace: o.Ref.Namespace, PodSets: []workload.PodSet{pods("main", 1, "a="+o.Ref.Name)}}
			r := c.Check(context.Background(), w, nil)
			for _, x := range r.PodSets[0].Refusals {
				refused++
				if x.Count == nil && x.Code != Together || x.Count != nil && x.Count.Eligible >= x.Count.Needed {
					t.Errorf("round %d, template %s: %s", round, o.Ref.Name, said(r))
				}
				if x.Code == Together && x.Count == nil && cluster.As[*resourcev1.ResourceClaimTemplate](o).Spec.Spec.Devices.Requests[0].Exactly.Count == 1 {
					t.Errorf("round %d, template %s asks for one device, but: %s", round, o.Ref.Name, said(r))
				}
			}
		}
	}
	if refused < 20 {
		t.Errorf("only %d refusals", refused)
	}
}
