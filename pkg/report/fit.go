package report

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/fit"
)

// Fit tells whether the pods of a workload can get their devices now, each after the ones before it.
type Fit struct {
	Verdict string `json:"verdict" jsonschema:"enum=Fits,enum=DoesNotFit,enum=Unknown,enum=NotNeeded"`
	// Why says in a sentence why the verdict is Unknown or NotNeeded.
	Why string `json:"why,omitempty"`
	// Missing are the kinds whose absence from the input keeps the verdict Unknown.
	Missing []string    `json:"missing"`
	PodSets []FitPodSet `json:"podSets"`
	// Assumptions are sentences about what was supposed and what is not looked at.
	Assumptions []string `json:"assumptions"`
}

// FitPodSet tells how the pods of one pod set fare.
type FitPodSet struct {
	Name string `json:"name"`
	// Count of pods that need devices; Holding have theirs, Placed would get theirs.
	Count   int `json:"count"`
	Holding int `json:"holding"`
	Placed  int `json:"placed"`
	// Claims of each pod, by the pod's names for them.
	Claims []string `json:"claims"`
	// Placements of the pods that would get devices, in their order.
	Placements []FitPlacement `json:"placements"`
	// Refusals say why the next pod gets none; empty when all do.
	Refusals []FitRefusal `json:"refusals"`
}

// FitPlacement is where one pod would get which devices.
type FitPlacement struct {
	Node    string      `json:"node"`
	Devices []FitDevice `json:"devices"`
}

// FitDevice is one device that a pod would get.
type FitDevice struct {
	Claim   string `json:"claim"`
	Request string `json:"request,omitempty"`
	Driver  string `json:"driver"`
	Pool    string `json:"pool"`
	Device  string `json:"device"`
}

// FitRefusal is why nodes can't take the next pod.
type FitRefusal struct {
	// Nodes it holds for; empty when it does not depend on the node.
	Nodes []string `json:"nodes"`
	// Code is stable and machine readable.
	Code    string `json:"code"`
	Message string `json:"message"`
	Claim   string `json:"claim,omitempty"`
	Request string `json:"request,omitempty"`
	// Count follows the devices of a node through the rules of the allocator; null when it is not about devices.
	Count *FitCount `json:"count" jsonschema:"nullable"`
	// HeldBy are the claims that hold devices which match, on the first of the nodes.
	HeldBy []cluster.Ref `json:"heldBy"`
}

// FitCount counts devices of a node: Published, then those that the device class matches, then what is left after each
// selector of the request. Of these the first cause that holds counts: in a pool that serves nobody, held by a claim,
// given to an earlier pod of the workload, tainted, short of counters, of capacity. Eligible are left.
type FitCount struct {
	Needed       int   `json:"needed"`
	Published    int   `json:"published"`
	ClassMatches int   `json:"classMatches"`
	Selectors    []int `json:"selectors"`
	Unusable     int   `json:"unusable"`
	Held         int   `json:"held"`
	Own          int   `json:"own"`
	Tainted      int   `json:"tainted"`
	Short        int   `json:"short"`
	Capacity     int   `json:"capacity"`
	Eligible     int   `json:"eligible"`
}

func newFit(r *fit.Result) *Fit {
	out := &Fit{Verdict: string(r.Verdict), Why: r.Why, Missing: list(r.Missing), PodSets: []FitPodSet{},
		Assumptions: []string{}}
	if r.Verdict != fit.NotNeeded {
		out.Assumptions = append(append(out.Assumptions, fit.Assumptions...), r.Supposed...)
	}
	for _, ps := range r.PodSets {
		set := FitPodSet{Name: ps.Name, Count: ps.Count, Holding: ps.Holding, Placed: ps.Placed,
			Claims: list(ps.Claims), Placements: []FitPlacement{}, Refusals: []FitRefusal{}}
		for _, p := range ps.Placements {
			placement := FitPlacement{Node: p.Node, Devices: []FitDevice{}}
			for _, d := range p.Devices {
				placement.Devices = append(placement.Devices, FitDevice{d.Claim, d.Request, d.Driver, d.Pool, d.Device})
			}
			set.Placements = append(set.Placements, placement)
		}
		for _, x := range ps.Refusals {
			set.Refusals = append(set.Refusals, newRefusal(x))
		}
		out.PodSets = append(out.PodSets, set)
	}
	return out
}

func newRefusal(x fit.Refusal) FitRefusal {
	out := FitRefusal{Nodes: list(x.Nodes), Code: string(x.Code), Message: x.Text, Claim: x.Claim, Request: x.Request,
		HeldBy: append([]cluster.Ref{}, x.HeldBy...)}
	if c := x.Count; c != nil {
		out.Count = &FitCount{
			Needed: c.Needed, Published: c.Published, ClassMatches: c.Class, Selectors: append([]int{},
				c.Selectors...), Unusable: c.Unusable, Held: c.Held,
			Own: c.Own, Tainted: c.Tainted, Short: c.Short, Capacity: c.Capacity, Eligible: c.Eligible,
		}
	}
	return out
}
