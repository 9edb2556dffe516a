package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// Active is the condition of that name, of a ClusterQueue or a LocalQueue.
type Active struct {
	// Status is True, False, or Unknown where the input does not tell.
	Status metav1.ConditionStatus
	// Reason and Message in Kueue's words.
	Reason, Message string
	// Missing lists the kinds without which the status is not known.
	Missing []string
}

// Kueue's words for a queue that takes workloads, and for what a LocalQueue says of its ClusterQueue.
const (
	readyReason        = "Ready"
	clusterQueueReady  = "Can admit new workloads"
	localQueueReady    = "Can submit new workloads to localQueue"
	localQueueStopped  = "LocalQueue is stopped"
	localQueueInactive = "Can't submit new workloads to clusterQueue"
)

// inactivities collects what keeps a ClusterQueue from being active, in Kueue's order.
type inactivities struct {
	reasons, messages []string
	missing           map[string]bool
}

func (a *inactivities) add(reason, format string, names []string) {
	if len(names) > 0 {
		a.reasons = append(a.reasons, reason)
		a.messages = append(a.messages, fmt.Sprintf(format, strings.Join(names, ",")))
	}
}

// clusterQueueActive is what Kueue would write about a ClusterQueue for the objects in the input.
func (e *Explainer) clusterQueueActive(q *kueue.ClusterQueue) Active {
	if q.DeletionTimestamp != nil {
		return Active{Status: metav1.ConditionFalse, Reason: kueue.ClusterQueueActiveReasonTerminating, Message: "Can't admit new workloads; clusterQueue is terminating"}
	}
	a := &inactivities{missing: map[string]bool{}}
	if ptr.Deref(q.Spec.StopPolicy, kueue.None) != kueue.None {
		a.reasons, a.messages = append(a.reasons, kueue.ClusterQueueActiveReasonStopped), append(a.messages, "is stopped")
	}
	var topologies []string
	a.add(kueue.ClusterQueueActiveReasonFlavorNotFound, "references missing ResourceFlavor(s): %v", e.missingFlavors(q, a, &topologies))
	e.checks(q, a)
	for _, text := range topologies {
		a.reasons, a.messages = append(a.reasons, kueue.ClusterQueueActiveReasonTopologyNotFound), append(a.messages, text)
	}
	switch {
	case len(a.reasons) > 0 && len(a.missing) == 0:
		return Active{Status: metav1.ConditionFalse, Reason: a.reasons[0], Message: "Can't admit new workloads: " + strings.Join(a.messages, ", ") + "."}
	case len(a.reasons) > 0:
		// That it is inactive is certain; what else Kueue would name is not.
		return Active{Status: metav1.ConditionFalse, Reason: a.reasons[0], Missing: slices.Sorted(maps.Keys(a.missing))}
	case len(a.missing) > 0:
		return Active{Status: metav1.ConditionUnknown, Missing: slices.Sorted(maps.Keys(a.missing))}
	}
	status := metav1.ConditionTrue
	if e.inCycle(q) {
		status = metav1.ConditionFalse // and the reason and the message are nonetheless those of an active queue
	}
	return Active{Status: status, Reason: readyReason, Message: clusterQueueReady}
}

// has tells whether the absence of an object of a kind is certain, and notes the kind where it is not.
func (e *Explainer) has(gk schema.GroupKind, a *inactivities) bool {
	if !e.snap.Coverage.Has(gk) {
		a.missing[gk.Kind] = true
		return false
	}
	return true
}

// missingFlavors lists the flavors that do not exist, and says of the others which have a topology that does not.
func (e *Explainer) missingFlavors(q *kueue.ClusterQueue, a *inactivities, topologies *[]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, g := range q.Spec.ResourceGroups {
		for _, fq := range g.Flavors {
			name := string(fq.Name)
			f := cluster.As[*kueue.ResourceFlavor](e.snap.Get(cluster.ResourceFlavor, "", name))
			switch {
			case f == nil && e.has(cluster.ResourceFlavor, a):
				out = append(out, name)
			case f == nil || f.Spec.TopologyName == nil || seen[name] || !e.conf.Enabled(release.TopologyAwareScheduling):
			case e.snap.Get(cluster.Topology, "", string(*f.Spec.TopologyName)) == nil && e.has(cluster.Topology, a):
				*topologies = append(*topologies, fmt.Sprintf("there is no Topology %q for TAS flavor %q", *f.Spec.TopologyName, name))
			}
			seen[name] = true
		}
	}
	slices.Sort(*topologies)
	return out
}

