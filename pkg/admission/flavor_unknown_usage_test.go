package admission_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// An export of queues without the Workloads that use them: 8 GPUs of its own and 4 of its cohort's in flavor new, and 8
// in flavor old, which is tainted.
const queuesAlone = `apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations: {frameworks: [batch/job]}
---
{apiVersion: v1, kind: Namespace, metadata: {name: lab}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: new}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: old}
spec: {nodeTaints: [{key: old, value: "yes", effect: NoSchedule}]}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: lab}, spec: {clusterQueue: cq}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: shut, namespace: lab}, spec: {clusterQueue: shut}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: shut}
spec: {stopPolicy: Hold, namespaceSelector: {}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  cohortName: all
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors:
    - {name: new, resources: [{name: cpu, nominalQuota: 100}, {name: nvidia.com/gpu, nominalQuota: 8}]}
    - {name: old, resources: [{name: cpu, nominalQuota: 100}, {name: nvidia.com/gpu, nominalQuota: 8}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: neighbour}
spec:
  namespaceSelector: {}
  cohortName: all
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors: [{name: new, resources: [{name: cpu, nominalQuota: 100}, {name: nvidia.com/gpu, nominalQuota: 4}]}]
---
`

const aJob = `apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: lab, labels: {kueue.x-k8s.io/queue-name: lq}}
spec:
  parallelism: 1
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, resources: {requests: {cpu: 1, nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 2}}}]
`

func TestWhatIsCertainWhateverIsUsed(t *testing.T) {
	const never = "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor new, previously considered podsets requests (0) + " +
		"current podset request (14) > maximum capacity (12), untolerated taint {old yes NoSchedule <nil>} in flavor old"
	for name, tc := range map[string]struct {
		edit    []string // pairs of old and new
		state   admission.State
		message string
		missing []string
	}{
		"it fits its own quota: usage matters":                      {nil, admission.Unknown, "", []string{"Workload"}},
		"it fits by borrowing: usage matters":                       {[]string{"parallelism: 1", "parallelism: 6"}, admission.Unknown, "", []string{"Workload"}},
		"more than its queue can ever get":                          {[]string{"parallelism: 1", "parallelism: 7", "requests: {cpu: 1, ", "requests: {"}, admission.Pending, never, nil},
		"more than that, in a flavor; another takes it":             {[]string{"parallelism: 1", "parallelism: 4", "effect: NoSchedule", "effect: PreferNoSchedule", "nominalQuota: 4}", "nominalQuota: 0}", "{name: nvidia.com/gpu, nominalQuota: 8}]}\n    - {name: old", "{name: nvidia.com/gpu, nominalQuota: 2}]}\n    - {name: old"}, admission.Unknown, "", []string{"Workload"}},
		"fewer pods might do":                                       {[]string{"parallelism: 1", "parallelism: 7", "labels: {", "annotations: {kueue.x-k8s.io/job-min-parallelism: '1'}, labels: {"}, admission.Unknown, "", []string{"Workload"}},
		"too much even with the fewest pods":                        {[]string{"requests: {cpu: 1, ", "requests: {", "parallelism: 1", "parallelism: 9", "labels: {", "annotations: {kueue.x-k8s.io/job-min-parallelism: '7'}, labels: {"}, admission.Pending, strings.Replace(never, "(14)", "(18)", 1), nil},
		"a resource that is not covered":                            {[]string{"requests: {cpu: 1", "requests: {memory: 1Gi, cpu: 1"}, admission.Pending, "couldn't assign flavors to pod set main: resource memory unavailable in ClusterQueue", nil},
		"no flavor tolerates it":                                    {[]string{"name: new}}", "name: new}, spec: {nodeTaints: [{key: a, effect: NoExecute}]}}"}, admission.Pending, "couldn't assign flavors to pod set main: untolerated taint {a  NoExecute <nil>} in flavor new, untolerated taint {old yes NoSchedule <nil>} in flavor old", nil},
		"another resource may be short as well: the words are open": {[]string{"parallelism: 1", "parallelism: 7"}, admission.Pending, "", nil},
		"a queue that is stopped":                                   {[]string{"queue-name: lq", "queue-name: shut"}, admission.Inadmissible, "ClusterQueue shut is inactive", nil},
		"a queue that does not exist":                               {[]string{"queue-name: lq", "queue-name: none"}, admission.Inadmissible, "LocalQueue none doesn't exist", nil},
		"it may hold quota already":                                 {[]string{"parallelism: 1", "parallelism: 7", "suspend: true", "suspend: false", "name: j,", "name: j, uid: u,"}, admission.Unknown, "", []string{"Workload"}},
		"it may hold quota in a queue that is stopped":              {[]string{"queue-name: lq", "queue-name: shut", "suspend: true", "suspend: false", "name: j,", "name: j, uid: u,"}, admission.Unknown, "", []string{"Workload"}},
		"it is kept from running in one":                            {[]string{"queue-name: lq", "queue-name: shut", "name: j,", "name: j, uid: u,"}, admission.Inadmissible, "ClusterQueue shut is inactive", nil},
		"flavors are missing, too":                                  {[]string{"parallelism: 1", "parallelism: 7", "kind: ResourceFlavor", "kind: ResourceFlavour"}, admission.Unknown, "", []string{"ResourceFlavor", "Workload"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer(tc.edit...).Replace(queuesAlone + aJob)
			snap, err := cluster.FromBytes(context.Background(), "objects.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			conf, err := config.Resolve(snap, config.Options{Version: "v0.19.2"})
			if err != nil {
				t.Fatal(err)
			}
			l := corpus.LayersOf(snap, conf)
			if len(l.Charges) != 1 {
				t.Fatalf("%d workloads", len(l.Charges))
			}
			d := admission.New(l.Engine, l.Charges).Decide(l.Charges[0])
			if d.State != tc.state || d.Message != tc.message || !slices.Equal(d.Missing, tc.missing) {
				t.Errorf("%s %q, missing %v (%s)\nwant %s %q, missing %v", d.State, d.Message, d.Missing, d.Why, tc.state, tc.message, tc.missing)
			}
		})
	}
}

// TestNoClusterQueueInTheInput: whether one is missing or only left out of the input is told by what Kueue has written
// on the LocalQueue, if by anything.
func TestNoClusterQueueInTheInput(t *testing.T) {
	const queue = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: lq, namespace: lab}\nspec: {clusterQueue: cq}\n"
	for name, tc := range map[string]struct {
		status  string
		state   admission.State
		message string
		missing []string
	}{
		"it does not exist":      {"{type: Active, status: 'False', reason: ClusterQueueDoesNotExist}", admission.Inadmissible, "ClusterQueue cq doesn't exist", nil},
		"it exists":              {"{type: Active, status: 'True', reason: Ready}", admission.Unknown, "", []string{"ClusterQueue"}},
		"it exists, but is shut": {"{type: Active, status: 'False', reason: ClusterQueueIsInactive}", admission.Unknown, "", []string{"ClusterQueue"}},
		"nothing is written yet": {"", admission.Unknown, "", []string{"ClusterQueue"}},
	} {
		t.Run(name, func(t *testing.T) {
			start := strings.Index(queuesAlone, "\n---\n") + 1
			text := queuesAlone[:start] + "---\n" + queue + "status: {conditions: [" + tc.status + "]}\n---\n{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}\n---\n" + aJob
			l, err := corpus.Load("objects.yaml", []byte(text), config.Options{Version: "v0.19.2"})
			if err != nil {
				t.Fatal(err)
			}
			d := admission.New(l.Engine, l.Charges).Decide(l.Charges[0])
			if d.State != tc.state || d.Message != tc.message || !slices.Equal(d.Missing, tc.missing) {
				t.Errorf("%s %q, missing %v (%s)\nwant %s %q, missing %v", d.State, d.Message, d.Missing, d.Why, tc.state, tc.message, tc.missing)
			}
		})
	}
}

