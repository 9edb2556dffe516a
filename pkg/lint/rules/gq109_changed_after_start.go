package rules

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var changedAfterStart = &lint.Rule{
	ID: "GQ109", Name: "configuration-changed-after-start", Severity: lint.Warning,
	Needs: kinds(cluster.Pod),
	Doc: lint.Doc{
		Title: "The configuration was changed after the manager started",
		Why: "Kueue reads its configuration when the manager starts. Mappings, frameworks and feature gates that " +
			"were changed since do nothing until the manager is restarted, and everything computed from the " +
			"ConfigMap is what will be, not what is.",
		Bad: "kind: ConfigMap\nmetadata:\n  managedFields: [{manager: kubectl-edit, time: " +
			"\"2026-03-02T10:00:00Z\"}]\n---\nkind: Pod   # kueue-controller-manager-…\nstatus: {containerStatuses: " +
			"[{name: manager, state: {running: {startedAt: \"2026-03-01T10:00:00Z\"}}}]}\n",
		Good: "status: {containerStatuses: [{name: manager, state: {running: {startedAt: " +
			"\"2026-03-02T10:05:00Z\"}}}]}\n",
		Since: "every version",
		Links: []string{linkConfig},
	},
	Check: func(p *lint.Pass) {
		record := p.Snapshot.Get(cluster.ConfigMap, p.Config.Ref.Namespace, p.Config.Ref.Name)
		if p.Config.Ref.GroupKind() != cluster.ConfigMap || record == nil || record.Meta.UID == "" {
			return // a manifest tells nothing of times
		}
		found, told := false, false
		for o, pod := range cluster.All[*corev1.Pod](p.Snapshot, cluster.Pod) {
			if o.Ref.Namespace != record.Ref.Namespace || !managerPod(pod) {
				continue
			}
			started, ok := startOf(pod)
			if !ok {
				continue
			}
			found = true
			told = compareTimes(p, record, o, started) || told
		}
		switch {
		case !found:
			p.Lacks("Pod of the manager, with its status")
		case !told:
			p.Lacks("managedFields of the ConfigMap (kubectl get --show-managed-fields)")
		}
	},
}

// managerPod tells that a pod runs Kueue's manager.
func managerPod(pod *corev1.Pod) bool {
	return strings.Contains(pod.Name, "kueue-controller-manager") && pod.DeletionTimestamp.IsZero() &&
		pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

// startOf is when the manager in a pod started, after its last restart.
func startOf(pod *corev1.Pod) (time.Time, bool) {
	var latest time.Time
	for _, s := range pod.Status.ContainerStatuses {
		if r := s.State.Running; r != nil && (s.Name == "manager" || len(pod.Status.ContainerStatuses) == 1) {
			latest = r.StartedAt.Time
		}
	}
	return latest, !latest.IsZero()
}

// compareTimes reports a pod that started before the last change. It answers false where nothing tells when that was.
func compareTimes(p *lint.Pass, record, pod *cluster.Object, started time.Time) bool {
	changed, exact := changeOf(record)
	switch {
	case changed.After(started):
		p.Report(lint.Diagnostic{At: lint.At(record, "metadata.name"),
			Related: []lint.Place{lint.At(pod, "metadata.name").Saying("started " +
				started.UTC().Format(time.RFC3339))},
			Message: fmt.Sprintf("the configuration was changed at %s, after the manager in %s started: it still "+
				"works with the one before", changed.UTC().Format(time.RFC3339), pod.Ref.Name),
			Help: fmt.Sprintf("restart it: kubectl -n %s rollout restart deployment/kueue-controller-manager",
				record.Ref.Namespace)})
		return true
	case exact:
		return true
	}
	// A resource version given out later than that of the pod's last status is a later write.
	config, err1 := strconv.ParseUint(record.Meta.ResourceVersion, 10, 64)
	running, err2 := strconv.ParseUint(pod.Meta.ResourceVersion, 10, 64)
	if err1 != nil || err2 != nil || config <= running {
		return false
	}
	p.Report(lint.Diagnostic{At: lint.At(record, "metadata.name"),
		Related: []lint.Place{lint.At(pod, "metadata.resourceVersion"), lint.At(record, "metadata.resourceVersion")},
		Message: fmt.Sprintf("the ConfigMap was written after the manager in %s started: if its content was changed, "+
			"the manager still works with the one before", pod.Ref.Name),
		Help: fmt.Sprintf("restart it: kubectl -n %s rollout restart deployment/kueue-controller-manager",
			record.Ref.Namespace)})
	return true
}

// changeOf is when the content of a ConfigMap was last changed; exact tells that it was not changed later.
func changeOf(record *cluster.Object) (last time.Time, exact bool) {
	last = record.Meta.CreationTimestamp.Time
	for _, f := range record.Meta.ManagedFields {
		if f.FieldsV1 == nil || f.Time == nil || !bytes.Contains(f.FieldsV1.GetRawBytes(), []byte(`"f:data"`)) {
			continue
		}
		exact = true
		if f.Time.After(last) {
			last = f.Time.Time
		}
	}
	return last, exact
}
