package charge

import (
	"regexp"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// absent matches Kueue's report that it looked for an object and the API server had none.
var absent = regexp.MustCompile(`(DeviceClass|ResourceClaimTemplate)\.resource\.k8s\.io "([^"]+)" not found`)

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
		for _, m := range absent.FindAllStringSubmatch(c.Message, -1) {
			a := attestation{kind: m[1], name: m[2]}
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
	return e.snap.Coverage.Has(gk) || e.absences[attestation{kind, namespace, name}]
}
