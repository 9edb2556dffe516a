package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/lintconfig"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/rulepack"
)

// schemas are the results with a JSON Schema of their own.
var schemas = map[string]any{
	"auditreport.json":          &AuditReport{},
	"chargelist.json":           &ChargeList{},
	"explanationlist.json":      &ExplanationList{},
	"findinglist.json":          &FindingList{},
	"queuelist.json":            &QueueList{},
	"devicelist.json":           &DeviceList{},
	"queueexplanationlist.json": &QueueExplanationList{},
	"simulationresult.json":     &SimulationResult{},
	"lintconfig.json":           &lintconfig.Config{},
	"rulepack.json":             &rulepack.Pack{},
}

// schemaDir holds the schemas that are committed.
const schemaDir = "../../docs/schemas"

// schemaOf generates the schema of a result from its Go type, whose comments become the descriptions.
func schemaOf(t *testing.T, name string, v any) []byte {
	t.Helper()
	r := &jsonschema.Reflector{BaseSchemaID: "https://gpuquota.dev/schemas/v1alpha1", AllowAdditionalProperties: true}
	for _, dir := range []string{".", "../cluster", "../lint/rulepack"} {
		if err := r.AddGoComments("github.com/gpu-quota/kubectl-gpu-quota/pkg/report", dir); err != nil {
			t.Fatal(err)
		}
	}
	r.AllowAdditionalProperties = name != "rulepack.json" // a pack is input: what is misspelled in it is wrong
	if _, ok := v.(*lintconfig.Config); ok {
		// What people write has no fields beyond those known, and is read by its YAML names.
		r.AllowAdditionalProperties, r.FieldNameTag = false, "yaml"
		r.Mapper = func(t reflect.Type) *jsonschema.Schema {
			if t == reflect.TypeFor[lint.Severity]() {
				return &jsonschema.Schema{Type: "string", Enum: []any{lint.Error, lint.Warning, lint.Info, lint.Off}}
			}
			return nil
		}
		if err := r.AddGoComments("github.com/gpu-quota/kubectl-gpu-quota/pkg/report", "../lint/lintconfig"); err != nil {
			t.Fatal(err)
		}
	}
	s := r.Reflect(v)
	s.ID = jsonschema.ID("https://gpuquota.dev/schemas/v1alpha1/" + name)
	oneLine(s)
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// oneLine puts descriptions into one line: where comments break tells nothing.
func oneLine(s *jsonschema.Schema) {
	s.Description = strings.ReplaceAll(s.Description, "\n", " ")
	for _, definition := range s.Definitions {
		oneLine(definition)
	}
	if s.Items != nil {
		oneLine(s.Items)
	}
	for _, list := range [][]*jsonschema.Schema{s.OneOf, s.AnyOf, s.AllOf} {
		for _, one := range list {
			oneLine(one)
		}
	}
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		oneLine(pair.Value)
	}
}

func TestSchemasAreCurrent(t *testing.T) {
	for name, v := range schemas {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(schemaDir, name)
			got := schemaOf(t, name, v)
			if *update {
				if err := os.MkdirAll(schemaDir, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s is not what the types say; run the test with -update (-committed +generated):\n%s", path, diff)
			}
		})
	}
}

// TestSchemasNameEveryField keeps the promise that the schema lists what the program prints.
func TestSchemasNameEveryField(t *testing.T) {
	for name, document := range map[string]Document{
		"chargelist.json": everyVerdict(), "explanationlist.json": explanationsOf(pending(), of(refused()), fitted(partlyFits())),
		"queuelist.json": researchQueues(t), "queueexplanationlist.json": researchQueueExplanations(t, 0), "simulationresult.json": researchSimulation(t, false),
		"devicelist.json": NewDevices(stock(t), nil, nil, nil),
	} {
		schema := schemaOf(t, name, schemas[name])
		var result any
		if err := json.Unmarshal(printed(t, document, "json", Terminal{}), &result); err != nil {
			t.Fatal(err)
		}
		for _, field := range fields(result) {
			if !bytes.Contains(schema, []byte(`"`+field+`"`)) {
				t.Errorf("%s does not name the field %q", name, field)
			}
		}
	}
}

// freeMaps are fields whose keys are data.
var freeMaps = map[string]bool{"total": true, "published": true, "featureGates": true, "demand": true, "flavors": true, "usage": true, "borrowed": true, "consumed": true}

func fields(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			out = append(out, key)
			if !freeMaps[key] {
				out = append(out, fields(child)...)
			}
		}
	case []any:
		for _, child := range v {
			out = append(out, fields(child)...)
		}
	}
	return out
}
