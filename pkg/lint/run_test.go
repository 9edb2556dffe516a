package lint_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

const two = `apiVersion: v1
kind: Namespace
metadata: {name: b}
---
apiVersion: v1
kind: Namespace
metadata: {name: a}
`

func inputOf(t *testing.T, text string) lint.Input {
	t.Helper()
	snap, err := cluster.FromBytes(context.Background(), "input.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	conf, err := config.Resolve(snap, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return lint.Input{Snapshot: snap, Config: conf}
}

func ran(t *testing.T, in lint.Input, opts lint.Options) []string {
	t.Helper()
	result, err := lint.Run(context.Background(), in, opts)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range result.Findings {
		out = append(out, strings.TrimSpace(f.At.String()+" "+string(f.Severity)+" "+f.Rule.ID+" "+f.Message))
	}
	for _, u := range result.Unevaluated {
		out = append(out, u.Rule.ID+" lacks "+strings.Join(u.Missing, ","))
	}
	return out
}

// names reports every namespace twice.
var names = &lint.Rule{ID: "GQ900", Name: "names", Severity: lint.Warning, Check: func(p *lint.Pass) {
	for range 2 {
		for _, o := range p.Snapshot.List(cluster.Namespace) {
			p.Report(lint.Diagnostic{At: lint.At(o, "metadata.name"), Message: "is\ncalled " + o.Ref.Name})
		}
	}
}}

var wantNames = []string{"input.yaml:3:18 warning GQ900 is called b", "input.yaml:7:18 warning GQ900 is called a"}

func TestFindingsAreSortedAndToldOnce(t *testing.T) {
	if diff := cmp.Diff(wantNames, ran(t, inputOf(t, two), lint.Options{Rules: []*lint.Rule{names}})); diff != "" {
		t.Error(diff)
	}
}

func TestSeveritiesMayBeReplaced(t *testing.T) {
	got := ran(t, inputOf(t, two), lint.Options{Rules: []*lint.Rule{names}, Severities: map[string]lint.Severity{"GQ900": lint.Error}})
	if !strings.Contains(got[0], " error GQ900") {
		t.Errorf("got %q", got)
	}
}

func TestRuleThatPanicsIsToldAndTheOthersGoOn(t *testing.T) {
	panics := &lint.Rule{ID: "GQ901", Name: "panics", Severity: lint.Error, Check: func(*lint.Pass) { panic("out of range") }}
	got := ran(t, inputOf(t, two), lint.Options{Rules: []*lint.Rule{panics, names}})
	want := append([]string{"warning GQ004 rule GQ901 (panics) could not be applied: it stopped with an error: out of range"}, wantNames...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRuleThatTakesTooLongIsToldAndTheOthersGoOn(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	hangs := &lint.Rule{ID: "GQ902", Name: "hangs", Severity: lint.Error, Check: func(p *lint.Pass) {
		p.Charges()
		<-release
	}}
	got := ran(t, inputOf(t, two), lint.Options{Rules: []*lint.Rule{hangs, names}, Timeout: time.Second})
	want := append([]string{"warning GQ004 rule GQ902 (hangs) could not be applied: it took longer than 1s"}, wantNames...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestRulesRunBesideEachOther: one lane waits for the other, so they must run at a time; the order of findings does not tell.
func TestRulesRunBesideEachOther(t *testing.T) {
	first, second := make(chan struct{}), make(chan struct{})
	meets := func(id string, concurrent bool, mine, other chan struct{}) *lint.Rule {
		return &lint.Rule{ID: id, Name: "meets", Severity: lint.Error, Concurrent: concurrent, Check: func(p *lint.Pass) {
			close(mine)
			<-other
			p.Report(lint.Diagnostic{At: lint.At(p.Snapshot.List(cluster.Namespace)[0], "metadata.name"), Message: "met"})
		}}
	}
	got := ran(t, inputOf(t, two), lint.Options{Rules: []*lint.Rule{meets("GQ902", false, first, second), meets("GQ901", true, second, first)}})
	want := []string{"input.yaml:7:18 error GQ901 met", "input.yaml:7:18 error GQ902 met"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestConcurrentRuleMayNotAskEngines: the engines answer one lane only. To ask them from the other is a fault of the rule.
func TestConcurrentRuleMayNotAskEngines(t *testing.T) {
	for name, ask := range map[string]func(*lint.Pass){
		"inventory": func(p *lint.Pass) { p.Inventory() },
		"decision":  func(p *lint.Pass) { p.Decide(nil) },
		"queue":     func(p *lint.Pass) { p.QueueNode("a") },
	} {
		rule := &lint.Rule{ID: "GQ905", Name: "asks", Severity: lint.Error, Concurrent: true, Check: ask}
		got := ran(t, inputOf(t, two), lint.Options{Rules: []*lint.Rule{rule, names}})
		if len(got) != 1+len(wantNames) || !strings.Contains(got[0], "a concurrent rule asks for what only the others may") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestWhatIsComputedOnceIsSharedByRules(t *testing.T) {
	times := 0
	shares := func(id string) *lint.Rule {
		return &lint.Rule{ID: id, Name: "shares", Severity: lint.Error, Check: func(p *lint.Pass) {
			if n := lint.Once(p.Facts, "namespaces", func(f *lint.Facts) int { times++; return len(f.Snapshot.List(cluster.Namespace)) }); n != 2 {
				t.Errorf("got %d namespaces", n)
			}
		}}
	}
	ran(t, inputOf(t, two), lint.Options{Rules: []*lint.Rule{shares("GQ901"), shares("GQ902")}})
	if times != 1 {
		t.Errorf("computed %d times", times)
	}
}

func TestRuleWithoutEvidenceIsNotEvaluated(t *testing.T) {
	needs := &lint.Rule{ID: "GQ903", Name: "needs", Severity: lint.Error, Needs: append(names.Needs, cluster.ResourceSlice, cluster.KueueConfiguration, cluster.Namespace),
		Check: func(p *lint.Pass) {
			if p.Need(cluster.ResourceSlice, cluster.Namespace, cluster.KueueConfiguration) {
				t.Error("the input holds no ResourceSlices")
			}
		}}
	want := []string{"GQ903 lacks Configuration,ResourceSlice"}
	if diff := cmp.Diff(want, ran(t, inputOf(t, two), lint.Options{Rules: []*lint.Rule{needs}})); diff != "" {
		t.Error(diff)
	}
}

func TestRuleMustDeclareWhatItNeeds(t *testing.T) {
	undeclared := &lint.Rule{ID: "GQ904", Name: "undeclared", Severity: lint.Error, Check: func(p *lint.Pass) { p.Need(cluster.Node) }}
	got := ran(t, inputOf(t, two), lint.Options{Rules: []*lint.Rule{undeclared}})
	if len(got) != 1 || !strings.Contains(got[0], "does not declare that it needs Node") {
		t.Errorf("got %q", got)
	}
}
