package explain

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

const queues = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: team-a}
spec: {clusterQueue: alone}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: alone}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, gpu.memory]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: 40}
      - {name: gpu.memory, nominalQuota: 80Gi}
status:
  flavorsReservation:
  - name: a100
    resources:
    - {name: cpu, total: "39500m", borrowed: "0"}
    - {name: gpu.memory, total: 70Gi, borrowed: "0"}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: shares}
spec:
  namespaceSelector: {}
  cohortName: research
  resourceGroups:
  - coveredResources: [gpu.memory]
    flavors:
    - name: a100
      resources: [{name: gpu.memory, nominalQuota: 80Gi, borrowingLimit: 8Gi}]
status:
  flavorsReservation:
  - name: a100
    resources: [{name: gpu.memory, total: 70Gi, borrowed: "0"}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: unread}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [gpu.memory]
    flavors:
    - name: a100
      resources: [{name: gpu.memory, nominalQuota: 80Gi}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: held}
spec:
  namespaceSelector: {}
  stopPolicy: Hold
`

const gi = int64(1) << 30

func explained(t *testing.T, queue string, total charge.Amounts) *Explanation {
	t.Helper()
	snap, err := cluster.FromBytes(context.Background(), "queues.yaml", []byte(queues))
	if err != nil || len(snap.Problems) > 0 {
		t.Fatal(err, snap.Problems)
	}
	conf, err := config.Resolve(snap, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &workload.Workload{Namespace: "team-a", Name: "w", Queue: "lq", State: workload.Managed, Active: true, Index: -1, PodSets: []workload.PodSet{{Name: "main", Count: 1}}}
	c := &charge.Charge{
		Workload: w, ClusterQueue: queue, Verdict: charge.Charged, Total: total,
		PodSets: []charge.PodSet{{Name: "main", Count: 1, Totals: total, Spec: &corev1.PodSpec{}}},
	}
	engine := charge.NewEngine(snap, conf, device.NewInventory(snap, selector.Of(conf.Behavior)))
	return New(snap, conf, admission.New(engine, []*charge.Charge{c})).Explain(c)
}

func TestWithoutWorkloadsQuotaIsAsTheQueueReportsItAndNothingIsDecided(t *testing.T) {
	limit := 8 * gi
	cases := map[string]struct {
		queue string
		total charge.Amounts
		want  []QuotaLine
	}{
		"fits a queue of its own": {
			queue: "alone", total: charge.Amounts{"cpu": 500, "gpu.memory": 10 * gi},
			want: []QuotaLine{
				{Resource: "cpu", Flavor: "a100", Requested: 500, Nominal: 40000, Used: 39500, UsedKnown: true, Free: 500},
				{Resource: "gpu.memory", Flavor: "a100", Requested: 10 * gi, Nominal: 80 * gi, Used: 70 * gi, UsedKnown: true, Free: 10 * gi},
			},
		},
		"short in a cohort": {
			queue: "shares", total: charge.Amounts{"gpu.memory": 20 * gi},
			want: []QuotaLine{
				{Resource: "gpu.memory", Flavor: "a100", Requested: 20 * gi, Nominal: 80 * gi, Used: 70 * gi, UsedKnown: true, Free: 10 * gi, Short: 10 * gi, BorrowingLimit: &limit},
			},
		},
		"usage that is not in the input stays unknown": {
			queue: "unread", total: charge.Amounts{"gpu.memory": gi},
			want: []QuotaLine{{Resource: "gpu.memory", Flavor: "a100", Requested: gi, Nominal: 80 * gi}},
		},
		"more than the nominal quota is short whatever is used": {
			queue: "unread", total: charge.Amounts{"gpu.memory": 100 * gi},
			want: []QuotaLine{{Resource: "gpu.memory", Flavor: "a100", Requested: 100 * gi, Nominal: 80 * gi, Short: 20 * gi}},
		},
		"a resource the queue does not cover": {
			queue: "unread", total: charge.Amounts{"nvidia.com/gpu": 1},
			want: []QuotaLine{{Resource: "nvidia.com/gpu", Requested: 1}},
		},
		"nothing of a resource the queue does not cover is left out": {
			queue: "unread", total: charge.Amounts{"nvidia.com/gpu": 0, "gpu.memory": gi},
			want: []QuotaLine{{Resource: "gpu.memory", Flavor: "a100", Requested: gi, Nominal: 80 * gi}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			x := explained(t, tc.queue, tc.total)
			if diff := cmp.Diff(tc.want, x.Quota); diff != "" {
				t.Errorf("quota (-want +got):\n%s", diff)
			}
			if x.Predicted.State != Unknown || !slices.Contains(x.Predicted.Missing, "Workload") {
				t.Errorf("predicted %s, missing %v: without Workloads nobody knows what is in use", x.Predicted.State, x.Predicted.Missing)
			}
		})
	}
}

func TestStepsNameWhatStopsAQueue(t *testing.T) {
	cases := map[string]struct {
		queue string
		want  string
	}{
		"held":           {"held", "ClusterQueue held is stopped (spec.stopPolicy: Hold)"},
		"does not exist": {"gone", "there is no ClusterQueue gone"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, s := range explained(t, tc.queue, charge.Amounts{"cpu": 1}).Steps {
				if s.Check == "clusterQueue" && (s.Result != Fail || s.Detail != tc.want) {
					t.Errorf("step is %s: %q, want fail: %q", s.Result, s.Detail, tc.want)
				}
			}
		})
	}
}

func TestInconsistenciesNameAChargeThatWasFixedAtAdmission(t *testing.T) {
	four := int32(4)
	object := &kueue.Workload{Status: kueue.WorkloadStatus{Admission: &kueue.Admission{PodSetAssignments: []kueue.PodSetAssignment{{Name: "main", Count: &four}}}}}
	c := &charge.Charge{
		Workload: &workload.Workload{Object: object}, Verdict: charge.Charged,
		PodSets:   []charge.PodSet{{Name: "main", Count: 8}},
		Total:     charge.Amounts{"cpu": 8000, "gpu.memory": 80 * gi},
		Published: map[corev1.ResourceName]string{"cpu": "8", "gpu.memory": "40Gi"},
	}
	want := []string{"it was admitted with 40Gi of gpu.memory, but the objects now give another charge: a charge is fixed at admission (pod set main was admitted with 4 pods and now has 8)"}
	if diff := cmp.Diff(want, inconsistencies(&Explanation{Charge: c, Reported: Reported{State: Admitted}})); diff != "" {
		t.Errorf("inconsistencies (-want +got):\n%s", diff)
	}
}
