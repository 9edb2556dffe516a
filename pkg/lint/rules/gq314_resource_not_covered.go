package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var resourceNotCovered = &lint.Rule{
	ID: "GQ314", Name: "resource-not-covered", Severity: lint.Error,
	Needs: kinds(cluster.LocalQueue, cluster.ClusterQueue, cluster.KueueConfiguration),
	Doc: lint.Doc{
		Title: "A workload is charged for a resource that its queue does not cover",
		Why: "Kueue admits a workload only when every resource it is charged for stands in coveredResources of one " +
			"of the ClusterQueue's groups. One that is missing keeps it pending for ever, whatever quota is free.",
		Bad:   "# charged: cpu and whole-gpus\nresourceGroups:\n- coveredResources: [cpu]\n",
		Good:  "resourceGroups:\n- coveredResources: [cpu, whole-gpus]\n",
		Since: "every version",
		Links: []string{linkClusterQueue},
	},
	Check: func(p *lint.Pass) {
		for _, c := range p.Charges() {
			if !lint.Waits(c.Workload) || c.Verdict == charge.Inadmissible || len(c.Total) == 0 ||
				p.Config.IgnoresUndeclared() {
				continue
			}
			cq, record := p.ClusterQueueOf(c.Workload.Namespace, c.Workload.Queue)
			if cq == nil {
				p.NeedIn(c.Workload.Namespace, cluster.LocalQueue, cluster.ClusterQueue)
				continue
			}
			checkCovered(p, c, cq, record)
		}
	},
}

func checkCovered(p *lint.Pass, c *charge.Charge, cq *kueue.ClusterQueue, record *cluster.Object) {
	covered := coveredBy(cq)
	for _, name := range slices.Sorted(maps.Keys(c.Total)) {
		if covered[name] || c.Total[name] == 0 {
			continue
		}
		severity := lint.Error
		if c.Verdict != charge.Charged {
			severity = lint.Warning // what it is charged is not certain
		}
		at, related := lineOf(c, name)
		p.Report(lint.Diagnostic{At: at, Severity: severity,
			Message: fmt.Sprintf("it is charged for %s, which ClusterQueue %s does not cover: it stays pending", name,
				cq.Name),
			Help: fmt.Sprintf("add %s to coveredResources of ClusterQueue %s with a quota%s", name, cq.Name,
				exclude(name)),
			Related: append(related, lint.At(record, "spec.resourceGroups").Name().Saying("covers "+listed(covered)))})
	}
}

// exclude tells of the other way out for resources that need no quota.
func exclude(name corev1.ResourceName) string {
	if strings.Contains(string(name), "/") {
		return ", or take it out of quota by resources.excludeResourcePrefixes of the configuration"
	}
	return ""
}

func coveredBy(cq *kueue.ClusterQueue) map[corev1.ResourceName]bool {
	out := map[corev1.ResourceName]bool{}
	for _, g := range cq.Spec.ResourceGroups {
		for _, name := range g.CoveredResources {
			out[name] = true
		}
	}
	return out
}

func listed(names map[corev1.ResourceName]bool) string {
	if len(names) == 0 {
		return "nothing"
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, string(name))
	}
	return strings.Join(out, ", ")
}

// lineOf is the place where a workload asks for what it is charged of a resource, and the other facts of that charge.
func lineOf(c *charge.Charge, name corev1.ResourceName) (at lint.Place, related []lint.Place) {
	for i, ps := range c.PodSets {
		for _, l := range ps.Lines {
			if l.Resource != name || len(l.Evidence) == 0 {
				continue
			}
			if l.Method == charge.Requests && i < len(c.Workload.PodSets) {
				return requestAt(lint.PodTemplate{Workload: c.Workload, PodSet: &c.Workload.PodSets[i]}, name), nil
			}
			for _, e := range l.Evidence[1:] {
				related = append(related, lint.Evidence(e))
			}
			return lint.Evidence(l.Evidence[0]), related
		}
	}
	return lint.Subject(c.Workload), nil
}

// requestAt is the place of the first request for a resource, or limit where there is no request, in a pod template.
func requestAt(t lint.PodTemplate, name corev1.ResourceName) lint.Place {
	for c := range containers(t.Spec()) {
		if has(c.of.Resources.Requests, name) {
			return t.At(fmt.Sprintf("%s.resources.requests[%q]", c.path, name))
		}
	}
	for c := range containers(t.Spec()) {
		if has(c.of.Resources.Limits, name) {
			return t.At(fmt.Sprintf("%s.resources.limits[%q]", c.path, name))
		}
	}
	return lint.Subject(t.Workload)
}
