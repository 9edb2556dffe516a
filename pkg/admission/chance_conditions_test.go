package admission_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// behindAHead are three jobs in a StrictFIFO queue whose first does not fit.
const behindAHead = corpus.JobsAlone + `
{apiVersion: v1, kind: Namespace, metadata: {name: lab}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: lab}, spec: {clusterQueue: cq}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {queueingStrategy: StrictFIFO, namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 2}]}]}]}}
---
{apiVersion: v1, kind: LimitRangeList, items: []}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadList, items: []}
---
apiVersion: batch/v1
kind: Job
metadata: {name: wide, namespace: lab, creationTimestamp: "2026-01-01T00:00:01Z", labels: {kueue.x-k8s.io/queue-name: lq}}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: slim, namespace: lab, creationTimestamp: "2026-01-01T00:00:02Z", labels: {kueue.x-k8s.io/queue-name: lq}}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}
`

// TestWhoseTurnHasNotComeIsToldSo where the version and its gates have Kueue say so.
func TestWhoseTurnHasNotComeIsToldSo(t *testing.T) {
	const notYet = "Workload is pending evaluation in the scheduling queue"
	gates := func(observability, explicit bool) map[string]bool {
		return map[string]bool{"UnadmittedWorkloadsObservability": observability, "UnadmittedWorkloadsExplicitStatus": explicit}
	}
	for name, tc := range map[string]struct {
		gates           map[string]bool
		reason, message string
	}{
		"both gates":              {gates(true, true), "PendingEvaluation", notYet},
		"fine reasons alone":      {gates(true, false), "", ""},
		"as the version has them": {nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range []string{"v0.19.0", "v0.19.2"} {
				l, err := corpus.Load("objects.yaml", []byte(behindAHead), config.Options{Version: version, FeatureGates: tc.gates})
				if err != nil {
					t.Fatal(err)
				}
				for _, replay := range []bool{false, true} {
					for _, o := range admission.New(l.Engine, l.Charges).Simulate(replay).Workloads {
						if o.Charge.Workload.Owner.Ref.Name == "slim" && (o.State != admission.Pending || o.Reason != tc.reason || o.Message != tc.message) {
							t.Errorf("%s, replay %t: %s, reason %q, message %q", version, replay, o.State, o.Reason, o.Message)
						}
					}
				}
			}
		})
	}
}

// TestWhatIsNotCoveredMayGoUnsaid where the order of resources is arbitrary and reasons are fine: both were seen.
func TestWhatIsNotCoveredMayGoUnsaid(t *testing.T) {
	const message = "couldn't assign flavors to pod set main: resource example.com/npu unavailable in ClusterQueue"
	gates := map[string]bool{"UnadmittedWorkloadsObservability": true, "UnadmittedWorkloadsExplicitStatus": false}
	for name, tc := range map[string]struct {
		version, requests string
		gates             map[string]bool
		possible          []string
	}{
		"another resource may come first":   {"v0.19.0", "{cpu: 1, example.com/npu: 1}", gates, []string{message, ""}},
		"there is no other":                 {"v0.19.0", "{example.com/npu: 1}", gates, nil},
		"the reasons are coarse":            {"v0.19.0", "{cpu: 1, example.com/npu: 1}", nil, nil},
		"the order is that of the alphabet": {"v0.19.2", "{cpu: 1, example.com/npu: 1}", gates, nil},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(behindAHead, "{cpu: 3}", tc.requests, 1)
			l, err := corpus.Load("objects.yaml", []byte(text), config.Options{Version: tc.version, FeatureGates: tc.gates})
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range admission.New(l.Engine, l.Charges).Simulate(true).Workloads {
				if o.Charge.Workload.Owner.Ref.Name == "wide" && (o.Message != message || !slices.Equal(o.Possible, tc.possible)) {
					t.Errorf("message %q, possible %q", o.Message, o.Possible)
				}
			}
		})
	}
}
