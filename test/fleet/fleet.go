// Package fleet makes exports of imaginary GPU clusters, of any size, to test and measure with.
//
// In: a [Size]. Out: the JSON that `kubectl get … -A -o json` would print for it: one List of nodes'
// partitioned GPUs, device classes, Kueue's configuration and queues, claim templates, and jobs with
// their Workloads. The same Size gives the same bytes.
//
// What every workload must be charged is known from the way it was made ([Expected]), without any of
// the rules that the program implements.
package fleet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Size says how large a cluster is, and which of the many of that size.
type Size struct {
	// Nodes with GPUs.
	Nodes int
	// GPUs on each node, at most 8: the API's limit of counter sets in one ResourceSlice.
	GPUs int
	// Workloads in all namespaces together, each with its Job.
	Workloads int
	// Seed varies which workload asks for what.
	Seed uint64
}

// The two fleets that are measured.
var (
	// Small is 9,728 devices.
	Small = Size{Nodes: 64, GPUs: 8, Workloads: 200, Seed: 1}
	// Large is 152,000 devices.
	Large = Size{Nodes: 1000, GPUs: 8, Workloads: 10_000, Seed: 1}
)

// Devices counts the devices published, whole GPUs and partitions.
func (s Size) Devices() int { return s.Nodes * s.GPUs * DevicesPerGPU }

// String is like `64 nodes × 8 GPUs, 200 workloads`.
func (s Size) String() string {
	return fmt.Sprintf("%d nodes × %d GPUs, %d workloads", s.Nodes, s.GPUs, s.Workloads)
}

func (s Size) validate() error {
	if s.Nodes < 1 || s.Workloads < 0 {
		return errors.New("a fleet has at least one node, and no fewer than 0 workloads")
	}
	if s.GPUs < 1 || s.GPUs > 8 {
		return fmt.Errorf("%d GPUs per node: a ResourceSlice holds counter sets for 1 to 8", s.GPUs)
	}
	return nil
}

// Write writes the export of a fleet as JSON. It holds one object in memory at a time.
func Write(w io.Writer, s Size) error {
	return write(w, s, &list{begin: `{"apiVersion":"v1","items":[`, end: "\n" +
		`],"kind":"List","metadata":{"resourceVersion":""}}` + "\n", item: jsonItem})
}

// WriteYAML writes the same export as YAML.
func WriteYAML(w io.Writer, s Size) error {
	return write(w, s, &list{begin: "apiVersion: v1\nitems:\n", end: "kind: List\nmetadata:\n  resourceVersion: \"\"\n",
		item: yamlItem})
}

func write(w io.Writer, s Size, out *list) error {
	if err := s.validate(); err != nil {
		return err
	}
	out.w = bufio.NewWriterSize(w, 1<<20)
	out.text(out.begin)
	writeConfiguration(out)
	writeDevices(out, s)
	writeQueues(out, s)
	writeWorkloads(out, s)
	out.text(out.end)
	if out.err == nil {
		out.err = out.w.Flush()
	}
	return out.err
}

// list writes the items of a List as kubectl does: the keys of every map sorted. After the first error it writes
// nothing.
type list struct {
	w          *bufio.Writer
	begin, end string
	// item is the text of an object in the list, given its JSON and how many stand before it.
	item  func(object []byte, before int) ([]byte, error)
	items int
	err   error
}

func jsonItem(object []byte, before int) ([]byte, error) {
	if before > 0 {
		return append([]byte(",\n"), object...), nil
	}
	return append([]byte("\n"), object...), nil
}

func yamlItem(object []byte, _ int) ([]byte, error) {
	text, err := yaml.JSONToYAML(object)
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(bytes.TrimSpace(text), []byte("\n"), []byte("\n  "))
	return append(append([]byte("- "), text...), '\n'), nil
}

func (l *list) text(s string) {
	if l.err == nil {
		_, l.err = l.w.WriteString(s)
	}
}

func (l *list) add(object any) {
	if l.err != nil {
		return
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		l.err = err
		return
	}
	l.serve(content)
	b, err := json.Marshal(content)
	if err == nil {
		b, err = l.item(b, l.items)
	}
	if err != nil {
		l.err = err
		return
	}
	l.items++
	_, l.err = l.w.Write(b)
}

// serve completes the metadata as an API server does for every object.
func (l *list) serve(content map[string]any) {
	meta, ok := content["metadata"].(map[string]any)
	if !ok {
		return
	}
	for key, value := range map[string]any{
		"creationTimestamp": "2026-03-02T08:00:00Z",
		"resourceVersion":   strconv.Itoa(100_000 + l.items),
		"uid":               fmt.Sprintf("%08x-0000-4000-9000-000000000000", l.items),
	} {
		if meta[key] == nil {
			meta[key] = value
		}
	}
}
