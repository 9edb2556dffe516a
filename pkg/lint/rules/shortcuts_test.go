package rules

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	kubejson "sigs.k8s.io/json"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// eachInput reads every fixture, scenario and walkthrough, and the files of further patterns, one by one.
func eachInput(t *testing.T, check func(t *testing.T, in lint.Input), further ...string) {
	var files []string
	patterns := []string{"testdata/gq*/*.yaml", "../../../testdata/golden/scenarios/*/scenario.yaml", "../../../testdata/walkthroughs/*/*.yaml"}
	for _, pattern := range append(patterns, further...) {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 400 {
		t.Fatalf("only %d inputs", len(files))
	}
	for _, file := range files {
		b := cluster.NewBuilder(nil)
		collect := lint.NewCollector(b.Sink(cluster.InputOptions{Laid: true, Whole: true}))
		err := source.Read(context.Background(), source.Options{Filenames: []string{file}}, collect)
		snap := b.Build()
		conf, confErr := config.Resolve(snap, config.Options{})
		if err != nil || confErr != nil {
			t.Fatal(file, err, confErr)
		}
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			check(t, lint.Input{Snapshot: snap, Config: conf, Documents: collect.Documents})
		})
	}
}

// TestClearlyFittingIsNeverHopeless: the short cut says nothing that the decision on an idle cluster does not say.
func TestClearlyFittingIsNeverHopeless(t *testing.T) {
	clear, made, not := 0, 0, 0
	eachInput(t, func(t *testing.T, in lint.Input) {
		rule := &lint.Rule{ID: "GQ900", Name: "compares", Check: func(p *lint.Pass) {
			fits := map[string]bool{}
			for _, c := range p.Charges() {
				fits[identity(c.Workload)] = clearlyFits(p.Facts, c)
			}
			complete := p.IfComplete()
			for _, w := range complete.Workloads {
				if !fits[identity(w)] {
					not++
					continue
				}
				clear++
				if w.Object != nil {
					made++
				}
				for set, able := range ableSets(complete.Decide(complete.Charge(w))) {
					if !able {
						t.Errorf("%s: pod set %s is said to fit, and never does", w.Ref(), set)
					}
				}
			}
		}}
		result, err := lint.Run(context.Background(), in, lint.Options{Rules: []*lint.Rule{rule}})
		if err != nil || len(result.Findings) > 0 {
			t.Fatal(err, result)
		}
	}, "../../../testdata/golden/scenarios/*/dump.yaml") // these hold what Kueue made of the jobs
	if clear < 100 || made < 100 || not < 100 {
		t.Errorf("%d workloads clearly fit, %d of them with a Workload, %d do not: too few to tell", clear, made, not)
	}
}

// ableSets tells of each pod set tried whether some flavor may take it some day.
func ableSets(d *admission.Decision) map[string]bool {
	out := map[string]bool{}
	for _, a := range d.Attempts {
		able := a.Mode != admission.NoFit || !over(a) && !mismatched(a)
		out[a.PodSet] = out[a.PodSet] || able
	}
	return out
}

// TestAloneIsAsAmongAll: which workloads can never be admitted is the same when only they are looked at as when all are, with
// what these hold. But for those that may be admitted with fewer pods: among others they may not even get that.
func TestAloneIsAsAmongAll(t *testing.T) {
	compared, hopeless, inPart, holding := 0, 0, 0, 0
	eachInput(t, func(t *testing.T, in lint.Input) {
		rule := &lint.Rule{ID: "GQ900", Name: "compares", Check: func(p *lint.Pass) {
			snap := in.Snapshot.Supposing(cluster.Workload, cluster.Cohort, cluster.AdmissionCheck, cluster.Topology, cluster.LimitRange,
				cluster.PriorityClass, cluster.WorkloadPriorityClass, cluster.DeviceClass)
			engine := charge.NewEngine(snap, in.Config, device.NewInventory(snap, selector.Of(in.Config.Behavior)))
			charges := engine.Charges(workload.Find(snap, in.Config, workload.Options{}))
			among := admission.New(engine, charges)
			holding += len(among.Reservations())
			complete := p.IfComplete()
			for i, w := range complete.Workloads {
				if !lint.Waits(w) {
					continue
				}
				compared++
				c := complete.Charge(w)
				got, want := complete.Decide(c), among.Decide(charges[i])
				if c.Verdict != charges[i].Verdict {
					t.Errorf("%s: %s alone, %s among all", w.Ref(), c.Verdict, charges[i].Verdict)
				}
				for set, able := range ableSets(want) {
					if !able {
						hopeless++
					}
					found, tried := ableSets(got)[set]
					switch {
					case found && !able && partial(w):
						inPart++
					case tried && found != able || !tried && !able:
						t.Errorf("%s: pod set %s may be admitted: %v alone, %v among all", w.Ref(), set, found, able)
					}
				}
			}
		}}
		result, err := lint.Run(context.Background(), in, lint.Options{Rules: []*lint.Rule{rule}})
		if err != nil || len(result.Findings) > 0 {
			t.Fatal(err, result)
		}
	}, "../../../testdata/golden/scenarios/*/dump.yaml", "../../../testdata/examples/*.yaml", "../../audit/testdata/*.yaml")
	if compared < 100 || hopeless < 100 || inPart < 3 || holding < 100 {
		t.Errorf("%d workloads compared, %d pod sets never fit, %d in part only, %d hold quota: too few to tell", compared, hopeless, inPart, holding)
	}
}

