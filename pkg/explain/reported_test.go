package explain

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(noon)}
}

func waitingChargeOf(wl *kueue.Workload) *charge.Charge {
	return &charge.Charge{Workload: &workload.Workload{Object: wl, State: workload.Managed}}
}

func TestReportedStateFollowsTheStrongestCondition(t *testing.T) {
	yes, no := metav1.ConditionTrue, metav1.ConditionFalse
	inactive := false
	reserved := condition("QuotaReserved", yes, "QuotaReserved", "Quota reserved in ClusterQueue q")
	admitted := condition("Admitted", yes, "Admitted", "The workload is admitted")
	preempted := condition("Evicted", yes, "Preempted", "Preempted to accommodate a workload (UID: a, JobUID: b) due to reclamation within the cohort; preemptor path: /b; preemptee path: /a")
	short := "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor a, 1 more needed"

	cases := map[string]struct {
		conditions []metav1.Condition
		active     *bool
		want       Reported
	}{
		"nothing written yet": {
			want: Reported{State: Pending, Meaning: []string{"Kueue has not written whether it reserved quota: the workload was not evaluated yet, waits behind the head of its queue, or is parked because an equal workload failed"}},
		},
		"admitted": {
			conditions: []metav1.Condition{reserved, admitted},
			want:       Reported{State: Admitted, Condition: "Admitted", Status: "True", Reason: "Admitted", Message: "The workload is admitted", Since: noon, Meaning: []string{"its pods may run"}},
		},
		"finished, though still admitted": {
			conditions: []metav1.Condition{reserved, admitted, condition("Finished", yes, "Succeeded", "done")},
			want:       Reported{State: Finished, Condition: "Finished", Status: "True", Reason: "Succeeded", Message: "done", Since: noon},
		},
		"reserved, an admission check outstanding": {
			conditions: []metav1.Condition{reserved},
			want:       Reported{State: QuotaReserved, Condition: "QuotaReserved", Status: "True", Reason: "QuotaReserved", Message: "Quota reserved in ClusterQueue q", Since: noon, Meaning: []string{"ClusterQueue q holds its quota"}},
		},
		"waiting, in the words of the scheduler": {
			conditions: []metav1.Condition{condition("QuotaReserved", no, "Pending", short)},
			want:       Reported{State: Pending, Condition: "QuotaReserved", Status: "False", Reason: "Pending", Message: short, Since: noon, Meaning: []string{"cpu: flavor a was short by 1"}},
		},
		"refused, in the words of the controller": {
			conditions: []metav1.Condition{condition("QuotaReserved", no, "Inadmissible", "ClusterQueue q doesn't exist")},
			want:       Reported{State: Inadmissible, Condition: "QuotaReserved", Status: "False", Reason: "Inadmissible", Message: "ClusterQueue q doesn't exist", Since: noon, Meaning: []string{"there is no ClusterQueue q"}},
		},
		"refused, with the granular reason": {
			conditions: []metav1.Condition{condition("QuotaReserved", no, "Misconfigured", "ClusterQueue q doesn't exist")},
			want:       Reported{State: Inadmissible, Condition: "QuotaReserved", Status: "False", Reason: "Misconfigured", Message: "ClusterQueue q doesn't exist", Since: noon, Meaning: []string{"there is no ClusterQueue q"}},
		},
		"just preempted": {
			conditions: []metav1.Condition{preempted, condition("QuotaReserved", no, "Pending", preempted.Message)},
			want:       Reported{State: Evicted, Condition: "Evicted", Status: "True", Reason: "Preempted", Message: preempted.Message, Since: noon, Meaning: []string{"it was preempted for another workload, by reclamation within the cohort"}},
		},
		"preempted, and evaluated again since": {
			conditions: []metav1.Condition{preempted, condition("QuotaReserved", no, "Pending", short)},
			want:       Reported{State: Pending, Condition: "QuotaReserved", Status: "False", Reason: "Pending", Message: short, Since: noon, Meaning: []string{"cpu: flavor a was short by 1", "it ran before and was evicted: it was preempted for another workload, by reclamation within the cohort"}},
		},
		"deactivated": {
			conditions: []metav1.Condition{condition("QuotaReserved", no, "Pending", short), condition("Evicted", yes, "Deactivated", "The workload is deactivated")},
			active:     &inactive,
			want:       Reported{State: Deactivated, Condition: "Evicted", Status: "True", Reason: "Deactivated", Message: "The workload is deactivated", Since: noon, Meaning: []string{"spec.active was set to false: it is not queued until it is true again"}},
		},
		"deactivated before Kueue noticed": {
			active: &inactive,
			want:   Reported{State: Deactivated, Meaning: []string{"spec.active is false: Kueue does not queue it until it is set to true"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := report(waitingChargeOf(&kueue.Workload{Spec: kueue.WorkloadSpec{Active: tc.active}, Status: kueue.WorkloadStatus{Conditions: tc.conditions}}))
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReportedNamesOutstandingAdmissionChecks(t *testing.T) {
	wl := &kueue.Workload{Status: kueue.WorkloadStatus{
		Conditions:      []metav1.Condition{condition("QuotaReserved", metav1.ConditionTrue, "QuotaReserved", "Quota reserved in ClusterQueue q")},
		AdmissionChecks: []kueue.AdmissionCheckState{{Name: "ask", State: kueue.CheckStatePending, Message: "waiting for budget"}, {Name: "done", State: kueue.CheckStateReady}},
	}}
	want := []string{"ClusterQueue q holds its quota", "admission check ask is Pending: waiting for budget"}
	if diff := cmp.Diff(want, report(waitingChargeOf(wl)).Meaning); diff != "" {
		t.Errorf("meaning (-want +got):\n%s", diff)
	}
}

func TestReportedIsStaleWhenTheSpecIsNewer(t *testing.T) {
	old := condition("QuotaReserved", metav1.ConditionFalse, "Pending", "x")
	old.ObservedGeneration = 1
	wl := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: kueue.WorkloadStatus{Conditions: []metav1.Condition{old}}}
	if !report(waitingChargeOf(wl)).Stale {
		t.Error("a condition of generation 1 on an object of generation 2 is not called stale")
	}
	old.ObservedGeneration = 2
	wl.Status.Conditions[0] = old
	if report(waitingChargeOf(wl)).Stale {
		t.Error("a condition of the current generation is called stale")
	}
}
