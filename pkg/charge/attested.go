package charge

import (
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
)

// attestation names an object that Kueue itself has reported missing. Namespace is empty for classes.
type attestation struct{ kind, namespace, name string }

// attestedAbsences collects from the conditions of waiting Workloads which objects do not exist. Many
// exports (must-gather among them) hold no DeviceClasses and no claim templates, so their absence from
// the input says nothing; Kueue's own report does. It retries such errors, so the report is current.
func attestedAbsences(snap *cluster.Snapshot) map[attestation]bool {
	out := map[attestation]bool{}
	for o, w := range cluster.All[*kueue.Workload](snap, cluster.Workload) {
		c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved)
		if c == nil || c.Status != metav1.ConditionFalse {
			continue
		}
		for _, m := range message.Find(c.Message, message.ObjectNotFound) {
			a := attestation{kind: m.Field("kind"), name: m.Field("name")}
			if a.kind == cluster.ResourceClaimTemplate.Kind {
				a.namespace = o.Ref.Namespace
			}
			out[a] = true
		}
	}
	return out
}

// knownAbsent tells that an object which is not in the snapshot is known not to exist: its kind is held,
// or Kueue has reported it missing.
func (e *Engine) knownAbsent(kind, namespace, name string) bool {
	gk := cluster.DeviceClass
	if kind == cluster.ResourceClaimTemplate.Kind {
		gk = cluster.ResourceClaimTemplate
	}
	return e.snap.Coverage.HasIn(gk, namespace) || e.absences[attestation{kind, namespace, name}]
}

// chargedByName collects the extended resources that Kueue has charged under their own names: no mapped
// DeviceClass took them over when it did. A name that some record shows otherwise is left out.
func chargedByName(snap *cluster.Snapshot) map[corev1.ResourceName]bool {
	out := map[corev1.ResourceName]bool{}
	for _, w := range chargedOnce(snap) {
		for i := range w.Spec.PodSets {
			ps := &w.Spec.PodSets[i]
			charged := recorded.Charged(w, string(ps.Name))
			if charged == nil {
				continue
			}
			for k := range ps.Template.Spec.Containers {
				for name, q := range ps.Template.Spec.Containers[k].Resources.Requests {
					if q.IsZero() || !isExtended(name) {
						continue
					}
					_, asItself := charged[name]
					if before, known := out[name]; !known || before {
						out[name] = asItself
					}
				}
			}
		}
	}
	return out
}

// chargedOnce are the Workloads of the snapshot, and those taken away to see what would follow: how Kueue charged these
// holds for others all the same.
func chargedOnce(snap *cluster.Snapshot) []*kueue.Workload {
	var out []*kueue.Workload
	for _, w := range cluster.All[*kueue.Workload](snap, cluster.Workload) {
		out = append(out, w)
	}
	for _, o := range snap.Removed {
		if w := cluster.As[*kueue.Workload](o); w != nil {
			out = append(out, w)
		}
	}
	return out
}
