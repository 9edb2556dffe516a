package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// TestWhereTheSchedulerStopsAtAPodSetNothingIsPromised: Kueue stops at a pod set that asks for nothing its queue
// covers, such as a launcher with 0 GPUs of another kind. Where others would have to give way, its scheduler then
// crashes; where nobody has to, the API server refuses the admission. Both were seen.
func TestWhereTheSchedulerStopsAtAPodSetNothingIsPromised(t *testing.T) {
	for name, c := range map[string]struct {
		launcher        string
		used            int
		why, whyBehind  string
		simulatedBehind admission.State
	}{
		"others would have to give way": {
			launcher: `{example.com/nic: "0"}`, used: 8,
			why: "over which its scheduler then crashes", whyBehind: "the scheduler of Kueue crashes over team/wide", simulatedBehind: admission.Unknown,
		},
		"nobody has to": {
			launcher: `{example.com/nic: "0"}`, used: 0,
			why: "the API server refuses an admission without all pod sets", simulatedBehind: admission.Pending,
		},
		"a pod set that asks for nothing at all is passed over": {launcher: `{}`, used: 0, simulatedBehind: admission.Pending},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := corpus.Load("dump.yaml", []byte(stopsAtAPodSet(c.launcher, c.used)), config.Options{Version: "v0.19.2"})
			if err != nil {
				t.Fatal(err)
			}
			e := admission.New(l.Engine, l.Charges)
			states := map[string]admission.Outcome{}
			for _, o := range e.Simulate(false).Workloads {
				states[o.Charge.Workload.Name] = o
			}
			for _, ch := range l.Charges {
				if ch.Workload.Name != "wide" {
					continue
				}
				d := e.Decide(ch)
				for where, got := range map[string]struct {
					state admission.State
					why   string
				}{"decided": {d.State, d.Why}, "simulated": {states["wide"].State, states["wide"].Why}} {
					if c.why == "" {
						if got.state != admission.Admitted {
							t.Errorf("%s: it is %s: %s", where, got.state, got.why)
						}
					} else if got.state != admission.Unknown || !strings.HasSuffix(got.why, c.why) {
						t.Errorf("%s: it is %s, %q; want Unknown, %q", where, got.state, got.why, c.why)
					}
				}
			}
			if got := states["behind"]; got.State != c.simulatedBehind || got.Why != c.whyBehind {
				t.Errorf("the one behind it is %s, %q; want %s, %q", got.State, got.Why, c.simulatedBehind, c.whyBehind)
			}
		})
	}
}

func stopsAtAPodSet(launcher string, used int) string {
	podSet := func(name, requests string) string {
		return fmt.Sprintf("  - {name: %s, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: %s}}]}}}\n", name, requests)
	}
	workload := func(name string, priority int, sets ...string) string {
		return fmt.Sprintf("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: %s, namespace: team, uid: %s, creationTimestamp: '2026-01-05T08:0%d:00Z'}\n"+
			"spec:\n  active: true\n  queueName: lq\n  priority: %d\n  podSets:\n%s", name, name, 9-priority/10, priority, strings.Join(sets, ""))
	}
	out := `
apiVersion: v1
kind: Namespace
metadata: {name: team, labels: {kubernetes.io/metadata.name: team}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data: {controller_manager_config.yaml: "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: team}
spec: {clusterQueue: cq}
`
	gpus := func(n int) string { return fmt.Sprintf(`{nvidia.com/gpu: "%d"}`, n) }
	if used > 0 {
		out += workload("low", 0, podSet("main", gpus(used))) + fmt.Sprintf(`status:
  admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 1, flavors: {nvidia.com/gpu: a100}, resourceUsage: %s}]}
  conditions:
  - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: m, lastTransitionTime: '2026-01-05T08:10:00Z'}
  - {type: Admitted, status: "True", reason: Admitted, message: m, lastTransitionTime: '2026-01-05T08:10:00Z'}
`, gpus(used))
	}
	return out + workload("wide", 30, podSet("driver", gpus(4)), podSet("launcher", launcher), podSet("worker", gpus(2))) + workload("behind", 10, podSet("main", gpus(16)))
}
