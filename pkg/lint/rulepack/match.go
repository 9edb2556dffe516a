package rulepack

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// selects reads the match of a rule.
func (c *compiled) selects() Errors {
	var problems Errors
	wrong := func(message string, at ...any) {
		problems = append(problems,
			c.document.at(c.of.ID, message, append([]any{"spec", "rules", c.index, "match"}, at...)...))
	}
	m := c.of.Match
	if m.Workloads == (len(m.Kinds) > 0) {
		wrong("match needs either kinds, or workloads: true")
	}
	for i, name := range m.Kinds {
		gk, err := findKind(name)
		if err != nil {
			wrong(err.Error(), "kinds", i)
			continue
		}
		c.kinds = append(c.kinds, gk)
	}
	for i, pattern := range m.Namespaces {
		if _, err := path.Match(pattern, ""); err != nil {
			wrong(fmt.Sprintf("%q is not a pattern for namespaces: %v", pattern, err), "namespaces", i)
		}
	}
	for _, selector := range []struct {
		field, text string
		into        *labels.Selector
	}{{"labels", m.Labels, &c.labels}, {"namespaceLabels", m.NamespaceLabels, &c.namespaceLabels}} {
		s, err := labels.Parse(selector.text)
		if err != nil {
			wrong(fmt.Sprintf("%s: %v", selector.field, err), selector.field)
			continue
		}
		*selector.into = s
	}
	return problems
}

// findKind finds a kind written as Kind or Kind.group among those the program reads.
func findKind(name string) (schema.GroupKind, error) {
	wanted := schema.ParseGroupKind(name)
	var found []schema.GroupKind
	for _, k := range cluster.Kinds() {
		if k.Kind == wanted.Kind && (k.Group == wanted.Group || !strings.Contains(name, ".")) {
			found = append(found, k.GroupKind)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return schema.GroupKind{}, fmt.Errorf("%s is not among the kinds that lint reads", name)
	}
	return schema.GroupKind{}, fmt.Errorf("several kinds are called %s; write one as %s", name, found[0])
}

// isWorkload tells that objects of a kind have a charge and a queue.
func isWorkload(gk schema.GroupKind) bool {
	return gk == cluster.Workload || slices.Contains(workload.Kinds(), gk)
}

// candidate is an object a rule looks at, with the charge of its workload; nil for objects that are no workloads.
type candidate struct {
	object *cluster.Object
	charge *charge.Charge
}

// candidates are the objects a rule matches, in the order of the snapshot or of the workloads.
func (c *compiled) candidates(p *lint.Pass) []candidate {
	var out []candidate
	if c.of.Match.Workloads {
		for _, ch := range p.Charges() {
			w := ch.Workload
			object := w.Owner
			if object == nil {
				object = w.Record
			}
			if object != nil && !(w.State == workload.Elsewhere && w.Via.Kind != "") {
				out = append(out, candidate{object, ch})
			}
		}
		return c.matching(p, out)
	}
	for _, gk := range c.kinds {
		var charges map[*cluster.Object][]*charge.Charge
		if isWorkload(gk) && (c.uses[varCharge] || c.uses[varQueue]) {
			charges = chargesOf(p)
		}
		for _, o := range p.Snapshot.List(gk) {
			if charges == nil {
				out = append(out, candidate{object: o})
			}
			for _, ch := range charges[o] {
				out = append(out, candidate{o, ch})
			}
		}
	}
	return c.matching(p, out)
}

// chargesOf are the charges of workloads by their job, their Workload object, and the pods of their group.
func chargesOf(p *lint.Pass) map[*cluster.Object][]*charge.Charge {
	out := map[*cluster.Object][]*charge.Charge{}
	for _, ch := range p.Charges() {
		seen := map[*cluster.Object]bool{nil: true}
		for _, o := range append([]*cluster.Object{ch.Workload.Owner, ch.Workload.Record}, ch.Workload.Members...) {
			if !seen[o] {
				seen[o] = true
				out[o] = append(out[o], ch)
			}
		}
	}
	return out
}

// matching leaves the candidates that namespaces and labels select.
func (c *compiled) matching(p *lint.Pass, all []candidate) []candidate {
	return slices.DeleteFunc(all, func(at candidate) bool {
		o := at.object
		if !c.labels.Matches(labels.Set(o.Meta.Labels)) || !c.inNamespace(o.Ref.Namespace) {
			return true
		}
		if c.namespaceLabels.Empty() {
			return false
		}
		of, known := namespaceLabels(p, o.Ref.Namespace)
		return !known || !c.namespaceLabels.Matches(of)
	})
}

func (c *compiled) inNamespace(namespace string) bool {
	return len(c.of.Match.Namespaces) == 0 || slices.ContainsFunc(c.of.Match.Namespaces, func(pattern string) bool {
		ok, err := path.Match(pattern, namespace)
		return err == nil && ok
	})
}

// namespaceLabels are the labels of a namespace. Where the input does not hold it the rule is not evaluated for it.
func namespaceLabels(p *lint.Pass, namespace string) (labels.Set, bool) {
	if namespace == "" {
		return nil, true
	}
	o := p.Snapshot.Get(cluster.Namespace, "", namespace)
	if o == nil {
		p.Lacks(cluster.Namespace.Kind)
		return nil, false
	}
	out := labels.Set{"kubernetes.io/metadata.name": namespace} // the API server sets it
	for name, value := range o.Meta.Labels {
		out[name] = value
	}
	return out, true
}
