// Package bench measures `charge` against a yardstick: a bare decode of the same bytes into the same
// types with the same decoder, and nothing else.
//
// In: exports made by package fleet. Out: Go benchmarks of both, and (command measure) the processor
// time and peak memory of both as whole processes, with the limits they must keep.
package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	kubejson "sigs.k8s.io/json"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"
)

// types of the objects in the fleets, by kind.
var types = map[string]func() any{
	"ClusterQueue":          func() any { return new(kueue.ClusterQueue) },
	"ConfigMap":             func() any { return new(corev1.ConfigMap) },
	"DeviceClass":           func() any { return new(resourceapi.DeviceClass) },
	"Job":                   func() any { return new(batchv1.Job) },
	"LocalQueue":            func() any { return new(kueue.LocalQueue) },
	"Namespace":             func() any { return new(corev1.Namespace) },
	"ResourceClaimTemplate": func() any { return new(resourceapi.ResourceClaimTemplate) },
	"ResourceFlavor":        func() any { return new(kueue.ResourceFlavor) },
	"ResourceSlice":         func() any { return new(resourceapi.ResourceSlice) },
	"Workload":              func() any { return new(kueue.Workload) },
}

// Decode decodes an export: the List into raw items, then each item into the type of its kind. All
// objects are kept until the end, and returned.
func Decode(export []byte) ([]any, error) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := kubejson.UnmarshalCaseSensitivePreserveInts(export, &list); err != nil {
		return nil, err
	}
	objects := make([]any, 0, len(list.Items))
	for i, item := range list.Items {
		make, ok := types[kindOf(item)]
		if !ok {
			return nil, fmt.Errorf("item %d is of kind %q, which no fleet holds", i, kindOf(item))
		}
		object := make()
		if err := kubejson.UnmarshalCaseSensitivePreserveInts(item, object); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// DecodeYAML decodes an export that package fleet wrote as YAML: each item, cut out by its first line, into the type of
// its kind, one after another. All objects are kept until the end, and returned.
func DecodeYAML(export []byte) ([]any, error) {
	_, text, ok := bytes.Cut(export, []byte("\nitems:\n- "))
	if !ok {
		return nil, errors.New("no list of items")
	}
	text, _, _ = bytes.Cut(text, []byte("\nkind: List\n"))
	var objects []any
	for i, item := range bytes.Split(text, []byte("\n- ")) {
		kind := kindOfYAML(item)
		make, ok := types[kind]
		if !ok {
			return nil, fmt.Errorf("item %d is of kind %q, which no fleet holds", i, kind)
		}
		object := make()
		if err := yaml.Unmarshal(append([]byte("  "), item...), object); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// kindOfYAML reads the kind where package fleet writes it.
func kindOfYAML(item []byte) string {
	_, rest, _ := bytes.Cut(item, []byte("\n  kind: "))
	kind, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(kind)
}

// kindOf reads the kind where package fleet and kubectl write it: the first key of that name at the
// top of the object, for no other cost to the yardstick than a search.
func kindOf(item []byte) string {
	const key = `"kind":"`
	_, rest, ok := bytes.Cut(item, []byte(key))
	if !ok {
		return ""
	}
	kind, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(kind)
}