// TestTheClaimsAreRefusedFirst: what a workload's claims are refused for is said by the controller, so that the
// workload never gets into a queue that would not take it, and what that one would say is not said.
func TestTheClaimsAreRefusedFirst(t *testing.T) {
	const unmapped = `spec.podSets[0].template.spec.resourceClaims[0].resourceClaimTemplateName: Not found: "DeviceClass gpu is not mapped in DRA configuration for podset main"`
	claims := strings.NewReplacer("containers: [{name: c, resources: {requests: {cpu: 1, nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 2}}}]",
		"resourceClaims: [{name: g, resourceClaimTemplateName: t}]\n      containers: [{name: c, resources: {claims: [{name: g}]}}]").Replace(aJob) + `
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t, namespace: lab}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 1}}]}}}
---
{apiVersion: v1, kind: LimitRangeList, items: []}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadList, items: []}
`
	for name, tc := range map[string]struct{ old, new, message string }{
		"the queue is choosy":      {"", "", unmapped},
		"the queue takes it":       {"", "", unmapped},
		"the queue is stopped":     {"queue-name: lq", "queue-name: shut", unmapped},
		"the queue is not there":   {"queue-name: lq", "queue-name: none", unmapped},
		"only the queue is choosy": {"claims: [{name: g}]", "requests: {cpu: 1}", "workload namespace doesn't match ClusterQueue selector"},
	} {
		t.Run(name, func(t *testing.T) {
			text := queuesAlone + claims
			if strings.Contains(name, "choosy") {
				text = strings.Replace(text, "  namespaceSelector: {}\n  cohortName: all", "  cohortName: all", 1)
			}
			if name == "only the queue is choosy" {
				text = strings.Replace(text, "resourceClaims: [{name: g, resourceClaimTemplateName: t}]\n      ", "", 1)
			}
			if tc.old != "" {
				text = strings.Replace(text, tc.old, tc.new, 1)
			}
			l, err := corpus.Load("objects.yaml", []byte(text), config.Options{Version: "v0.19.2"})
			if err != nil {
				t.Fatal(err)
			}
			e := admission.New(l.Engine, l.Charges)
			if d := e.Decide(l.Charges[0]); d.State != admission.Inadmissible || d.Message != tc.message {
				t.Errorf("decided: %s %q", d.State, d.Message)
			}
			for _, replay := range []bool{false, true} {
				if o := e.Simulate(replay).Workloads[0]; o.State != admission.Inadmissible || o.Message != tc.message {
					t.Errorf("simulated, replay %t: %s %q", replay, o.State, o.Message)
				}
			}
		})
	}
}
