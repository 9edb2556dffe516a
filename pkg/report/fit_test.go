package report

import (
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/fit"
)

// fitted is the pending job with an answer about its devices.
func fitted(r *fit.Result) *explain.Explanation {
	x := pending()
	x.Fit = r
	return x
}

func placed(node string, devices ...string) fit.Placement {
	p := fit.Placement{Node: node}
	for _, d := range devices {
		p.Devices = append(p.Devices, fit.Device{Claim: "gpu", Request: "gpu", ID: device.ID{Driver: "gpu.example.com", Pool: node, Device: d}})
	}
	return p
}

func partlyFits() *fit.Result {
	count := &fit.Count{Needed: 1, Published: 19, Class: 18, Selectors: []int{7}, Held: 5, Own: 2}
	claim := func(name string) cluster.Ref {
		return cluster.Ref{APIVersion: "resource.k8s.io/v1", Kind: "ResourceClaim", Namespace: "team-b", Name: name}
	}
	return &fit.Result{Verdict: fit.DoesNotFit, PodSets: []fit.PodSet{
		{Name: "launcher", Count: 1, Placed: 1},
		{
			Name: "main", Count: 4, Holding: 1, Placed: 2, Claims: []string{"gpu"},
			Placements: []fit.Placement{placed("node-1", "gpu-0-mig-1", "gpu-0-mig-2"), placed("node-1", "gpu-0-mig-3", "gpu-0-mig-4")},
			Refusals: []fit.Refusal{
				{Nodes: []string{"node-1"}, Reason: fit.Reason{Code: fit.Allocated, Claim: "gpu", Request: "gpu", Count: count,
					Text:   "7 of 19 devices match; 0 can be had, 1 is needed: 5 held by claims, 2 given to earlier pods of the workload",
					HeldBy: []cluster.Ref{claim("a"), claim("b"), claim("c"), claim("d"), claim("e")}}},
				{Nodes: []string{"node-2", "node-3", "node-4"}, Reason: fit.Reason{Code: fit.NoDevices, Text: "no devices are published for the node"}},
			},
		},
	}}
}

func TestScreensOfFit(t *testing.T) {
	all := &fit.Result{Verdict: fit.Fits, PodSets: []fit.PodSet{{Name: "main", Count: 1, Placed: 1, Claims: []string{"gpu"}, Placements: []fit.Placement{placed("node-1", "gpu-0")}}}}
	unknown := &fit.Result{Verdict: fit.Unknown, Why: "the devices would do, but claims that are not in the input may hold them", Missing: []string{"ResourceClaim"}, PodSets: all.PodSets}
	for name, tc := range map[string]struct {
		document Document
		format   string
		terminal Terminal
	}{
		"fit-partly.txt":  {document: explanationsOf(fitted(partlyFits()))},
		"fit-wide.txt":    {document: explanationsOf(fitted(partlyFits())), format: "wide", terminal: Terminal{Width: 120}},
		"fit-narrow.txt":  {document: explanationsOf(fitted(partlyFits())), terminal: Terminal{Width: 60, ASCII: true}},
		"fit-all.txt":     {document: explanationsOf(fitted(all))},
		"fit-unknown.txt": {document: explanationsOf(fitted(unknown))},
		"fit-refused.txt": {document: explanationsOf(fitted(&fit.Result{Verdict: fit.DoesNotFit, PodSets: []fit.PodSet{{Name: "main", Count: 2,
			Refusals: []fit.Refusal{{Reason: fit.Reason{Code: fit.ObjectMissing, Claim: "gpu", Text: "ResourceClaimTemplate team-a/x does not exist"}}}}}}))},
		"fit.json": {document: explanationsOf(fitted(partlyFits())), format: "jsonpath={.items[0].fit}"},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, printed(t, tc.document, tc.format, tc.terminal)) })
	}
}
