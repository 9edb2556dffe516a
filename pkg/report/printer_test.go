package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
)

func TestStreamedJSONIsTheListOfTheContract(t *testing.T) {
	streamed := printed(t, everyVerdict(), "json", Terminal{})
	var list ChargeList
	decoder := json.NewDecoder(bytes.NewReader(streamed))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&list); err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	encoder := json.NewEncoder(&whole)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "    ")
	if err := encoder.Encode(list); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole.String(), string(streamed)); diff != "" {
		t.Errorf("streamed JSON is not what encoding the whole list gives (-whole +streamed):\n%s", diff)
	}
	golden(t, "charge.json", streamed)
}

func TestStreamedExplanationsAreTheListOfTheContract(t *testing.T) {
	streamed := printed(t, explanationsOf(pending(), of(unknown())), "json", Terminal{})
	var list ExplanationList
	decoder := json.NewDecoder(bytes.NewReader(streamed))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&list); err != nil {
		t.Fatal(err)
	}
	if list.Kind != "ExplanationList" || list.APIVersion != APIVersion || len(list.Items) != 2 {
		t.Errorf("got %s %s with %d items", list.APIVersion, list.Kind, len(list.Items))
	}
	golden(t, "explain.json", streamed)
}

func TestAnEmptyListIsStillAList(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		var list struct {
			Kind  string
			Items []any
		}
		if err := yaml.Unmarshal(printed(t, chargesOf(), format, Terminal{}), &list); err != nil {
			t.Fatal(err)
		}
		if list.Kind != "ChargeList" || list.Items == nil || len(list.Items) != 0 {
			t.Errorf("%s: got kind %q, items %v; want an empty list", format, list.Kind, list.Items)
		}
	}
}

func TestYAMLSaysWhatJSONSays(t *testing.T) {
	c := refused()
	c.Problems[0].Message = "two lines\n\nand a third: [with] \"marks\""
	d := chargesOf(train(), c, unknown())
	var fromJSON, fromYAML any
	if err := json.Unmarshal(printed(t, d, "json", Terminal{}), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(printed(t, d, "yaml", Terminal{}), &fromYAML); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromJSON, fromYAML); diff != "" {
		t.Errorf("YAML (-json +yaml):\n%s", diff)
	}
}

func TestFormatsOfKubectl(t *testing.T) {
	cases := map[string]struct{ format, want string }{
		"name":        {"name", "job.batch/train\njob.batch/refused\njob.batch/unknown\njob.batch/free\nleaderworkerset.leaderworkerset.x-k8s.io/serve\n"},
		"jsonpath":    {"jsonpath={.items[0].total}", `{"cpu":"3","gpu.memory":"14592Mi"}`},
		"a number":    {"jsonpath={.items[0].podSets[0].count}", "3"},
		"range":       {`jsonpath={range .items[*]}{.owner.name}={.verdict}{"\n"}{end}`, "train=Charged\nrefused=Inadmissible\nunknown=Unknown\nfree=Unmanaged\nserve=Charged\n"},
		"go-template": {`go-template={{range .items}}{{.verdict}} {{end}}`, "Charged Inadmissible Unknown Unmanaged Charged "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(printed(t, everyVerdict(), tc.format, Terminal{}))); diff != "" {
				t.Errorf("-o %s (-want +got):\n%s", tc.format, diff)
			}
		})
	}
}

func TestFormatsThatCannotBeUsedAreRefused(t *testing.T) {
	cases := map[string]struct{ format, want string }{
		"unknown":             {"xml", `unknown output format "xml"; use one of wide, json, yaml, name`},
		"jsonpath without":    {"jsonpath=", "no template"},
		"broken jsonpath":     {"jsonpath={.items[", "error parsing jsonpath"},
		"broken go-template":  {"go-template={{", "error parsing template"},
		"missing template":    {"go-template-file=/nonexistent", "no such file"},
		"json takes no value": {"json=x", "unknown output format"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := New(Options{Format: tc.format})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("New(%q) = %v, want an error with %q", tc.format, err, tc.want)
			}
		})
	}
}

// broken fails after some bytes, as a pipe that is closed does.
type broken struct{ left int }

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errors.New("broken pipe")
	}
	return len(p), nil
}

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	for _, format := range []string{"", "json", "yaml", "name", "jsonpath={.kind}"} {
		p, err := New(Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Print(&broken{}, everyVerdict()); err == nil {
			t.Errorf("-o %q: the error of the writer is lost", format)
		}
	}
}

// many is a list of n workloads.
func many(n int) *Charges {
	all := make([]*charge.Charge, n)
	for i := range all {
		c := train()
		c.Workload.OwnerRef.Name = fmt.Sprintf("train-%05d", i)
		all[i] = c
	}
	return chargesOf(all...)
}

func BenchmarkTenThousandWorkloads(b *testing.B) {
	d := many(10000)
	for _, format := range []string{"", "json", "yaml", "name"} {
		p, err := New(Options{Format: format})
		if err != nil {
			b.Fatal(err)
		}
		b.Run("format="+format, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Print(io.Discard, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
