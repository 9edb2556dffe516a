package rulepack_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/rulepack"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// TestFirstPartyPacks holds the packs that the project ships to their own examples.
func TestFirstPartyPacks(t *testing.T) {
	set, err := rulepack.Load("../../../plugins/rules")
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Rules()) < 3 {
		t.Errorf("there are %d rules", len(set.Rules()))
	}
	outcomes, err := set.Test(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Wrong != "" {
			t.Errorf("%s:%d: %s (%s): %s", o.File, o.Line, o.Rule.ID, o.Example, o.Wrong)
		}
	}
}

// packOf is a pack with one rule, whose lines are given.
func packOf(lines ...string) string {
	return "apiVersion: gpuquota.dev/v1alpha1\nkind: RulePack\nmetadata: {name: test}\nspec:\n  rules:\n  - " + strings.Join(lines, "\n    ") + "\n"
}

// TestMistakesAreShownWhereTheyAre: every error names the line, and the column of the mistake inside an expression.
func TestMistakesAreShownWhereTheyAre(t *testing.T) {
	for name, tc := range map[string]struct{ pack, want string }{
		"an unknown variable": {
			packOf("id: HOUSE001", "name: x", "title: t", "match: {kinds: [Job]}", "expression: chrage.total.size() == 0", "message: m"),
			"pack.yaml:10:17: rule HOUSE001: expression: undeclared reference to 'chrage'\n   10 |     expression: chrage.total.size() == 0\n      |                 ^",
		},
		"an unknown field in a literal block": {
			packOf("id: HOUSE001", "name: x", "title: t", "match: {workloads: true}", "expression: |", "  charge.total.size() == 0", "    || queue.nmae == ''", "message: m"),
			"pack.yaml:12:17: rule HOUSE001: expression: undefined field 'nmae'\n   12 |         || queue.nmae == ''\n      |                 ^",
		},
		"a mistake after quotes in quotes": {
			packOf("id: HOUSE001", "name: x", "title: t", "match: {kinds: [Job]}", "expression: 'object.kind == ''Job'' && nothing'", "message: m"),
			"pack.yaml:10:44: rule HOUSE001: expression: undeclared reference to 'nothing'\n   10 |     expression: 'object.kind == ''Job'' && nothing'\n      |                                            ^",
		},
		"an expression that is no condition": {
			packOf("id: HOUSE001", "name: x", "title: t", "match: {workloads: true}", "expression: charge.total", "message: m"),
			"pack.yaml:10:17: rule HOUSE001: expression: it gives map(string, int), and must give bool\n   10 |     expression: charge.total\n      |                 ^",
		},
		"a charge of what is no workload": {
			packOf("id: HOUSE001", "name: x", "title: t", "match: {kinds: [ClusterQueue]}", "expression: charge.total.size() > 0", "message: m"),
			"pack.yaml:9:20: rule HOUSE001: charge is a variable of workloads, and a ClusterQueue is none\n    9 |     match: {kinds: [ClusterQueue]}\n      |                    ^",
		},
		"an unknown kind": {
			packOf("id: HOUSE001", "name: x", "title: t", "match: {kinds: [Job, Jobs]}", "expression: 'true'", "message: m"),
			"pack.yaml:9:26: rule HOUSE001: Jobs is not among the kinds that lint reads\n    9 |     match: {kinds: [Job, Jobs]}\n      |                          ^",
		},
		"a misspelled field of the pack": {
			packOf("id: HOUSE001", "name: x", "titel: t"),
			"pack.yaml:8:5: unknown field \"titel\"\n    8 |     titel: t\n      |     ^",
		},
		"a reserved ID": {
			packOf("id: GQ101", "name: x", "title: t", "match: {kinds: [Job]}", "expression: 'true'", "message: m"),
			"pack.yaml:6:9: rule GQ101: id GQ101: GQ is reserved for the program's own rules\n    6 |   - id: GQ101\n      |         ^",
		},
		"no message": {
			packOf("id: HOUSE001", "name: x", "title: t", "match: {kinds: [Job]}", "expression: 'true'"),
			"pack.yaml:6:5: rule HOUSE001: it needs a message or a messageExpression\n    6 |   - id: HOUSE001\n      |     ^",
		},
		"not YAML":     {"a: [", "pack.yaml:1: did not find expected node content"},
		"not a pack":   {"apiVersion: v1\nkind: ConfigMap\n", "pack.yaml:1:1: v1 \"ConfigMap\" is no rule pack: it must be of apiVersion gpuquota.dev/v1alpha1 and kind RulePack\n    1 | apiVersion: v1\n      | ^"},
		"an empty one": {"# nothing\n", "pack.yaml: it holds no rule pack"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rulepack.Parse("pack.yaml", []byte(tc.pack))
			if err == nil {
				t.Fatal("it was loaded")
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// applied is what the rule of a pack says about manifests: findings as `place severity[ID] message`, and the kinds missing.
func applied(t *testing.T, pack, manifests string) []string {
	t.Helper()
	set, err := rulepack.Parse("pack.yaml", []byte(pack))
	if err != nil {
		t.Fatal(err)
	}
	b := cluster.NewBuilder(nil)
	collect := lint.NewCollector(b.Sink(cluster.InputOptions{}))
	collect.Keep = set.Wants
	err = source.ReadBytes(context.Background(), "in.yaml", []byte(manifests), collect)
	snap := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	conf, err := config.Resolve(snap, config.Options{Version: "v0.19.2"})
	if err != nil {
		t.Fatal(err)
	}
	in := lint.Input{Snapshot: snap, Config: conf, Documents: collect.Documents, Kept: collect.Kept}
	result, err := lint.Run(context.Background(), in, lint.Options{Rules: set.Rules()})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range result.Findings {
		out = append(out, fmt.Sprintf("%s %s[%s] %s", f.At.Path, f.Severity, f.Rule.ID, f.Message))
	}
	for _, u := range result.Unevaluated {
		out = append(out, u.Rule.ID+" lacks "+strings.Join(u.Missing, ","))
	}
	return out
}

const rayJob = `
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: tune, namespace: team-a, uid: "1", labels: {kueue.x-k8s.io/queue-name: gpus}}
spec:
  ttlSecondsAfterFinished: 60
  shutdownAfterJobFinishes: true
  rayClusterSpec:
    headGroupSpec:
      template: {spec: {containers: [{name: head, resources: {requests: {cpu: 1}}}]}}
`

const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: gpus}}
spec:
  suspend: true
  parallelism: 3
  completions: 3
  template: {spec: {restartPolicy: Never, containers: [{name: main, resources: {requests: {cpu: 500m, nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 2}}}]}}
`

const kueueHere = `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations: {frameworks: [batch/job]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClassList
items: []
`

const template = `
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: team-a}
spec: {spec: {devices: {requests: [{name: gpu, deviceClassName: gpu.example.com}]}}}
`

const queues = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: gpus, namespace: team-a}
spec: {clusterQueue: all}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  cohortName: house
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors:
    - {name: a, resources: [{name: cpu, nominalQuota: 4}, {name: nvidia.com/gpu, nominalQuota: 8}]}
    - {name: b, resources: [{name: cpu, nominalQuota: 4}, {name: nvidia.com/gpu, nominalQuota: 2}]}
`

// TestWhatRulesSee: the variables hold what they say, and what is not in the input is not taken for nothing.
func TestWhatRulesSee(t *testing.T) {
	rule := func(match, expression, message string) string {
		return packOf("id: HOUSE001", "name: x", "title: t", "match: {"+match+"}", "expression: "+strconv.Quote(expression), "messageExpression: "+strconv.Quote(message))
	}
	for name, tc := range map[string]struct {
		pack, manifests string
		want            []string
	}{
		"fields of a kind that the program reads only in part": {
			rule("kinds: [RayJob]", "object.spec.ttlSecondsAfterFinished > 300", `"kept for " + string(object.spec.ttlSecondsAfterFinished) + "s"`), rayJob,
			[]string{"metadata.name warning[HOUSE001] kept for 60s"},
		},
		"the newest version, with defaults": {
			rule("kinds: [ResourceClaimTemplate]", "object.spec.spec.devices.requests[0].exactly.count > 1", `"mode " + object.spec.spec.devices.requests[0].exactly.allocationMode`), template,
			[]string{"metadata.name warning[HOUSE001] mode ExactCount"},
		},
		"devices over all pods": {
			rule("workloads: true", `charge.devices["nvidia.com/gpu"] < 6`, `string(charge.devices["nvidia.com/gpu"]) + " in " + string(charge.podSets[0].count)`), job,
			[]string{"metadata.name warning[HOUSE001] 6 in 3"},
		},
		"the charge in units": {
			rule("workloads: true", `charge.total["cpu"] != 1500`, "charge.verdict"), job + "---" + kueueHere,
			[]string{"metadata.name warning[HOUSE001] Charged"},
		},
		"the queue": {
			rule("workloads: true", `charge.devices["nvidia.com/gpu"] * 2 <= queue.nominal["nvidia.com/gpu"]`, `queue.clusterQueue + " in " + queue.cohort + ": " + queue.flavors.join("+")`), job + "---" + queues,
			[]string{"metadata.name warning[HOUSE001] all in house: a+b"},
		},
		"a queue that is not in the input": {
			rule("workloads: true", "queue.exists", "queue.name"), job,
			[]string{"HOUSE001 lacks LocalQueue"},
		},
		"a namespace that is not in the input": {
			rule("workloads: true, namespaceLabels: env=dev", "'false' == 'true'", "object.kind"), job,
			[]string{"HOUSE001 lacks Namespace"},
		},
		"a namespace with the label": {
			rule("workloads: true, namespaceLabels: env=dev", `"env" in cluster.namespaceLabels && false`, "cluster.namespaceLabels['env']"), job + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, labels: {env: dev}}\n",
			[]string{"metadata.name warning[HOUSE001] dev"},
		},
		"templates that are not in the input": {
			rule("workloads: true", "charge.devices.size() == 0", "'x'"), strings.Replace(job, "restartPolicy: Never", "restartPolicy: Never, resourceClaims: [{name: a, resourceClaimTemplateName: b}]", 1),
			[]string{"HOUSE001 lacks ResourceClaimTemplate"},
		},
		"an expression that fails": {
			rule("kinds: [Job]", "object.spec.nothing == 1", "'x'"), job,
			[]string{"metadata.name warning[GQ004] rule HOUSE001 (x) could not be applied: it failed on Job team-a/train: expression: no such key: nothing"},
		},
		"an expression that costs too much": {
			rule("kinds: [Job]", "lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, a + b + c >= 0)))", "'x'"), job,
			[]string{"metadata.name warning[GQ004] rule HOUSE001 (x) could not be applied: it failed on Job team-a/train: expression: operation cancelled: actual cost limit exceeded"},
		},
		"a condition that is none": {
			rule("kinds: [Job]", "object.kind", "'x'"), job,
			[]string{"metadata.name warning[GQ004] rule HOUSE001 (x) could not be applied: it failed on Job team-a/train: expression: it gives a string, not a bool"},
		},
		"labels that do not match": {
			rule("kinds: [Job], labels: team=b", "'false' == 'true'", "'x'"), job, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, applied(t, tc.pack, tc.manifests)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestExamplesThatDoNotHold: an example that the rule does not live up to fails, and says how.
func TestExamplesThatDoNotHold(t *testing.T) {
	manifests := "manifests: '" + strings.ReplaceAll(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"template":{}}}`, "'", "''") + "'"
	head := []string{"id: HOUSE001", "name: x", "title: t", "match: {kinds: [Job]}", "message: m"}
	for name, tc := range map[string]struct {
		lines []string
		want  []string
	}{
		"no examples":             {[]string{"expression: 'true'"}, []string{"good: there is no good example: nothing shows that the rule works", "bad: there is no bad example: nothing shows that the rule works"}},
		"a finding in a good one": {[]string{"expression: 1 == 2", "examples: {good: [{" + manifests + "}], bad: [{" + manifests + "}]}"}, []string{`good 1: there is a finding: "m"`, "bad 1: "}},
		"none in a bad one":       {[]string{"expression: 1 == 1", "examples: {good: [{" + manifests + "}], bad: [{" + manifests + "}]}"}, []string{"good 1: ", "bad 1: there is no finding"}},
		"another message":         {[]string{"expression: 1 == 2", "examples: {good: [{" + manifests + "}], bad: [{want: [other], " + manifests + "}]}"}, []string{`good 1: there is a finding: "m"`, `bad 1: message 1 is "m", and does not hold "other"`}},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := rulepack.Parse("pack.yaml", []byte(packOf(append(head, tc.lines...)...)))
			if err != nil {
				t.Fatal(err)
			}
			outcomes, err := set.Test(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range outcomes {
				got = append(got, o.Example+": "+o.Wrong)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestTheDocumentedPackWorks holds the pack shown in the documentation to its examples.
func TestTheDocumentedPackWorks(t *testing.T) {
	text, err := os.ReadFile("../../../docs/rule-packs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	pack, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the documentation shows no pack")
	}
	set, err := rulepack.Parse("rule-packs.md", []byte(pack))
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := set.Test(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Wrong != "" {
			t.Errorf("%s: %s", o.Example, o.Wrong)
		}
	}
}
