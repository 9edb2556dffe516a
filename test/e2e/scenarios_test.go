package e2e

import "testing"

// oneGPU and the like are charges that several scenarios have in common: each job also asks for one core and
// 2Gi per pod.
var (
	oneGPU    = quantities("cpu", "1", "memory", "2Gi", "nvidia.com/gpu", "1")
	twoGPUs   = quantities("cpu", "1", "memory", "2Gi", "nvidia.com/gpu", "2")
	threeGPUs = quantities("cpu", "1", "memory", "2Gi", "nvidia.com/gpu", "3")
)

// The documented ways to charge a GPU, as they are documented.
func TestWalkthroughs(t *testing.T) {
	of := func(name string, jobs map[string]want) scenario {
		return scenario{
			name: name, kueue: walkthrough(name, "kueue.yaml"), cluster: []string{walkthrough(name, "cluster.yaml")},
			steps: []step{{walkthrough(name, "job.yaml"), jobs}},
		}
	}
	for _, s := range []scenario{
		of("claim-template", map[string]want{"claim": {state: "Admitted", charge: oneGPU}}),
		of("extended-resource", map[string]want{"extended": {state: "Admitted", charge: oneGPU}}),
		of("mig-counter", map[string]want{
			"partition": {state: "Admitted", charge: quantities("cpu", "1", "memory", "2Gi", "gpu.memory", "4864Mi")},
			"whole":     {state: "Admitted", charge: quantities("cpu", "1", "memory", "2Gi", "gpu.memory", "40320Mi")},
		}),
	} {
		t.Run(s.name, s.run)
	}
}

// What a queue does with more than it has.
func TestQuota(t *testing.T) {
	claims := walkthrough("claim-template", "kueue.yaml")
	for _, s := range []scenario{{
		name: "over-quota", kueue: claims, cluster: []string{walkthrough("claim-template", "cluster.yaml")},
		steps: []step{
			{fixture("over-quota/1-three-gpus.yaml"), map[string]want{"three": {state: "Admitted", charge: threeGPUs}}},
			{fixture("over-quota/2-two-gpus.yaml"), map[string]want{
				"three": {state: "Admitted", charge: threeGPUs},
				"two": {state: "Pending", charge: twoGPUs,
					message: "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor gpu-nodes, 1 more needed"},
			}},
			{fixture("over-quota/3-five-gpus.yaml"), map[string]want{
				"five": {state: "Pending", charge: quantities("cpu", "1", "memory", "2Gi", "nvidia.com/gpu", "5"),
					message: "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor gpu-nodes, previously considered podsets requests (0) + current podset request (5) > maximum capacity (4)"},
			}},
		},
	}, {
		name: "borrowing", kueue: claims, cluster: []string{walkthrough("claim-template", "cluster.yaml"), fixture("borrowing/cluster.yaml")},
		steps: []step{
			{fixture("borrowing/1-borrower.yaml"), map[string]want{"borrower": {state: "Admitted", charge: threeGPUs}}},
			{fixture("borrowing/2-too-much.yaml"), map[string]want{
				"borrower": {state: "Admitted", charge: threeGPUs},
				"more": {state: "Pending", charge: twoGPUs,
					message: "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor gpu-nodes, 1 more needed"},
			}},
		},
	}, {
		name: "preemption", kueue: claims, cluster: []string{walkthrough("claim-template", "cluster.yaml"), fixture("preemption/cluster.yaml")},
		steps: []step{
			{fixture("preemption/1-low.yaml"), map[string]want{"low": {state: "Admitted", charge: twoGPUs}}},
			{fixture("preemption/2-high.yaml"), map[string]want{
				"high": {state: "Admitted", charge: oneGPU, predicted: "Preempts"},
				"low": {state: "Pending", charge: twoGPUs,
					message: "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor gpu-nodes, 1 more needed"},
			}},
		},
	}} {
		t.Run(s.name, s.run)
	}
}

// What is set up wrongly is refused, in Kueue's words.
func TestMisconfiguration(t *testing.T) {
	cluster := []string{walkthrough("claim-template", "cluster.yaml")}
	for _, s := range []scenario{{
		name: "unmapped-class", kueue: fixture("misconfiguration/kueue-no-mapping.yaml"), cluster: cluster,
		steps: []step{{walkthrough("claim-template", "job.yaml"), map[string]want{
			"claim": {state: "Inadmissible", problem: "UnmappedDeviceClass",
				message: `spec.podSets[0].template.spec.resourceClaims[0].resourceClaimTemplateName: Not found: "DeviceClass gpu.nvidia.com is not mapped in DRA configuration for podset main"`},
		}}},
	}, {
		name: "several", kueue: walkthrough("claim-template", "kueue.yaml"),
		cluster: append(cluster, fixture("misconfiguration/cluster.yaml")),
		steps: []step{{fixture("misconfiguration/jobs.yaml"), map[string]want{
			"no-template": {state: "Inadmissible", problem: "ResourceClaimTemplateNotFound",
				message: `spec.podSets[0].template.spec.resourceClaims[0]: Internal error: failed to get claim spec for ResourceClaimTemplate nowhere in podset main: ResourceClaimTemplate.resource.k8s.io "nowhere" not found`},
			"stopped":        {state: "Pending", charge: oneGPU, problem: "QueueBlocked", unpublished: true},
			"lost":           {state: "Pending", charge: oneGPU, problem: "QueueBlocked", unpublished: true},
			"no-queue":       {state: "Pending", problem: "QueueBlocked", charge: oneGPU, unpublished: true},
			"no-flavor":      {state: "Inadmissible", problem: "QueueBlocked", charge: oneGPU, unpublished: true, message: "ClusterQueue no-flavor is inactive"},
			"not-covered":    {state: "Pending", charge: oneGPU, message: "couldn't assign flavors to pod set main: resource nvidia.com/gpu unavailable in ClusterQueue"},
			"closed-to-team": {state: "Pending", problem: "QueueBlocked", charge: oneGPU, message: "workload namespace doesn't match ClusterQueue selector"},
		}}},
	}} {
		t.Run(s.name, s.run)
	}
}
