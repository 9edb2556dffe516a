package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

func benchList(indent string) []byte {
	var dev []any
	for i := range 19 {
		dev = append(dev, map[string]any{
			"name":             fmt.Sprintf("gpu-0-mig-%d", i),
			"attributes":       map[string]any{"type": map[string]any{"string": "mig"}, "uuid": map[string]any{"string": "MIG-0123456789abcdef"}, "productName": map[string]any{"string": "NVIDIA A100-SXM4-40GB"}, "driverVersion": map[string]any{"version": "550.54.15"}},
			"capacity":         map[string]any{"memory": map[string]any{"value": "4864Mi"}, "multiprocessors": map[string]any{"value": "14"}},
			"consumesCounters": []any{map[string]any{"counterSet": "gpu-0-counter-set", "counters": map[string]any{"memory": map[string]any{"value": "4864Mi"}}}},
		})
	}
	var items []any
	for i := range 400 {
		items = append(items, map[string]any{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": map[string]any{"name": fmt.Sprintf("node-%d-gpu.nvidia.com", i), "generation": 1}, "spec": map[string]any{"devices": dev, "driver": "gpu.nvidia.com", "nodeName": fmt.Sprintf("node-%d", i)}})
	}
	l := map[string]any{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]any{"resourceVersion": ""}}
	if indent == "" {
		b, _ := json.Marshal(l)
		return b
	}
	b, _ := json.MarshalIndent(l, "", indent)
	return b
}

func BenchmarkSkip(b *testing.B) {
	for _, indent := range []string{"", "    "} {
		data := benchList(indent)
		b.Run(fmt.Sprintf("indent=%d", len(indent)), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := windowOn(data, 0, 1).skipValue(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("stream/indent=%d", len(indent)), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := newWindow(bytes.NewReader(data), 1).skipValue(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("encoding-json-Valid/indent=%d", len(indent)), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if !json.Valid(data) {
					b.Fatal()
				}
			}
		})
	}
	_ = strings.Repeat
}

type counting struct{ docs, bytes int }

func (c *counting) Want(_, _ string) bool  { return true }
func (c *counting) Document(d Document)    { c.docs++; c.bytes += len(d.JSON) }
func (c *counting) Listed(_, _ string)     {}
func (c *counting) Missing(_, _, _ string) {}
func (c *counting) Problem(p Problem)      { panic(p) }

func BenchmarkReadJSON(b *testing.B) {
	for _, indent := range []string{"", "    "} {
		name := b.TempDir() + "/x.json"
		data := benchList(indent)
		os.WriteFile(name, data, 0o600)
		b.Run(fmt.Sprintf("indent=%d", len(indent)), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				c := &counting{}
				Read(context.Background(), Options{Filenames: []string{name}}, c)
				if c.docs != 400 {
					b.Fatal(c.docs)
				}
			}
		})
	}
}