// checks says what is wrong with the admission checks of a queue.
func (e *Explainer) checks(q *kueue.ClusterQueue, a *inactivities) {
	if q.Spec.AdmissionChecksStrategy == nil {
		return
	}
	var missing, inactive, multi, perFlavor, provisioning []string
	for _, c := range q.Spec.AdmissionChecksStrategy.AdmissionChecks {
		name := string(c.Name)
		check, record, ok := cluster.Lookup[*kueue.AdmissionCheck](e.snap, cluster.AdmissionCheck, "", name)
		if !ok {
			if e.has(cluster.AdmissionCheck, a) {
				missing = append(missing, name)
			}
			continue
		}
		switch active := meta.IsStatusConditionTrue(check.Status.Conditions, kueue.AdmissionCheckActive); {
		case active:
		case record.Laid || record.Meta.UID == "":
			a.missing["status of AdmissionCheck "+name] = true
		default:
			inactive = append(inactive, name)
		}
		switch check.Spec.ControllerName {
		case kueue.ProvisioningRequestControllerName:
			provisioning = append(provisioning, name)
		case kueue.MultiKueueControllerName:
			multi = append(multi, name)
			if len(c.OnFlavors) > 0 && !onAll(q, c.OnFlavors) {
				perFlavor = append(perFlavor, name)
			}
		}
	}
	for _, names := range []*[]string{&missing, &inactive, &multi, &perFlavor, &provisioning} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	a.add(kueue.ClusterQueueActiveReasonAdmissionCheckNotFound, "references missing AdmissionCheck(s): %v", missing)
	a.add(kueue.ClusterQueueActiveReasonAdmissionCheckInactive, "references inactive AdmissionCheck(s): %v", inactive)
	if len(multi) > 1 {
		a.add(kueue.ClusterQueueActiveReasonMultipleMultiKueueAdmissionChecks, "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: %v", multi)
	}
	a.add(kueue.ClusterQueueActiveReasonMultiKueueAdmissionCheckAppliedPerFlavor, "Cannot specify MultiKueue AdmissionCheck per flavor, found: %s", perFlavor)
	if len(multi) > 0 && len(provisioning) > 0 {
		a.add(kueue.ClusterQueueActiveReasonMultiKueueWithProvisioningRequest,
			"Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: "+strings.Join(multi, ",")+", %s", provisioning)
	}
}

// onAll tells that a check names all flavors of the queue.
func onAll(q *kueue.ClusterQueue, named []kueue.ResourceFlavorReference) bool {
	for _, g := range q.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			if !slices.Contains(named, f.Name) {
				return false
			}
		}
	}
	return true
}

// localQueueActive is what Kueue would write about a LocalQueue.
func (e *Explainer) localQueueActive(lq *kueue.LocalQueue) Active {
	if ptr.Deref(lq.Spec.StopPolicy, kueue.None) != kueue.None {
		return Active{Status: metav1.ConditionFalse, Reason: "Stopped", Message: localQueueStopped}
	}
	q := e.queue(string(lq.Spec.ClusterQueue))
	if q == nil {
		if field, _ := charge.LacksClusterQueue(e.snap, e.snap.Get(cluster.LocalQueue, lq.Namespace, lq.Name)); field != "" {
			return Active{Status: metav1.ConditionFalse, Reason: "ClusterQueueDoesNotExist", Message: localQueueInactive}
		}
		return Active{Status: metav1.ConditionUnknown, Missing: []string{cluster.ClusterQueue.Kind}}
	}
	of := e.clusterQueueActive(q)
	if r := meta.FindStatusCondition(q.Status.Conditions, kueue.ClusterQueueActive); of.Status == metav1.ConditionUnknown && r != nil {
		of = Active{Status: r.Status} // it goes by what the ClusterQueue says
	}
	switch of.Status {
	case metav1.ConditionFalse:
		return Active{Status: metav1.ConditionFalse, Reason: "ClusterQueueIsInactive", Message: localQueueInactive}
	case metav1.ConditionUnknown:
		return of
	}
	return Active{Status: metav1.ConditionTrue, Reason: readyReason, Message: localQueueReady}
}
