package rules

import (
	"fmt"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var counterNotPublished = &lint.Rule{
	ID: "GQ201", Name: "counter-not-published", Severity: lint.Error,
	Needs: kinds(cluster.ResourceSlice),
	Doc: lint.Doc{
		Title: "A counter source names a counter that no device of its driver consumes",
		Why: "A counter source charges what the matching devices consume of a counter. When none consumes a counter " +
			"of that name, Kueue refuses every workload that claims the class.",
		Bad: "sources:\n- counter: {name: vram, driver: gpu.nvidia.com}\n",
		Good: "sources:\n- counter: {name: memory, driver: gpu.nvidia.com}   # as in consumesCounters of the " +
			"ResourceSlices\n",
		Since: "Kueue 0.18",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) { checkNames(p, false, true, charge.CodeNoCounter) },
}

// checkNames reports the sources, of counters or of capacity, whose name no device has. spelled asks for those of which
// it is not plain what is meant; the others are told by rule GQ202.
func checkNames(p *lint.Pass, capacity, foreign bool, code string) {
	report := func(s configuredSource) bool {
		wrong, meant := s.misnamed(p)
		return s.capacity == capacity && wrong && (meant == "") == foreign
	}
	for _, r := range p.Refusals(code) {
		for _, s := range eachSource(p) {
			if report(s) && namesSource(p, r, s) {
				r.Cause = s.at(p, "name")
				p.ReportRefusal(r, "", nameHelp(p, s))
			}
		}
	}
	for _, s := range eachSource(p) {
		if s.capacity != capacity || !p.Need(cluster.ResourceSlice) || !s.publishes(p) || !report(s) {
			continue
		}
		severity := lint.Warning
		if p.Refused(s.at(p, "name")) {
			severity = lint.Error
		}
		d := lint.Diagnostic{At: s.at(p, "name"), Severity: severity, Help: nameHelp(p, s),
			Message: fmt.Sprintf("no device of %s has a %s named %s: Kueue refuses workloads that it is to charge",
				s.driver, s.what(), s.name)}
		if _, meant := s.misnamed(p); meant != "" {
			d.Fix = p.Replace(d.At, meant, "write "+meant)
		}
		p.Report(d)
	}
}

// namesSource tells that a refusal is about a source.
func namesSource(p *lint.Pass, r lint.Refusal, s configuredSource) bool {
	for _, at := range r.Related {
		if at.Path == s.at(p, "name").Path {
			return true
		}
	}
	return false
}

func nameHelp(p *lint.Pass, s configuredSource) string {
	if _, meant := s.misnamed(p); meant != "" {
		return fmt.Sprintf("the devices call it %s", meant)
	}
	offered := s.offered(p)
	if len(offered) == 0 {
		return fmt.Sprintf("the devices of %s publish none at all", s.driver)
	}
	return "the devices have " + strings.Join(offered, ", ")
}
