package workload

import (
	"slices"
	"testing"
)

// TestResourcesTheWebhookRefuses: no Workload is made for what Kueue's webhook refuses, and what it refuses differs.
func TestResourcesTheWebhookRefuses(t *testing.T) {
	jobSet := func(resources string) string {
		return object("jobset.x-k8s.io/v1alpha2", "JobSet", "s",
			"spec: {replicatedJobs: [{name: a, template: {spec: {template: {spec: {containers: [{name: c, resources: "+resources+"}]}}}}}]}")
	}
	tests := map[string]struct {
		resources string
		refused   []string
		not       []string
	}{
		"a negative request": {"{requests: {cpu: -1}}", []string{"v0.18.6", "v0.19.2", "v0.20.0"}, []string{"v0.18.4", "v0.19.0"}},
		"a negative limit":   {"{limits: {example.com/x: -1}}", []string{"v0.19.2"}, []string{"v0.19.0"}},
		"pods requested":     {"{requests: {pods: 1}}", []string{"v0.18.4", "v0.19.0", "v0.19.2"}, nil},
		"pods as a limit":    {"{limits: {pods: 1}}", []string{"v0.19.2"}, []string{"v0.19.0"}},
		"nothing of it":      {"{requests: {cpu: 1}}", nil, []string{"v0.19.2", "v0.20.0"}},
	}
	for name, tc := range tests {
		for _, version := range slices.Concat(tc.refused, tc.not) {
			t.Run(name+"/"+version, func(t *testing.T) {
				ws := findWith(t, []byte(everyFramework+jobSet(tc.resources)), version)
				if len(ws) != 1 {
					t.Fatalf("%d workloads", len(ws))
				}
				refused := slices.ContainsFunc(ws[0].Reasons, func(r Reason) bool { return r.Code == RefusedByWebhook })
				if want := slices.Contains(tc.refused, version); refused != want || refused != (ws[0].State == Stuck) {
					t.Errorf("state %v with %+v; refused should be %t", ws[0].State, ws[0].Reasons, want)
				}
			})
		}
	}
}

// TestReclaimableWithMoreParallelismThanCompletions: only as many pods run as completions are left, so that the first that
// ends frees one pod, not those that never were.
func TestReclaimableWithMoreParallelismThanCompletions(t *testing.T) {
	job := object("batch/v1", "Job", "j", "spec: {parallelism: 5, completions: 3, template: "+template(1)+"}\nstatus: {succeeded: 1}")
	for version, want := range map[string]int32{"v0.19.5": 3, "v0.19.6": 1, "v0.20.0": 1} {
		ws := findWith(t, []byte(everyFramework+job), version)
		if got := ws[0].PodSets[0].Reclaimable; got != want {
			t.Errorf("%s: %d of %d pods free their quota, want %d", version, got, ws[0].PodSets[0].Count, want)
		}
	}
}
