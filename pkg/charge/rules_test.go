package charge_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// rules are what the corpus shows of one rule at a time, told as small stories. Each gives the Kueue
// configuration's resources, the cluster, and one pod spec.
var rules = []rule{
	{
		name:    "an admin request is refused before its mode is looked at",
		mapping: "{name: gpus, deviceClassNames: [gpu.example.com]}",
		objects: []string{class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com, adminAccess: true, allocationMode: All}}")},
		pod:     claims("t"),
		refused: "spec.podSets[0].template.spec.resourceClaims[0].devices.requests[0].exactly.adminAccess: Invalid value: null: ResourceClaimTemplate t: AdminAccess is not supported",
	},
	{
		name:    "an admin request is free on main",
		version: "main",
		mapping: "{name: gpus, deviceClassNames: [gpu.example.com]}",
		objects: []string{class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com, adminAccess: true}}, {name: s, exactly: {deviceClassName: gpu.example.com, count: 2}}")},
		pod:     claims("t"),
		want:    charge.Amounts{"gpus": 2},
	},
	{
		name:    "admin access to an unmapped class is no error on main",
		version: "main",
		objects: []string{class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com, adminAccess: true}}")},
		pod:     claims("t"),
		want:    charge.Amounts{},
	},
	{
		name:    "the counter path words a missing class with a doubled path in v0.19.0",
		version: "v0.19.0",
		mapping: counterMapping("gpu.memory", "memory", "gpu.example.com"),
		objects: []string{class("other.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com}}"), slice("s", "gpu.example.com", 1, 1, "{name: a}")},
		pod:     claims("t"),
		refused: `spec.podSets[0].template.spec.resourceClaims[0].devices.requests[0].devices.requests[0]: Internal error: failed to get DeviceClass gpu.example.com: DeviceClass.resource.k8s.io "gpu.example.com" not found`,
	},
	{
		name:    "the counter path words a missing class plainly later",
		mapping: counterMapping("gpu.memory", "memory", "gpu.example.com"),
		objects: []string{class("other.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com}}"), slice("s", "gpu.example.com", 1, 1, "{name: a}")},
		pod:     claims("t"),
		refused: `spec.podSets[0].template.spec.resourceClaims[0].devices.requests[0]: Internal error: failed to get DeviceClass gpu.example.com: DeviceClass.resource.k8s.io "gpu.example.com" not found`,
	},
	{
		name:    "pools of one name on two nodes look incomplete to counters",
		mapping: counterMapping("gpu.memory", "memory", "gpu.example.com"),
		objects: []string{class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com}}"),
			slice("node-1", "gpu.example.com", 1, 1, memoryDevice("a", "4Gi")), slice("node-2", "gpu.example.com", 1, 1, memoryDevice("a", "4Gi"))},
		pod:     claims("t"),
		refused: "spec.podSets[0].template.spec.resourceClaims[0].devices.requests[0]: Internal error: insufficient matching devices for counter driver: 0 device(s) match but 1 requested",
	},
	{
		name:    "every device of a usable pool is evaluated for counters, so one that breaks refuses",
		mapping: counterMapping("gpu.memory", "memory", "gpu.example.com"),
		objects: []string{class("gpu.example.com", ""), template("t", `{name: r, exactly: {deviceClassName: gpu.example.com, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].grade == 1'}}]}}`),
			slice("s", "gpu.example.com", 1, 1, `{name: good, attributes: {grade: {int: 1}}, consumesCounters: [{counterSet: c, counters: {memory: {value: 4Gi}}}]}`, `{name: bad}`)},
		pod:     claims("t"),
		refused: "spec.podSets[0].template.spec.resourceClaims[0].devices.requests[0]: Internal error: CEL evaluation error in request selector for device bad: no such key: grade",
	},
	{
		name:    "the selector check of counts stops at the match it needs",
		mapping: "{name: gpus, deviceClassNames: [gpu.example.com]}",
		objects: []string{class("gpu.example.com", ""), template("t", `{name: r, exactly: {deviceClassName: gpu.example.com, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].grade == 1'}}]}}`),
			slice("s", "gpu.example.com", 1, 1, `{name: good, attributes: {grade: {int: 1}}}`, `{name: bad}`)},
		pod:  claims("t"),
		want: charge.Amounts{"gpus": 1},
	},
	{
		name:    "whether a breaking device is met first is chance between slices",
		mapping: "{name: gpus, deviceClassNames: [gpu.example.com]}",
		objects: []string{class("gpu.example.com", ""), template("t", `{name: r, exactly: {deviceClassName: gpu.example.com, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].grade == 1'}}]}}`),
			slice("s1", "gpu.example.com", 1, 2, `{name: good, attributes: {grade: {int: 1}}}`), slice("s2", "gpu.example.com", 1, 2, `{name: bad}`)},
		pod:     claims("t"),
		unknown: []string{},
		want:    charge.Amounts{"gpus": 1},
	},
	{
		name:    "a device is charged at the largest value that matches",
		mapping: counterMapping("gpu.memory", "memory", "gpu.example.com"),
		objects: []string{class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com, count: 2}}"),
			slice("s", "gpu.example.com", 1, 1, memoryDevice("small", "10Gi"), memoryDevice("large", "20Gi"))},
		pod:  claims("t"),
		want: charge.Amounts{"gpu.memory": 40 << 30},
	},
	{
		name:    "fractions: the largest device first, then up, then times the count",
		mapping: counterMapping("slots", "memory", "gpu.example.com"),
		objects: []string{class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com, count: 2}}"),
			slice("s", "gpu.example.com", 1, 1, memoryDevice("a", "1"), memoryDevice("b", "1500m"))},
		pod:  claims("t"),
		want: charge.Amounts{"slots": 4},
	},
	{
		name:    "a claim counts though no container uses it, and twice when named twice",
		mapping: "{name: gpus, deviceClassNames: [gpu.example.com]}",
		objects: []string{class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com}}")},
		pod:     claims("t", "t"),
		want:    charge.Amounts{"gpus": 2},
	},
	{
		name:    "sidecars are ordinary init containers for class-backed names",
		objects: []string{class("gpu.example.com", "example.com/gpu")},
		pod:     "initContainers: [{name: side, restartPolicy: Always, resources: {requests: {example.com/gpu: 1}}}, {name: init, resources: {requests: {example.com/gpu: 4}}}], containers: [{name: a, resources: {requests: {example.com/gpu: 1}}}, {name: b, resources: {requests: {example.com/gpu: 1}}}]",
		want:    charge.Amounts{"example.com/gpu": 4},
	},
	{
		name:    "2000m is stored as 2, a whole number",
		objects: []string{class("gpu.example.com", "example.com/gpu")},
		mapping: "{name: gpus, deviceClassNames: [gpu.example.com]}",
		pod:     "containers: [{name: a, resources: {requests: {example.com/gpu: 2000m}}}]",
		want:    charge.Amounts{"gpus": 2},
	},
	{
		name:    "and are added for device-plugin names",
		objects: []string{class("gpu.example.com", "")},
		pod:     "initContainers: [{name: side, restartPolicy: Always, resources: {requests: {example.com/gpu: 1}}}, {name: init, resources: {requests: {example.com/gpu: 4}}}], containers: [{name: a, resources: {requests: {example.com/gpu: 1}}}, {name: b, resources: {requests: {example.com/gpu: 1}}}]",
		want:    charge.Amounts{"example.com/gpu": 5},
	},
	{
		name:    "an excluded prefix does not stop a class-backed name",
		exclude: "[example.com/]",
		objects: []string{class("gpu.example.com", "example.com/gpu")},
		pod:     "containers: [{name: a, resources: {requests: {example.com/gpu: 2, example.com/other: 1}}}]",
		want:    charge.Amounts{"example.com/gpu": 2},
	},
	{
		name:      "a transformation of a class-backed name charges on top",
		mapping:   "{name: gpus, deviceClassNames: [gpu.example.com]}",
		transform: "{input: example.com/gpu, strategy: Replace, outputs: {credits: 10}}",
		objects:   []string{class("gpu.example.com", "example.com/gpu")},
		pod:       "containers: [{name: a, resources: {requests: {example.com/gpu: 2}}}]",
		want:      charge.Amounts{"gpus": 2, "credits": 20},
	},
	{
		name:      "a retained input is multiplied in v0.19.0",
		version:   "v0.19.0",
		transform: "{input: a.example.com/x, strategy: Retain, multiplyBy: a.example.com/n, outputs: {out: 1}}",
		pod:       "containers: [{name: a, resources: {requests: {a.example.com/x: 3, a.example.com/n: 4}}}]",
		objects:   []string{class("none.example.com", "")},
		want:      charge.Amounts{"a.example.com/x": 12, "a.example.com/n": 4, "out": 12},
	},
	{
		name:      "and kept as requested later",
		transform: "{input: a.example.com/x, strategy: Retain, multiplyBy: a.example.com/n, outputs: {out: 1}}",
		pod:       "containers: [{name: a, resources: {requests: {a.example.com/x: 3, a.example.com/n: 4}}}]",
		objects:   []string{class("none.example.com", "")},
		want:      charge.Amounts{"a.example.com/x": 3, "a.example.com/n": 4, "out": 12},
	},
	{
		name:      "a negative output is charged in v0.19.0",
		version:   "v0.19.0",
		transform: "{input: a.example.com/x, strategy: Replace, outputs: {example.com/out: -2}}",
		pod:       "containers: [{name: a, resources: {requests: {a.example.com/x: 4}}}]",
		objects:   []string{class("none.example.com", "")},
		want:      charge.Amounts{"example.com/out": -8},
	},
	{
		name:      "and is zero later",
		transform: "{input: a.example.com/x, strategy: Replace, outputs: {example.com/out: -2}}",
		pod:       "containers: [{name: a, resources: {requests: {a.example.com/x: 4}}}]",
		objects:   []string{class("none.example.com", "")},
		want:      charge.Amounts{"example.com/out": 0},
	},
	{
		name:      "an output of a requested name is chance in v0.19.0",
		version:   "v0.19.0",
		transform: "{input: a.example.com/x, strategy: Replace, outputs: {a.example.com/y: 10}}",
		pod:       "containers: [{name: a, resources: {requests: {a.example.com/x: 1, a.example.com/y: 3}}}]",
		objects:   []string{class("none.example.com", "")},
		want:      charge.Amounts{"a.example.com/y": 13},
		unknown:   []string{},
	},
	{
		name:    "several unmapped classes: v0.19.0 names any of them",
		version: "v0.19.0",
		objects: []string{class("a.example.com", ""), class("b.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: a.example.com}}, {name: s, exactly: {deviceClassName: b.example.com}}")},
		pod:     claims("t"),
		refused: `spec.podSets[0].template.spec.resourceClaims[0].resourceClaimTemplateName: Not found: "DeviceClass b.example.com is not mapped in DRA configuration for podset main"`,
	},
	{
		name:    "no slices in the input: a counter charge is unknown",
		mapping: counterMapping("gpu.memory", "memory", "gpu.example.com"),
		objects: []string{class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com}}")},
		pod:     claims("t"),
		want:    charge.Amounts{},
		unknown: []string{"ResourceSlice"},
	},
	{
		name:    "no slices in the input: a count without selectors does not need them",
		mapping: "{name: gpus, deviceClassNames: [gpu.example.com]}",
		objects: []string{class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com}}")},
		pod:     claims("t"),
		want:    charge.Amounts{"gpus": 1},
	},
	{
		name:    "no template in the input: unknown, not missing",
		mapping: "{name: gpus, deviceClassNames: [gpu.example.com]}",
		objects: []string{class("gpu.example.com", "")},
		pod:     claims("t"),
		want:    charge.Amounts{},
		unknown: []string{"ResourceClaimTemplate"},
	},
	{
		name:    "a refusal in one claim is certain though another can't be read",
		mapping: "{name: gpus, deviceClassNames: [gpu.example.com]}",
		objects: []string{class("gpu.example.com", ""),
			template("counted", `{name: r, exactly: {deviceClassName: gpu.example.com, selectors: [{cel: {expression: "true"}}]}}`), template("all", "{name: r, exactly: {deviceClassName: gpu.example.com, allocationMode: All}}")},
		pod:     claims("counted", "all"),
		refused: "",
		certain: true,
	},
	{
		name:    "classes of one extended name without timestamps: which one counts is unknown",
		mapping: "{name: gpus, deviceClassNames: [a.example.com]}, {name: cards, deviceClassNames: [b.example.com]}",
		objects: []string{class("a.example.com", "example.com/gpu"), class("b.example.com", "example.com/gpu")},
		pod:     "containers: [{name: a, resources: {requests: {example.com/gpu: 2}}}]",
		want:    charge.Amounts{"gpus": 2},
		unknown: []string{},
	},
	{
		name:    "two names with one key in v0.19.0 are joined per container",
		version: "v0.19.0",
		mapping: "{name: gpus, deviceClassNames: [a.example.com, b.example.com]}",
		objects: []string{class("a.example.com", "example.com/a"), class("b.example.com", "example.com/b")},
		pod:     "initContainers: [{name: i, resources: {requests: {example.com/a: 5}}}], containers: [{name: m, resources: {requests: {example.com/b: 3}}}]",
		want:    charge.Amounts{"gpus": 5},
	},
	{
		name:    "two names with one key are summed later",
		mapping: "{name: gpus, deviceClassNames: [a.example.com, b.example.com]}",
		objects: []string{class("a.example.com", "example.com/a"), class("b.example.com", "example.com/b")},
		pod:     "initContainers: [{name: i, resources: {requests: {example.com/a: 5}}}], containers: [{name: m, resources: {requests: {example.com/b: 3}}}]",
		want:    charge.Amounts{"gpus": 8},
	},
	{
		name:    "a limit alone does not reach the device class",
		mapping: "{name: gpus, deviceClassNames: [a.example.com]}",
		objects: []string{class("a.example.com", "example.com/a")},
		pod:     "containers: [{name: m, resources: {limits: {example.com/a: 3}}}]",
		want:    charge.Amounts{"example.com/a": 3},
	},
	{
		name:    "but does when another request brings the workload onto the path",
		mapping: "{name: gpus, deviceClassNames: [a.example.com, b.example.com]}",
		objects: []string{class("a.example.com", "example.com/a"), class("b.example.com", "example.com/b")},
		pod:     "containers: [{name: m, resources: {limits: {example.com/a: 3}, requests: {example.com/b: 1}}}]",
		want:    charge.Amounts{"gpus": 4},
	},
	{
		name:    "selectors are refused in 0.17",
		version: "v0.17.0", gates: map[string]bool{"DynamicResourceAllocation": true},
		mapping: "{name: gpus, deviceClassNames: [gpu.example.com]}",
		objects: []string{class("gpu.example.com", ""), template("t", `{name: r, exactly: {deviceClassName: gpu.example.com, selectors: [{cel: {expression: "true"}}]}}`)},
		pod:     claims("t"),
		refused: "spec.podSets[0].template.spec.resourceClaims[0].devices.requests[0].exactly.selectors: Invalid value: null: ResourceClaimTemplate t: CEL selectors are not supported",
	},
	{
		name:    "claims are silently free in 0.17 by default",
		version: "v0.17.0",
		mapping: "{name: gpus, deviceClassNames: [gpu.example.com]}",
		objects: []string{class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com}}")},
		pod:     claims("t"),
		want:    charge.Amounts{},
	},
	{
		name:    "counters of the first set only in 0.18",
		version: "v0.18.6", gates: map[string]bool{"KueueDRAIntegrationPartitionableDevices": true},
		mapping: counterMapping("gpu.memory", "memory", "gpu.example.com"),
		objects: []string{class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com}}"),
			slice("s", "gpu.example.com", 1, 1, "{name: a, consumesCounters: [{counterSet: x, counters: {memory: {value: 1Gi}}}, {counterSet: y, counters: {memory: {value: 3Gi}}}]}")},
		pod:  claims("t"),
		want: charge.Amounts{"gpu.memory": 1 << 30},
	},
}

