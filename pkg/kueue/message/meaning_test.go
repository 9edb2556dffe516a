package message

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMeaningOfConditionMessages(t *testing.T) {
	cases := map[string]struct {
		message string
		want    []string
	}{
		"one resource short of unused quota": {
			message: "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor default-flavor, 7 more needed",
			want:    []string{"nvidia.com/gpu: flavor default-flavor was short by 7"},
		},
		"more than the queue can ever have": {
			message: "couldn't assign flavors to pod set main: insufficient quota for whole-gpus in flavor default-flavor, previously considered podsets requests (0) + current podset request (9) > maximum capacity (8)",
			want:    []string{"whole-gpus: asks for 9, but flavor default-flavor can never give this queue more than 8"},
		},
		"a second pod set on top of the first": {
			message: "couldn't assign flavors to pod set work: insufficient quota for gpu.memory in flavor f1, previously considered podsets requests (40Gi) + current podset request (50Gi) > maximum capacity (80Gi)",
			want:    []string{"pod set work: gpu.memory: asks for 50Gi on top of 40Gi for the pod sets before it, but flavor f1 can never give this queue more than 80Gi"},
		},
		"reasons of several flavors hold commas themselves": {
			message: "couldn't assign flavors to pod set main: flavor f1 doesn't match node affinity, insufficient unused quota for cpu in flavor on-demand, 5 more needed, untolerated taint {key val NoSchedule <nil>} in flavor spot-tainted",
			want: []string{
				"flavor f1: its node labels do not match the pods' node selector or affinity",
				"cpu: flavor on-demand was short by 5",
				"flavor spot-tainted has the taint {key val NoSchedule <nil>}, which the pods do not tolerate",
			},
		},
		"several pod sets": {
			message: "couldn't assign flavors to pod set lead: insufficient unused quota for cpu in flavor a, 500m more needed; couldn't assign flavors to pod set work: resource nvidia.com/gpu unavailable in ClusterQueue",
			want: []string{
				"pod set lead: cpu: flavor a was short by 500m",
				"pod set work: nvidia.com/gpu: no resource group of the ClusterQueue covers it",
			},
		},
		"preemption under way": {
			message: "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor a, 1 more needed. Pending the preemption of 2 workload(s)",
			want:    []string{"cpu: flavor a was short by 1", "it waits for 2 preempted workload(s) to go"},
		},
		"topology": {
			message: `couldn't assign flavors to pod set main: topology "rack" allows to fit only 3 out of 8 pod(s). Total nodes: 4; excluded: taint "x": 1`,
			want:    []string{"topology rack has room for 3 of the 8 pods"},
		},
		"an error while assigning is quoted": {
			message: "failed to assign flavors to pod set main: no TAS flavor assigned",
			want:    []string{"no TAS flavor assigned"},
		},
		"the queue does not exist":                 {message: "LocalQueue absent doesn't exist", want: []string{"its namespace has no LocalQueue absent"}},
		"no queue named at all":                    {message: "LocalQueue  doesn't exist", want: []string{"it names no LocalQueue; set the label kueue.x-k8s.io/queue-name on the job"}},
		"old wording of the namespace selector":    {message: "Workload namespace doesn't match ClusterQueue selector", want: []string{"the ClusterQueue's namespaceSelector does not select its namespace"}},
		"newer wording of the namespace selector":  {message: "workload namespace doesn't match ClusterQueue selector", want: []string{"the ClusterQueue's namespaceSelector does not select its namespace"}},
		"wording of the releases before the gate":  {message: "DynamicResourceAllocation feature does not support use of resource claims", want: []string{"it uses a ResourceClaim directly; Kueue charges claim templates only"}},
		"parked because an equal workload failed":  {message: "Bypassed scheduling evaluation because an equivalent workload recently failed", want: []string{"it was not evaluated: an equal workload failed, so it would too"}},
		"a message nobody knows has no meaning":    {message: "something new"},
		"an empty message has no meaning":          {message: ""},
		"an unmapped class, inside a field error":  {message: `spec.podSets[0].template.spec.resourceClaims[0].resourceClaimTemplateName: Not found: "DeviceClass ghost.example.com is not mapped in DRA configuration for podset main"`, want: []string{"DeviceClass ghost.example.com is not mapped to a quota resource (pod set main)"}},
		"several field errors are told one by one": {message: `[a: Internal error: ResourceClaimTemplate two: insufficient matching devices for CEL selector in DeviceClass x: 1 device(s) match in the cluster but 2 requested, b: Internal error: ResourceClaimTemplate two: insufficient matching devices for CEL selector in DeviceClass y: 0 device(s) match in the cluster but 4 requested]`, want: []string{"DeviceClass x: 1 devices match the selectors, 2 are requested", "DeviceClass y: 0 devices match the selectors, 4 are requested"}},
		"a counter source without devices":         {message: "spec.podSets[0].template.spec.resourceClaims[0].devices.requests[0]: Internal error: insufficient matching devices for counter driver: 0 device(s) match but 1 requested", want: []string{"0 devices of the counter source's driver match, 1 are requested"}},
		"a class charged by counters":              {message: `spec.podSets[0].template.spec.containers[0]: Invalid value: "nvidia.com/gpu": extended resource nvidia.com/gpu resolves to DeviceClass gpu.nvidia.com with counters configured; use ResourceClaimTemplates with CEL selectors for counter-based quota`, want: []string{"nvidia.com/gpu resolves to DeviceClass gpu.nvidia.com, which is charged by sources; use a ResourceClaimTemplate instead"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Meaning(&metav1.Condition{Type: "QuotaReserved", Status: metav1.ConditionFalse, Message: tc.message})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("meaning (-want +got):\n%s", diff)
			}
		})
	}
}
