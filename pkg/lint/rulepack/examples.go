package rulepack

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// Outcome is what one example of a rule gave.
type Outcome struct {
	Rule *Rule
	// Example is `good 1`, or its name.
	Example string
	// File and Line of the example.
	File string
	Line int
	// Wrong says in what the rule does otherwise than the example wants; empty when it passes.
	Wrong string
}

// Test tries every rule on its examples, in the order of IDs. A rule without a good or a bad example fails. The error
// is that of ctx.
func (s *Set) Test(ctx context.Context) ([]Outcome, error) {
	var out []Outcome
	for _, c := range s.compiled {
		for _, group := range []struct {
			name     string
			examples []Example
		}{{"good", c.of.Examples.Good}, {"bad", c.of.Examples.Bad}} {
			if len(group.examples) == 0 {
				o := c.outcome(group.name)
				o.Wrong = fmt.Sprintf("there is no %s example: nothing shows that the rule works", group.name)
				out = append(out, o)
			}
			for i, e := range group.examples {
				name := fmt.Sprintf("%s %d", group.name, i+1)
				if e.Name != "" {
					name = group.name + ": " + e.Name
				}
				o := c.outcome(name, "examples", group.name, i)
				var err error
				if o.Wrong, err = c.try(ctx, e, group.name == "good"); err != nil {
					return nil, err
				}
				out = append(out, o)
			}
		}
	}
	return out, nil
}

func (c *compiled) outcome(name string, path ...any) Outcome {
	n := c.document.node(append([]any{"spec", "rules", c.index}, path...)...)
	return Outcome{Rule: c.of, Example: name, File: c.document.file, Line: n.Line}
}

// try applies the rule to an example and says what is otherwise than wanted.
func (c *compiled) try(ctx context.Context, e Example, good bool) (string, error) {
	b := cluster.NewBuilder(nil)
	collect := lint.NewCollector(b.Sink(cluster.InputOptions{Laid: true, Whole: true}))
	collect.Keep = (&Set{compiled: []*compiled{c}}).Wants
	err := source.ReadBytes(ctx, "example", []byte(e.Manifests), collect)
	snap := b.Build()
	if err != nil {
		return "", err
	}
	if len(snap.Problems) > 0 {
		return "the manifests can't be read: " + snap.Problems[0].String(), nil
	}
	if snap.Objects() == 0 {
		return "the manifests hold no object of a kind that lint reads", nil
	}
	conf, err := config.Resolve(snap, config.Options{})
	if err != nil {
		return "", err
	}
	in := lint.Input{Snapshot: snap, Config: conf, Documents: collect.Documents, Kept: collect.Kept, Files: 1}
	result, err := lint.Run(ctx, in, lint.Options{Rules: []*lint.Rule{c.rule()}})
	if err != nil {
		return "", err
	}
	return compared(result, e, good), nil
}

func compared(result *lint.Result, e Example, good bool) string {
	var messages []string
	for _, f := range result.Findings {
		if f.Rule == lint.RuleFailed {
			return f.Message
		}
		messages = append(messages, f.Message)
	}
	if len(result.Unevaluated) > 0 {
		return "the rule is not evaluated: the manifests lack " + strings.Join(result.Unevaluated[0].Missing, ", ")
	}
	switch {
	case good && len(messages) > 0:
		return fmt.Sprintf("there is a finding: %q", messages[0])
	case good:
		return ""
	case len(messages) == 0:
		return "there is no finding"
	case len(e.Want) > 0 && len(e.Want) != len(messages):
		return fmt.Sprintf("there are %d findings, and %d are wanted: %q", len(messages), len(e.Want), messages)
	}
	for i, part := range e.Want {
		if !strings.Contains(messages[i], part) {
			return fmt.Sprintf("message %d is %q, and does not hold %q", i+1, messages[i], part)
		}
	}
	return ""
}
