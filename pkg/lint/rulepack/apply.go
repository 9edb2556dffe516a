package rulepack

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// longest is how long a rule may work on one object; the limit on cost is reached long before.
const longest = 5 * time.Second

// Rules are the rules of the packs as rules of lint, by ID.
func (s *Set) Rules() []*lint.Rule {
	if s == nil {
		return nil
	}
	var out []*lint.Rule
	for _, c := range s.compiled {
		out = append(out, c.rule())
	}
	return out
}

// Wants tells whether a rule looks at the documents of a kind as they are written: those that the program reads only in
// part.
func (s *Set) Wants(apiVersion, kind string) bool {
	if s == nil {
		return false
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return false
	}
	for _, c := range s.compiled {
		if !c.uses[varObject] {
			continue
		}
		if c.of.Match.Workloads && isWorkload(schema.GroupKind{Group: gv.Group, Kind: kind}) {
			return true
		}
		for _, gk := range c.kinds {
			if gk.Group == gv.Group && gk.Kind == kind {
				return true
			}
		}
	}
	return false
}

func (c *compiled) rule() *lint.Rule {
	r := c.of
	doc := lint.Doc{Title: r.Title, Why: strings.TrimSpace(r.Why), Since: r.Since, Links: r.Links}
	if doc.Since == "" {
		doc.Since = "every version"
	}
	if len(r.Examples.Bad) > 0 {
		doc.Bad = r.Examples.Bad[0].Manifests
	}
	if len(r.Examples.Good) > 0 {
		doc.Good = r.Examples.Good[0].Manifests
	}
	return &lint.Rule{ID: r.ID, Pack: c.document.file, Name: r.Name, Severity: severities[r.Severity], Doc: doc,
		Needs: c.needs(), Check: c.check}
}

// needed are the kinds without which a variable or a field of one can't be told.
var needed = []struct {
	uses  string
	kinds []schema.GroupKind
}{
	{varCharge, []schema.GroupKind{cluster.KueueConfiguration}},
	{varQueue, []schema.GroupKind{cluster.LocalQueue, cluster.ClusterQueue}},
	{varCluster + ".mappings", []schema.GroupKind{cluster.KueueConfiguration}},
	{varCluster + ".namespaceLabels", []schema.GroupKind{cluster.Namespace}},
	{varCluster + ".deviceClasses", []schema.GroupKind{cluster.DeviceClass}},
	{varCluster + ".clusterQueues", []schema.GroupKind{cluster.ClusterQueue}},
}

func (c *compiled) needs() []schema.GroupKind {
	var out []schema.GroupKind
	seen := map[schema.GroupKind]bool{}
	add := func(kinds ...schema.GroupKind) {
		for _, gk := range kinds {
			if !seen[gk] {
				seen[gk] = true
				out = append(out, gk)
			}
		}
	}
	for _, n := range needed {
		if c.uses[n.uses] && n.uses != varCharge {
			add(n.kinds...)
		}
	}
	if !c.namespaceLabels.Empty() {
		add(cluster.Namespace)
	}
	return out
}

// check is the check of the rule.
func (c *compiled) check(p *lint.Pass) {
	var failures []string
	var first lint.Place
	for _, at := range c.candidates(p) {
		variables, ok := c.variables(p, at)
		if !ok {
			continue
		}
		if err := c.evaluate(p, at.object, variables); err != nil {
			if len(failures) == 0 {
				first = lint.At(at.object, "metadata.name")
			}
			failures = append(failures, fmt.Sprintf("%s: %v", at.object.Ref, err))
		}
	}
	if len(failures) > 0 {
		more := ""
		if len(failures) > 1 {
			more = fmt.Sprintf(" (and on %d more objects)", len(failures)-1)
		}
		p.Fail(first, fmt.Sprintf("it failed on %s%s", failures[0], more))
	}
}

// evaluate applies the rule to one object. The error says why it can't.
func (c *compiled) evaluate(p *lint.Pass, o *cluster.Object, variables map[string]any) error {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	value, _, err := c.expression.ContextEval(ctx, variables)
	if err != nil {
		return fmt.Errorf("expression: %s", oneLine(err.Error()))
	}
	right, ok := value.(types.Bool)
	if !ok {
		return fmt.Errorf("expression: it gives a %s, not a bool", value.Type().TypeName())
	}
	if right {
		return nil
	}
	paths, err := c.paths(ctx, variables)
	if err != nil {
		return err
	}
	message, err := c.text(ctx, variables)
	if err != nil {
		return err
	}
	for _, path := range paths {
		p.Report(lint.Diagnostic{At: lint.At(o, path), Message: message, Help: oneLine(c.of.Help)})
	}
	return nil
}

// text is the message of a finding.
func (c *compiled) text(ctx context.Context, variables map[string]any) (string, error) {
	if c.message == nil {
		return c.of.Message, nil
	}
	text, err := evalString(ctx, c.message, variables)
	if text = oneLine(text); (err != nil || text == "") && c.of.Message != "" {
		return c.of.Message, nil
	}
	if err == nil && text == "" {
		return "", fmt.Errorf("messageExpression gives an empty text")
	}
	if err != nil {
		return "", fmt.Errorf("messageExpression: %w", err)
	}
	return text, nil
}

func evalString(ctx context.Context, program cel.Program, variables map[string]any) (string, error) {
	value, _, err := program.ContextEval(ctx, variables)
	if err != nil {
		return "", fmt.Errorf("%s", oneLine(err.Error()))
	}
	text, ok := value.(types.String)
	if !ok {
		return "", fmt.Errorf("it gives a %s, not a string", value.Type().TypeName())
	}
	return string(text), nil
}

// paths are the places of the findings.
func (c *compiled) paths(ctx context.Context, variables map[string]any) ([]string, error) {
	whole := []string{"metadata.name"}
	if c.of.Path != "" {
		return []string{c.of.Path}, nil
	}
	if c.path == nil {
		return whole, nil
	}
	value, _, err := c.path.ContextEval(ctx, variables)
	if err != nil {
		return nil, fmt.Errorf("pathExpression: %s", oneLine(err.Error()))
	}
	switch value := value.(type) {
	case types.String:
		return []string{string(value)}, nil
	case traits.Lister:
		var out []string
		for it := value.Iterator(); it.HasNext() == types.True; {
			text, ok := it.Next().(types.String)
			if !ok {
				return nil, fmt.Errorf("pathExpression: a path must be a string")
			}
			out = append(out, string(text))
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return whole, nil
}