// TestEveryRefusalIsTold: a workload that waits in vain has a finding, whatever words Kueue writes about it, or none.
func TestEveryRefusalIsTold(t *testing.T) {
	refused := 0
	eachInput(t, func(t *testing.T, in lint.Input) {
		var want []lint.Refusal
		all := &lint.Rule{ID: "GQ900", Name: "refusals", Check: func(p *lint.Pass) {
			for _, c := range p.Charges() {
				for _, problem := range c.Problems {
					want = append(want, p.Refusals(problem.Code)...)
				}
			}
		}}
		result, err := lint.Run(context.Background(), in, lint.Options{Rules: append(All(), all)})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range want {
			refused++
			subject := lint.Subject(r.Charge.Workload).Ref
			if !slices.ContainsFunc(result.Findings, func(f lint.Finding) bool { return f.At.Object == subject || f.At.Object == r.At.Ref }) {
				t.Errorf("%s is refused, and nothing is told of it: %s: %s", subject, r.Problem.Code, r.Problem.Message)
			}
		}
	})
	if refused < 50 {
		t.Errorf("only %d refusals", refused)
	}
}

// TestKnownFieldsAreThoseThatDecodingKnows: what the scan of keys passes has no unknown field, and the other way round.
func TestKnownFieldsAreThoseThatDecodingKnows(t *testing.T) {
	trees, passed, stopped := fieldTrees{}, 0, 0
	compare := func(t *testing.T, d *source.Document) {
		empty, ok := documentTypes[d.APIVersion+" "+d.Kind]
		if !ok {
			return
		}
		strict, err := kubejson.UnmarshalStrict(d.JSON, empty(), kubejson.DisallowUnknownFields)
		if err != nil {
			return
		}
		knows := trees.of(reflect.TypeOf(empty())).knowsAll(d.JSON)
		if knows != (len(strict) == 0) {
			t.Errorf("%s %s: all fields known %v, and decoding says %v\n%s", d.APIVersion, d.Kind, knows, strict, d.JSON)
		}
		if knows {
			passed++
		} else {
			stopped++
		}
	}
	seen := map[string]int{}
	eachInput(t, func(t *testing.T, in lint.Input) {
		for i := range in.Documents {
			d := in.Documents[i]
			compare(t, &d)
			if seen[d.Kind]++; seen[d.Kind] > 4 {
				continue
			}
			for _, text := range withOneMoreKey(t, d.JSON) {
				d.JSON = text
				compare(t, &d)
			}
		}
	})
	if passed < 1000 || stopped < 100 {
		t.Errorf("%d documents without unknown fields, %d with: too few to tell", passed, stopped)
	}
}

// withOneMoreKey are variants of a document, each with a key more in one of its maps.
func withOneMoreKey(t *testing.T, data []byte) (out [][]byte) {
	var whole any
	if err := json.Unmarshal(data, &whole); err != nil {
		t.Fatal(err)
	}
	var walk func(value any)
	walk = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			v["another"] = "key"
			text, err := json.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			delete(v, "another")
			out = append(out, text)
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(v[key])
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	walk(whole)
	return out
}

func FuzzKnownFields(f *testing.F) {
	trees := fieldTrees{}
	job := documentTypes["batch/v1 Job"]
	for _, seed := range []string{`{}`, `null`, `{"spec":{"template":{"spec":{"containers":[{"name":"a","resources":{"limits":{"a/b":"1"}}}]}}}}`,
		`{"metadata":{"labels":{"x":"\"}"},"annotations":null}, "spec" : { "parallelism" : 1 , "nope":[ 1, {"a":true} ] } }`, `{"sp\u0065c":{}}`, `[`, `{"spec":`} {
		f.Add([]byte(seed))
	}
	if data, err := os.ReadFile("testdata/gq502/bad.yaml"); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		strict, err := kubejson.UnmarshalStrict(data, job(), kubejson.DisallowUnknownFields)
		if trees.of(reflect.TypeOf(job())).knowsAll(data) && err == nil && len(strict) > 0 {
			t.Errorf("unknown fields are passed: %v", strict)
		}
	})
}
