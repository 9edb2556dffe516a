package explain

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
)

// waitingStates maps the reason of QuotaReserved=False to the state it means. Releases before the
// granular reasons write Pending (scheduler) or Inadmissible (controller); newer ones, with
// UnadmittedWorkloadsObservability, one reason per cause. A reason not listed means Pending.
var waitingStates = map[string]State{
	"Inadmissible": Inadmissible,
	// Nothing the scheduler does can help: an object has to change.
	"Misconfigured": Inadmissible,
	"Suspended":     Inadmissible,
	"Deactivated":   Deactivated,
}

// report reads the state out of the Workload's conditions, the strongest first: finished, deactivated,
// evicted, admitted, reserved, waiting.
func report(c *charge.Charge) Reported {
	if c.Workload == nil || c.Workload.Object == nil {
		return Reported{State: None}
	}
	wl := c.Workload.Object
	get := func(kind string) *metav1.Condition { return meta.FindStatusCondition(wl.Status.Conditions, kind) }
	isTrue := func(c *metav1.Condition) bool { return c != nil && c.Status == metav1.ConditionTrue }
	finished, evicted := get(kueue.WorkloadFinished), get(kueue.WorkloadEvicted)
	admitted, reserved := get(kueue.WorkloadAdmitted), get(kueue.WorkloadQuotaReserved)

	var r Reported
	switch {
	case isTrue(finished):
		r = reading(wl, Finished, finished)
	case wl.Spec.Active != nil && !*wl.Spec.Active:
		r = reading(wl, Deactivated, firstTrue(evicted, get(kueue.WorkloadDeactivationTarget)))
		if r.Condition == "" {
			r.Meaning = []string{"spec.active is false: Kueue does not queue it until it is set to true"}
		}
	case isTrue(evicted) && strings.HasPrefix(evicted.Reason, kueue.WorkloadDeactivated):
		r = reading(wl, Deactivated, evicted)
	case isTrue(evicted) && (isTrue(reserved) || reserved == nil || reserved.Message == evicted.Message):
		r = reading(wl, Evicted, evicted)
	case isTrue(admitted):
		r = reading(wl, Admitted, admitted)
	case isTrue(reserved):
		r = reading(wl, QuotaReserved, reserved)
		r.Meaning = append(r.Meaning, checksMeaning(wl, admitted)...)
	case reserved != nil:
		r = waiting(wl, reserved)
		if isTrue(evicted) {
			r.Meaning = append(r.Meaning, "it ran before and was evicted: "+message.Eviction(evicted))
		}
	default:
		r = Reported{State: Pending, Meaning: []string{
			"Kueue has not written whether it reserved quota: the workload was not evaluated yet, waits behind the " +
				"head of its queue, or is parked because an equal workload failed"}}
	}
	return r
}

func waiting(wl *kueue.Workload, reserved *metav1.Condition) Reported {
	state, ok := waitingStates[reserved.Reason]
	if !ok {
		state = Pending
	}
	return reading(wl, state, reserved)
}

func reading(wl *kueue.Workload, state State, c *metav1.Condition) Reported {
	if c == nil {
		return Reported{State: state}
	}
	return Reported{
		State: state, Condition: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message,
		Since:   c.LastTransitionTime.Time,
		Stale:   c.ObservedGeneration > 0 && c.ObservedGeneration < wl.Generation,
		Meaning: message.Meaning(c),
	}
}

func firstTrue(conditions ...*metav1.Condition) *metav1.Condition {
	for _, c := range conditions {
		if c != nil && c.Status == metav1.ConditionTrue {
			return c
		}
	}
	return nil
}

// checksMeaning says what a workload with quota still waits for.
func checksMeaning(wl *kueue.Workload, admitted *metav1.Condition) []string {
	var out []string
	for _, check := range wl.Status.AdmissionChecks {
		if check.State == kueue.CheckStateReady {
			continue
		}
		line := "admission check " + string(check.Name) + " is " + string(check.State)
		if check.Message != "" {
			line += ": " + check.Message
		}
		out = append(out, line)
	}
	if admitted != nil && admitted.Reason == kueue.WorkloadAdmittedReasonPendingDelayedTopologyRequests {
		out = append(out, "its topology is assigned later, after the admission checks")
	}
	return out
}
