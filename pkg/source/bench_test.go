package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

const benchSlices = 400

// fleet is a List of ResourceSlices with the devices of a partitioned GPU each.
func fleet() any {
	var devices []any
	for i := range 19 {
		devices = append(devices, map[string]any{
			"name": fmt.Sprintf("gpu-0-mig-%d", i),
			"attributes": map[string]any{
				"type": map[string]any{"string": "mig"}, "productName": map[string]any{"string": "NVIDIA A100-SXM4-40GB"},
				"driverVersion": map[string]any{"version": "550.54.15"},
			},
			"capacity":         map[string]any{"memory": map[string]any{"value": "4864Mi"}, "multiprocessors": map[string]any{"value": "14"}},
			"consumesCounters": []any{map[string]any{"counterSet": "gpu-0-counter-set", "counters": map[string]any{"memory": map[string]any{"value": "4864Mi"}}}},
		})
	}
	var items []any
	for i := range benchSlices {
		items = append(items, map[string]any{
			"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
			"metadata": map[string]any{"name": fmt.Sprintf("node-%d-gpu.nvidia.com", i), "generation": 1},
			"spec":     map[string]any{"devices": devices, "driver": "gpu.nvidia.com", "nodeName": fmt.Sprintf("node-%d", i)},
		})
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]any{"resourceVersion": ""}}
}

// exports are the fleet as people export it.
func exports(b *testing.B) map[string][]byte {
	b.Helper()
	compact, err := json.Marshal(fleet())
	if err != nil {
		b.Fatal(err)
	}
	var printed bytes.Buffer
	if err := json.Indent(&printed, compact, "", "    "); err != nil {
		b.Fatal(err)
	}
	asYAML, err := yaml.JSONToYAML(compact)
	if err != nil {
		b.Fatal(err)
	}
	return map[string][]byte{"compact.json": compact, "printed.json": printed.Bytes(), "printed.yaml": asYAML}
}

// counting is a sink that wants everything, or nothing, and keeps nothing.
type counting struct{ wants, documents, problems int }

func (c *counting) Want(_, _ string) bool  { return c.wants > 0 }
func (c *counting) Document(Document)      { c.documents++ }
func (c *counting) Listed(_, _ string)     {}
func (c *counting) Missing(_, _, _ string) {}
func (c *counting) Problem(Problem)        { c.problems++ }

// BenchmarkRead reads an export from a file, and checks every byte of it.
func BenchmarkRead(b *testing.B) {
	files := exports(b)
	for _, name := range []string{"compact.json", "printed.json", "printed.yaml"} {
		path := filepath.Join(b.TempDir(), name)
		if err := os.WriteFile(path, files[name], 0o600); err != nil {
			b.Fatal(err)
		}
		for _, wants := range []int{0, 1} {
			b.Run(fmt.Sprintf("%s/wanted=%d", name, wants), func(b *testing.B) {
				b.SetBytes(int64(len(files[name])))
				b.ReportAllocs()
				for b.Loop() {
					c := &counting{wants: wants}
					if err := Read(context.Background(), Options{Filenames: []string{path}}, c); err != nil {
						b.Fatal(err)
					}
					if c.documents != wants*benchSlices || c.problems > 0 {
						b.Fatalf("%d documents, %d problems", c.documents, c.problems)
					}
				}
			})
		}
	}
}

// BenchmarkValid is the yardstick: the standard library's check of the same bytes.
func BenchmarkValid(b *testing.B) {
	files := exports(b)
	for _, name := range []string{"compact.json", "printed.json"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(files[name])))
			for b.Loop() {
				if !json.Valid(files[name]) {
					b.Fatal("not valid")
				}
			}
		})
	}
}
