package rules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var claimUndeclared = &lint.Rule{
	ID: "GQ306", Name: "claim-undeclared", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A container uses a claim that the pod does not declare",
		Why: "The API server refuses a pod whose container names a claim that is not among the pod's resourceClaims. " +
			"Kueue charges only declared claims, so a job may be admitted, hold its quota, and never get a pod.",
		Bad: "containers:\n- name: main\n  resources: {claims: [{name: gpus}]}\nresourceClaims:\n- {name: gpu, " +
			"resourceClaimTemplateName: one-gpu}\n",
		Good: "containers:\n- name: main\n  resources: {claims: [{name: gpu}]}\nresourceClaims:\n- {name: gpu, " +
			"resourceClaimTemplateName: one-gpu}\n",
		Since: "every version",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for t := range p.PodTemplates() {
			var declared []string
			for _, c := range t.Spec().ResourceClaims {
				declared = append(declared, c.Name)
			}
			for _, u := range claimUses(t) {
				if slices.Contains(declared, u.name) {
					continue
				}
				help := "declare it in resourceClaims of the pod"
				if len(declared) > 0 {
					help += ", or use one that is declared: " + strings.Join(declared, ", ")
				}
				p.Report(lint.Diagnostic{At: t.At(u.path), Message: fmt.Sprintf("claim %s is not declared in the "+
					"pod's resourceClaims", u.name), Help: help})
			}
		}
	},
}

// container is a container of a pod with its path.
type container struct {
	of   *corev1.Container
	path string
}

// containers yields init containers, then containers.
func containers(spec *corev1.PodSpec) func(yield func(container) bool) {
	return func(yield func(container) bool) {
		for i := range spec.InitContainers {
			if !yield(container{&spec.InitContainers[i], fmt.Sprintf("spec.initContainers[%d]", i)}) {
				return
			}
		}
		for i := range spec.Containers {
			if !yield(container{&spec.Containers[i], fmt.Sprintf("spec.containers[%d]", i)}) {
				return
			}
		}
	}
}
