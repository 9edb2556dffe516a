package rules

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

var requestAboveLimit = &lint.Rule{
	ID: "GQ321", Name: "request-above-limit", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A container requests more than its limit, as written or after the LimitRange's defaults",
		Why: "Kueue refuses a workload whose containers request more than their limits, with the defaults of the " +
			"namespace's LimitRange filled in: a default limit may be below a request that stands alone in the " +
			"template.",
		Bad: "kind: LimitRange\nspec:\n  limits: [{type: Container, default: {memory: 1Gi}}]\n---\nresources:\n  " +
			"requests: {memory: 2Gi}\n",
		Good:  "resources:\n  requests: {memory: 2Gi}\n  limits: {memory: 2Gi}\n",
		Since: "every version",
		Links: []string{"https://kubernetes.io/docs/concepts/policy/limit-range/"},
	},
	Check: func(p *lint.Pass) {
		requester := workload.NewRequester(p.Snapshot, p.Config)
		for t := range p.PodTemplates() {
			if !lint.Waits(t.Workload) || !limited(t.Spec()) && len(p.Snapshot.List(cluster.LimitRange)) == 0 {
				continue
			}
			adjusted := requester.PodSet(t.Namespace(), t.PodSet).Spec
			written := map[string]*corev1.Container{}
			for c := range containers(t.Spec()) {
				written[c.path] = c.of
			}
			for c := range containers(adjusted) {
				checkLimits(p, t, c, written[c.path])
			}
		}
	},
}

// limited tells that a container has a limit.
func limited(spec *corev1.PodSpec) bool {
	for c := range containers(spec) {
		if len(c.of.Resources.Limits) > 0 {
			return true
		}
	}
	return false
}

func checkLimits(p *lint.Pass, t lint.PodTemplate, c container, written *corev1.Container) {
	for _, name := range slices.Sorted(maps.Keys(c.of.Resources.Limits)) {
		limit, request := c.of.Resources.Limits[name], c.of.Resources.Requests[name]
		if request.Cmp(limit) <= 0 {
			continue
		}
		at, origin := fmt.Sprintf("%s.resources.requests[%q]", c.path, name), ""
		if written == nil || !has(written.Resources.Requests, name) {
			at = fmt.Sprintf("%s.resources.limits[%q]", c.path, name)
			origin = " that a LimitRange gives it"
		} else if !has(written.Resources.Limits, name) {
			origin = " that a LimitRange gives it"
		}
		p.Report(lint.Diagnostic{At: t.At(at), Message: fmt.Sprintf("it requests %s of %s, above the limit of %s%s: "+
			"Kueue refuses the workload", quantity(request), name, quantity(limit), origin),
			Help: "write both the request and the limit"})
	}
}

func has(of corev1.ResourceList, name corev1.ResourceName) bool {
	_, ok := of[name]
	return ok
}

func quantity(q resource.Quantity) string { return q.String() }
