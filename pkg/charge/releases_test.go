package charge_test

import (
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
)

// TestChargesByRelease tells, rule by rule, in which release the charge of one and the same job changes.
func TestChargesByRelease(t *testing.T) {
	const gpu = "gpu.example.com"
	gpus := "{name: gpus, deviceClassNames: [" + gpu + "]}"
	extended := class(gpu, "example.com/gpu")
	overhead := "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: vm}\nhandler: vm\noverhead: {podFixed: {example.com/gpu: 1}}\n"
	limits := "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: default}\nspec: {limits: [{type: Container, defaultRequest: {cpu: 2}}]}\n"
	tests := map[string]struct {
		rule rule
		want map[string]charge.Amounts
	}{
		"a limit stands for the request it lacks, before the default of a LimitRange": {
			rule: rule{objects: []string{limits}, pod: "containers: [{name: c, resources: {limits: {cpu: 8}}}]"},
			want: map[string]charge.Amounts{
				"v0.18.6": {"cpu": 2000}, "v0.18.7": {"cpu": 8000}, "v0.19.2": {"cpu": 2000}, "v0.19.3": {"cpu": 8000}, "v0.20.0": {"cpu": 8000}},
		},
		"overhead of an extended resource stays under its own name": {
			rule: rule{mapping: gpus, objects: []string{extended, overhead},
				pod: "runtimeClassName: vm, containers: [{name: c, resources: {requests: {example.com/gpu: 1}, limits: {example.com/gpu: 1}}}]"},
			want: map[string]charge.Amounts{"v0.19.5": {"gpus": 1}, "v0.19.6": {"gpus": 1, "example.com/gpu": 1}, "v0.20.0": {"gpus": 1, "example.com/gpu": 1}},
		},
		"overhead of an extended resource without mapping is added to it": {
			rule: rule{objects: []string{extended, overhead},
				pod: "runtimeClassName: vm, containers: [{name: c, resources: {requests: {example.com/gpu: 1}, limits: {example.com/gpu: 1}}}]"},
			want: map[string]charge.Amounts{"v0.19.5": {"example.com/gpu": 1}, "v0.19.6": {"example.com/gpu": 2}},
		},
		"the output of a transformation named like an extended resource stays": {
			rule: rule{mapping: gpus, objects: []string{extended}, transform: "{input: example.com/card, strategy: Replace, outputs: {example.com/gpu: 3}}",
				pod: "containers: [{name: c, resources: {requests: {example.com/gpu: 1, example.com/card: 1}, limits: {example.com/gpu: 1, example.com/card: 1}}}]"},
			want: map[string]charge.Amounts{"v0.19.5": {"gpus": 1}, "v0.19.6": {"gpus": 1, "example.com/gpu": 3}},
		},
		"a sidecar's devices are added to those of the main container": {
			rule: rule{mapping: gpus, objects: []string{extended},
				pod: "initContainers: [{name: s, restartPolicy: Always, resources: {requests: {example.com/gpu: 1}}}], containers: [{name: c, resources: {requests: {example.com/gpu: 1}}}]"},
			want: map[string]charge.Amounts{"v0.19.5": {"gpus": 1}, "v0.19.6": {"gpus": 2}, "main": {"gpus": 2}},
		},
		"pod-level requests below what the containers ask for": {
			rule: rule{pod: "resources: {requests: {cpu: 1}}, containers: [{name: c, resources: {requests: {cpu: 8}}}]"},
			want: map[string]charge.Amounts{"v0.19.5": {"cpu": 1000}, "v0.19.6": {"cpu": 8000}, "v0.20.0": {"cpu": 8000}},
		},
		"pod-level requests above it are what counts": {
			rule: rule{pod: "resources: {requests: {cpu: 9}}, containers: [{name: c, resources: {requests: {cpu: 8}}}]"},
			want: map[string]charge.Amounts{"v0.19.5": {"cpu": 9000}, "v0.19.6": {"cpu": 9000}},
		},
		"an excluded input still gives its output": {
			rule: rule{objects: []string{class(gpu, "")}, exclude: "[example.com/]", transform: "{input: example.com/gpu, strategy: Replace, outputs: {credits: 5}}",
				pod: "containers: [{name: c, resources: {requests: {example.com/gpu: 2}, limits: {example.com/gpu: 2}}}]"},
			want: map[string]charge.Amounts{"v0.19.5": {}, "v0.19.6": {"credits": 10}, "v0.20.0": {"credits": 10}},
		},
		"an excluded multiplier still multiplies": {
			rule: rule{objects: []string{class(gpu, "")}, exclude: "[example.com/]", transform: "{input: cpu, strategy: Replace, multiplyBy: example.com/gpu, outputs: {credits: 1}}",
				pod: "containers: [{name: c, resources: {requests: {cpu: 2, example.com/gpu: 3}, limits: {example.com/gpu: 3}}}]"},
			want: map[string]charge.Amounts{"v0.19.7": {"credits": 2}, "v0.20.0": {"credits": 6}},
		},
		"admin access": {
			rule: rule{mapping: gpus, objects: []string{class(gpu, ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com, adminAccess: true}}")}, pod: claims("t")},
			want: map[string]charge.Amounts{"v0.19.7": nil, "v0.20.0": {}, "main": {}},
		},
		"alternatives of the same count and resource, with the gate": {
			rule: rule{gates: map[string]bool{"KueueDRAIntegrationPrioritizedList": true},
				mapping: "{name: gpus, deviceClassNames: [a100.example.com, mig.example.com]}",
				objects: []string{class("a100.example.com", ""), class("mig.example.com", ""),
					template("t", "{name: r, firstAvailable: [{name: x, deviceClassName: a100.example.com, count: 2}, {name: y, deviceClassName: mig.example.com, count: 2}]}")},
				pod: claims("t")},
			want: map[string]charge.Amounts{"v0.20.0": {"gpus": 2}, "main": {"gpus": 2}},
		},
		"alternatives without the gate": {
			rule: rule{mapping: "{name: gpus, deviceClassNames: [a100.example.com]}",
				objects: []string{class("a100.example.com", ""), template("t", "{name: r, firstAvailable: [{name: x, deviceClassName: a100.example.com}]}")},
				pod:     claims("t")},
			want: map[string]charge.Amounts{"v0.19.7": nil, "v0.20.0": nil},
		},
	}
	for name, tc := range tests {
		for version, want := range tc.want {
			t.Run(name+"/"+version, func(t *testing.T) {
				r := tc.rule
				r.version, r.want, r.certain = version, want, want == nil
				r.check(t, r.charge(t))
			})
		}
	}
}

// TestPrioritizedListRefusals: alternatives that do not cost the same are refused, each with the alternative at fault.
func TestPrioritizedListRefusals(t *testing.T) {
	const at = "spec.podSets[0].template.spec.resourceClaims[0].devices.requests[0].firstAvailable[1]"
	tests := map[string]struct{ second, want string }{
		"another count":    {"{name: y, deviceClassName: mig.example.com, count: 2}", at + ".count: Invalid value: 2: ResourceClaimTemplate t: every alternative must have count 1, this one has 2"},
		"another resource": {"{name: y, deviceClassName: nic.example.com}", at + `.deviceClassName: Invalid value: "nic.example.com": ResourceClaimTemplate t: every alternative must map to "gpus", this one maps to "nics"`},
		"counters": {"{name: y, deviceClassName: part.example.com}", at + `.deviceClassName: Invalid value: "part.example.com": ` +
			"ResourceClaimTemplate t: a counter-backed or capacity-backed DeviceClass is not supported for firstAvailable"},
		"all devices": {"{name: y, deviceClassName: mig.example.com, allocationMode: All}", at + `.allocationMode: Invalid value: "All": ResourceClaimTemplate t: AllocationMode 'All' is not supported`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := rule{version: "v0.20.0", gates: map[string]bool{"KueueDRAIntegrationPrioritizedList": true},
				mapping: "{name: gpus, deviceClassNames: [a100.example.com, mig.example.com]}, {name: nics, deviceClassNames: [nic.example.com]}, " +
					counterMapping("memory.example.com", "memory", "part.example.com"),
				objects: []string{class("a100.example.com", ""), class("mig.example.com", ""), class("nic.example.com", ""), class("part.example.com", ""),
					template("t", "{name: r, firstAvailable: [{name: x, deviceClassName: a100.example.com}, "+tc.second+"]}")},
				pod: claims("t"), refused: tc.want}
			r.check(t, r.charge(t))
		})
	}
}
