package rules

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// Upstream documentation that several rules lead to.
const (
	linkDRA          = "https://kueue.sigs.k8s.io/docs/concepts/dynamic_resource_allocation/"
	linkClusterQueue = "https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/"
	linkCohort       = "https://kueue.sigs.k8s.io/docs/concepts/cohort/"
	linkConfig       = "https://kueue.sigs.k8s.io/docs/reference/kueue-config.v1beta2/"
	linkJobs         = "https://kueue.sigs.k8s.io/docs/tasks/run/jobs/"
	linkDRAAPI       = "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
	linkDeprecation  = "https://kubernetes.io/docs/reference/using-api/deprecation-guide/"
)

func kinds(gk ...schema.GroupKind) []schema.GroupKind { return gk }

// mappings is the place of the configuration's mappings, for a note; nothing when there is no configuration.
func mappings(p *lint.Pass) []lint.Place {
	if !p.Config.Found {
		return nil
	}
	return []lint.Place{p.Configured("resources.deviceClassMappings").Name().Saying("the mappings of this configuration")}
}

// usedTemplates are the claim templates that some workload of the input uses, whatever becomes of it.
func usedTemplates(p *lint.Pass) map[*cluster.Object]bool {
	used := map[*cluster.Object]bool{}
	for t := range p.PodTemplates() {
		for _, c := range t.Spec().ResourceClaims {
			if c.ResourceClaimTemplateName == nil {
				continue
			}
			if _, o, ok := cluster.Lookup[*resourcev1.ResourceClaimTemplate](p.Snapshot, cluster.ResourceClaimTemplate,
				t.Namespace(), *c.ResourceClaimTemplateName); ok {
				used[o] = true
			}
		}
	}
	return used
}

// mappingOf is the place where the configuration maps a class.
func mappingOf(p *lint.Pass, class string) lint.Place {
	path, ok := p.Config.MappingPath(class)
	if !ok {
		return lint.Place{}
	}
	return p.Configured(path)
}

// asMessage makes a sentence a message: without full stop, and in lower case unless it begins with a name.
func asMessage(sentence string) string {
	text := trimStop(sentence)
	first, _, _ := strings.Cut(text, " ")
	if first == "" || strings.HasPrefix(first, "Kueue") || strings.ToLower(first[1:]) != first[1:] {
		return text
	}
	return strings.ToLower(first[:1]) + text[1:]
}

// plural counts in words: "1 device", "3 devices".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
