package report

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/rules"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// findingsOf lints the files of testdata/findings with some rules.
func findingsOf(t *testing.T, all []*lint.Rule) *Findings {
	t.Helper()
	b := cluster.NewBuilder(nil)
	collect := lint.NewCollector(b.Sink(cluster.InputOptions{Laid: true, Whole: true}))
	for _, name := range []string{"config.yaml", "two words.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", "findings", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := source.ReadBytes(context.Background(), "deploy/"+name, text, collect); err != nil {
			t.Fatal(err)
		}
	}
	snap := b.Build()
	conf, err := config.Resolve(snap, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := lint.Input{Snapshot: snap, Config: conf, Documents: collect.Documents, Files: collect.Files(), Suppressions: collect.Suppressions}
	result, err := lint.Run(context.Background(), in, lint.Options{Rules: all})
	if err != nil {
		t.Fatal(err)
	}
	return NewFindings(conf, result, all, "v1.2.3")
}

// someRules keep the golden files independent of the rules that come later.
func someRules() []*lint.Rule {
	var out []*lint.Rule
	for _, id := range []string{"GQ001", "GQ002", "GQ003", "GQ101", "GQ102", "GQ207", "GQ502"} {
		out = append(out, lint.Find(rules.All(), id))
	}
	return out
}

func printedFindings(t *testing.T, d *Findings, format string) []byte {
	t.Helper()
	p, err := NewFindingPrinter(Options{Format: format, Terminal: Terminal{Width: 100}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.Print(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestFindingFormats shows one result in every format: an error with a fix, a warning with a related place, a suppressed finding,
// findings about suppressions, a document that can't be read, and a rule that could not be evaluated.
func TestFindingFormats(t *testing.T) {
	d := findingsOf(t, someRules())
	for format, file := range map[string]string{
		"text": "text.txt", "json": "findings.json", "yaml": "findings.yaml", "name": "name.txt", "sarif": "findings.sarif",
		"junit": "junit.xml", "github": "github.txt", "gitlab": "gitlab.json", "markdown": "markdown.md",
	} {
		t.Run(format, func(t *testing.T) {
			golden(t, filepath.Join("findings", "want", file), printedFindings(t, d, format))
		})
	}
}

// compiled is a JSON schema of testdata or docs.
func compiled(t *testing.T, path string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t *testing.T, s *jsonschema.Schema, text []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(value); err != nil {
		t.Error(err)
	}
}

// TestSARIFIsValid holds the output, with all rules and with no finding, to the official schema.
func TestSARIFIsValid(t *testing.T) {
	schema := compiled(t, "testdata/sarif/sarif-schema-2.1.0.json")
	valid(t, schema, printedFindings(t, findingsOf(t, rules.All()), "sarif"))
	empty := findingsOf(t, rules.All())
	empty.result.Keep(func(lint.Finding) bool { return false })
	empty.result.Suppressed = nil
	valid(t, schema, printedFindings(t, empty, "sarif"))

	var broken map[string]any
	if err := json.Unmarshal(printedFindings(t, empty, "sarif"), &broken); err != nil {
		t.Fatal(err)
	}
	broken["version"] = "2.0.0"
	if schema.Validate(broken) == nil {
		t.Error("the schema finds nothing wrong with another version: this test proves nothing")
	}
}

// TestFindingListIsValid holds the JSON output to the schema that is published.
func TestFindingListIsValid(t *testing.T) {
	valid(t, compiled(t, filepath.Join(schemaDir, "findinglist.json")), printedFindings(t, findingsOf(t, rules.All()), "json"))
}

// TestRulesOfPacksHaveNoPage: what is not published is not linked to; how to explain it is told.
func TestRulesOfPacksHaveNoPage(t *testing.T) {
	all := someRules()
	for i, r := range all {
		ofPack := *r
		ofPack.Pack = "my rules/dev.yaml"
		all[i] = &ofPack
	}
	doc := findingsOf(t, all)
	for _, format := range []string{"sarif", "markdown"} {
		if out := printedFindings(t, doc, format); bytes.Contains(out, []byte("docs/rules/")) {
			t.Errorf("%s links to a page that is not there:\n%.2000s", format, out)
		}
	}
	valid(t, compiled(t, "testdata/sarif/sarif-schema-2.1.0.json"), printedFindings(t, doc, "sarif"))
	if out := printedFindings(t, doc, "text"); !bytes.Contains(out, []byte("--rules 'my rules/dev.yaml'")) {
		t.Errorf("no word on how to explain the rule:\n%s", out)
	}
}

// TestFileNamesAreReferences: a file name may hold what means something else in a URI.
func TestFileNamesAreReferences(t *testing.T) {
	for file, want := range map[string]string{
		"deploy/job.yaml": "deploy/job.yaml", "a b/50%/c#1?.yaml": "a%20b/50%25/c%231%3F.yaml", "a:b.yaml": "./a:b.yaml", "ü.yaml": "%C3%BC.yaml",
	} {
		if got := uri(file); got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
}

// TestJUnitIsXML reads the report back.
func TestJUnitIsXML(t *testing.T) {
	var suites struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name string `xml:"name,attr"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(printedFindings(t, findingsOf(t, someRules()), "junit"), &suites); err != nil {
		t.Fatal(err)
	}
	if len(suites.Suites) != 1 || len(suites.Suites[0].Cases) != len(someRules()) || suites.Suites[0].Failures == 0 || suites.Suites[0].Skipped == 0 {
		t.Errorf("got %+v, want one test case for each rule, some failed and some skipped", suites)
	}
}