type rule struct {
	name, version      string
	gates              map[string]bool
	mapping, transform string
	exclude            string
	objects            []string
	pod                string

	want    charge.Amounts
	refused string   // the message, or one that is possible
	certain bool     // refused, in words that can't be told
	unknown []string // not nil: unknown, with these kinds missing
}

func (r rule) cluster() string {
	config := "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nintegrations: {frameworks: [batch/job]}\nresources:\n  deviceClassMappings: [" + r.mapping +
		"]\n  transformations: [" + r.transform + "]\n"
	if r.exclude != "" {
		config += "  excludeResourcePrefixes: " + r.exclude + "\n"
	}
	job := "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {template: {spec: {" + r.pod + "}}}}"
	return strings.Join(append([]string{config, job}, r.objects...), "\n---\n")
}

func TestRules(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { r.check(t, r.charge(t)) })
	}
}

// charge is the charge of the rule's one workload.
func (r rule) charge(t *testing.T) *charge.Charge {
	t.Helper()
	snap, err := cluster.FromBytes(context.Background(), "rule.yaml", []byte(r.cluster()))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range snap.Problems {
		t.Fatal(p)
	}
	version := r.version
	if version == "" {
		version = "v0.19.2"
	}
	cfg, err := config.Resolve(snap, config.Options{Version: version, FeatureGates: r.gates})
	if err != nil {
		t.Fatal(err)
	}
	all := charge.NewEngine(snap, cfg, device.NewInventory(snap, selector.Of(cfg.Behavior))).Charges(workload.Find(snap, cfg, workload.Options{}))
	if len(all) != 1 {
		t.Fatalf("%d workloads", len(all))
	}
	return all[0]
}

func (r rule) check(t *testing.T, c *charge.Charge) {
	want := charge.Charged
	switch {
	case r.refused != "" || r.certain:
		want = charge.Inadmissible
	case r.unknown != nil:
		want = charge.Unknown
	}
	if c.Verdict != want {
		t.Errorf("verdict %s, want %s; problems %+v, missing %v", c.Verdict, want, c.Problems, c.Missing)
	}
	if want == charge.Inadmissible {
		if r.refused != "" && !slices.ContainsFunc(c.Problems, func(p charge.Problem) bool {
			return p.KueueMessage == r.refused || slices.Contains(p.Possible, r.refused)
		}) {
			t.Errorf("got  %+v\nwant %s", c.Problems, r.refused)
		}
		return
	}
	if r.unknown != nil {
		if diff := cmp.Diff(r.unknown, append([]string{}, c.Missing...)); diff != "" {
			t.Errorf("missing (-want +got)\n%s", diff)
		}
	}
	if diff := cmp.Diff(r.want, c.Total); diff != "" {
		t.Errorf("charge (-want +got)\n%s", diff)
	}
}
