package rules

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var outsideLimitRange = &lint.Rule{
	ID: "GQ323", Name: "outside-limit-range", Severity: lint.Error, Concurrent: true,
	Needs: kinds(cluster.LocalQueue, cluster.ClusterQueue),
	Doc: lint.Doc{
		Title: "A workload asks for more, or less, than the LimitRange of its namespace allows",
		Why: "Kueue checks requests and limits against the minimum and maximum of the namespace's LimitRanges before " +
			"it looks at quota, and leaves what is outside pending. Nothing else tells of it: no pod was refused.",
		Bad: "kind: LimitRange\nspec: {limits: [{type: Container, max: {memory: 8Gi}}]}\n---\nresources: " +
			"{requests: {memory: 16Gi}}\n",
		Good:  "resources: {requests: {memory: 8Gi}}\n",
		Since: "every version",
		Links: []string{"https://kubernetes.io/docs/concepts/policy/limit-range/"},
	},
	Check: func(p *lint.Pass) {
		limited := map[string]bool{}
		for _, o := range p.Snapshot.List(cluster.LimitRange) {
			limited[o.Ref.Namespace] = true
		}
		if len(limited) == 0 {
			return
		}
		complete := p.IfComplete()
		for _, w := range complete.Workloads {
			if !limited[w.Namespace] || !lint.Waits(w) {
				continue
			}
			c := complete.Charge(w)
			d := complete.Decide(c)
			if says := message.Parse(d.Message); says.Is(message.OutsideLimitRange) {
				for _, m := range message.Find(says.Field("detail"), message.LimitRangeViolated) {
					reportOutside(p, c, m.Field("set"), m.Field("field"), m.Field("names"), m.Field("bound"))
				}
			}
		}
	},
}

var quotedName = regexp.MustCompile(`"([^"]+)"`)

func reportOutside(p *lint.Pass, c *charge.Charge, set, field, names, how string) {
	i, err := strconv.Atoi(set)
	if err != nil || i >= len(c.Workload.PodSets) {
		return
	}
	t := lint.PodTemplate{Workload: c.Workload, PodSet: &c.Workload.PodSets[i]}
	var related []lint.Place
	for o := range cluster.All[*corev1.LimitRange](p.Snapshot, cluster.LimitRange) {
		if o.Ref.Namespace == c.Workload.Namespace {
			related = append(related, lint.At(o, "spec.limits").Name())
		}
	}
	bound := map[bool]string{true: "above the maximum", false: "below the minimum"}[strings.HasPrefix(how, "above")]
	for _, quoted := range quotedName.FindAllStringSubmatch(names, -1) {
		name := corev1.ResourceName(quoted[1])
		p.Report(lint.Diagnostic{At: boundAt(t, field, name), Related: related,
			Message: fmt.Sprintf("%s is %s of the namespace's LimitRange: Kueue leaves the workload pending", name,
				bound),
			Help: "change the request and the limit, or the LimitRange"})
	}
}

// boundAt is the place of a resource in a container, or in the pod.
func boundAt(t lint.PodTemplate, field string, name corev1.ResourceName) lint.Place {
	for c := range containers(t.Spec()) {
		if field != "spec" && c.path != field {
			continue
		}
		for _, list := range []struct {
			field string
			of    corev1.ResourceList
		}{{"requests", c.of.Resources.Requests}, {"limits", c.of.Resources.Limits}} {
			if has(list.of, name) {
				return t.At(fmt.Sprintf("%s.resources.%s[%q]", c.path, list.field, name))
			}
		}
	}
	if strings.HasPrefix(field, "spec.") {
		return t.At(field)
	}
	return lint.Subject(t.Workload)
}
