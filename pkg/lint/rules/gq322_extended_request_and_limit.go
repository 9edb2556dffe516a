package rules

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var extendedRequestAndLimit = &lint.Rule{
	ID: "GQ322", Name: "extended-request-and-limit", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "The request for an extended resource is not its limit",
		Why: "Extended resources can't be overcommitted: the API server refuses a pod, or the template of a job, " +
			"whose request for one stands without a limit or differs from it. Kinds of optional projects are stored " +
			"as they are; Kueue admits them, and their pods can't be made.",
		Bad:   "resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}\n",
		Good:  "resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}\n",
		Since: "every version",
		Links: []string{"https://kubernetes.io/docs/tasks/configure-pod-container/extended-resource/"},
	},
	Check: func(p *lint.Pass) {
		for t := range p.PodTemplates() {
			if t.PodSet.Source == t.Workload.Record {
				continue // what Kueue made of a job that is not in the input
			}
			severity, what := lint.Error, "the API server refuses it"
			if t.PodSet.Source == nil || !validated[t.PodSet.Source.Ref.GroupKind().Group] {
				severity, what = lint.Warning, "its pods can't be made"
			}
			for c := range containers(t.Spec()) {
				checkExtendedLimits(p, t, c, severity, what)
			}
		}
	},
}

// validated are the API groups whose pod templates the API server validates.
var validated = map[string]bool{"": true, "apps": true, "batch": true}

func checkExtendedLimits(p *lint.Pass, t lint.PodTemplate, c container, severity lint.Severity, what string) {
	for _, name := range sortedNames(c.of.Resources.Requests) {
		if !isExtended(name) {
			continue
		}
		request := c.of.Resources.Requests[name]
		limit, ok := c.of.Resources.Limits[name]
		d := lint.Diagnostic{At: t.At(fmt.Sprintf("%s.resources.requests[%q]", c.path, name)), Severity: severity,
			Help: "write the same amount under requests and limits"}
		switch {
		case !ok:
			d.Message = fmt.Sprintf("it requests %s without a limit: %s", name, what)
		case request.Cmp(limit) < 0: // above the limit is another rule's
			d.Message = fmt.Sprintf("it requests %s of %s with a limit of %s, and they must be equal: %s",
				request.String(), name, limit.String(), what)
		}
		p.Report(d)
	}
}

func sortedNames(of corev1.ResourceList) []corev1.ResourceName { return slices.Sorted(maps.Keys(of)) }
