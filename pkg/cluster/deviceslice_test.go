package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// fill gives every field of a type a value that is not its zero.
func fill(v reflect.Value, depth int) {
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(f, depth+1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	}
}

// A field that a new version of the API brings must not be lost.
func TestEveryFieldOfASliceIsKept(t *testing.T) {
	var want resourcev1.ResourceSlice
	fill(reflect.ValueOf(&want.Spec).Elem(), 0)
	want.ObjectMeta = metav1.ObjectMeta{Name: "s", Labels: map[string]string{"a": "b"}}
	want.TypeMeta = metav1.TypeMeta{Kind: "ResourceSlice", APIVersion: "resource.k8s.io/v1"}
	for name, devices := range map[string][]resourcev1.Device{
		"devices with all fields": want.Spec.Devices,
		"a device with one":       {{Name: "a"}},
		"a device with few": {{Name: "a", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"b": {StringValue: ptr.To("x")}, "a": {IntValue: ptr.To[int64](1)}, "c": {BoolValue: ptr.To(false)}, "d": {VersionValue: ptr.To("1.0.0")}, "e": {}}}},
		"empty lists": {{Name: "a", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}, ConsumesCounters: []resourcev1.DeviceCounterConsumption{},
			Taints: []resourcev1.DeviceTaint{}}, {Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"a": {IntValues: []int64{}}}}},
		"no devices":   {},
		"none written": nil,
	} {
		t.Run(name, func(t *testing.T) {
			want := want
			want.Spec.Devices = devices
			before := want.DeepCopy()
			got := NewDeviceSlice(&want).API()
			if diff := cmp.Diff(before, got); diff != "" {
				t.Errorf("a slice of the API is not what it was (-want +got)\n%s", diff)
			}
		})
	}
}

// alike is an export of nodes with GPUs of one kind: devices differ in their UUIDs alone, as those of a real fleet.
func alike(version string, nodes int) string {
	var out bytes.Buffer
	out.WriteString(`{"apiVersion":"v1","kind":"List","items":[`)
	for n := range nodes {
		if n > 0 {
			out.WriteString(",\n")
		}
		fmt.Fprintf(&out, `{"apiVersion":"resource.k8s.io/%s","kind":"ResourceSlice","metadata":{"name":"node-%d"},"spec":{"driver":"d","nodeName":"node-%[2]d","pool":{"name":"node-%[2]d","generation":1,"resourceSliceCount":1},"devices":[`, version, n)
		for gpu := range 4 {
			for part := range 16 {
				device := fmt.Sprintf(`"attributes":{"type":{"string":"mig"},"parentUUID":{"string":"GPU-%d-%d"},"index":{"int":%d},"driverVersion":{"version":"1.2.3"}},`+
					`"capacity":{"memory":{"value":"5Gi"}},"consumesCounters":[{"counterSet":"gpu-%[2]d","counters":{"memory":{"value":"5Gi"}}}]`, n, gpu, gpu)
				if version == "v1beta1" {
					device = `"basic":{` + device + `}`
				}
				if gpu+part > 0 {
					out.WriteString(",")
				}
				fmt.Fprintf(&out, `{"name":"gpu-%d-part-%d",%s}`, gpu, part, device)
			}
		}
		out.WriteString("]}}")
	}
	out.WriteString("]}")
	return out.String()
}

// load reads a text as a file, of which nothing is kept in memory.
func load(t *testing.T, text string) *Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fleet.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := NewBuilder(nil)
	err := source.Read(context.Background(), source.Options{Filenames: []string{path}}, b.Sink(InputOptions{}))
	snap := b.Build()
	if err != nil || len(snap.Problems) > 0 {
		t.Fatal(err, snap.Problems)
	}
	return snap
}

// What devices have in common is there once.
func TestEqualPartsOfDevicesAreShared(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1", "v1beta2"} {
		t.Run(version, func(t *testing.T) {
			lists, values, names := map[*Attribute]bool{}, map[*resourcev1.DeviceAttribute]bool{}, map[string]bool{}
			devices := 0
			for _, slice := range All[*DeviceSlice](load(t, alike(version, 3)), ResourceSlice) {
				for i := range slice.Spec.Devices {
					d := &slice.Spec.Devices[i]
					devices++
					lists[&d.Attributes[0]], names[d.Name] = true, true
					for _, a := range d.Attributes {
						values[a.Value] = true
					}
				}
			}
			if devices != 3*64 || len(lists) != 3*4 || len(values) != 3*4+1+4+1 || len(names) != 64 {
				t.Errorf("%d devices have %d lists of %d attributes and %d names, want 192, 12, 18 and 64", devices, len(lists), len(values), len(names))
			}
		})
	}
}

// A hundred thousand devices are nothing rare. A device takes 116 bytes, with its share of what slices and lists take; as a type
// of the API it takes 176 before anything it refers to.
func TestMemoryOfADevice(t *testing.T) {
	const nodes, limit = 400, 150
	text := alike("v1", nodes)
	before := heap()
	snap := load(t, text)
	each := float64(heap()-before) / (nodes * 64)
	if each > limit {
		t.Errorf("a device takes %.0f bytes of memory, more than %d", each, limit)
	}
	t.Logf("a device takes %.0f bytes", each)
	runtime.KeepAlive(snap)
	runtime.KeepAlive(text)
}

// heap is the memory in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// Slices can be changed for a what-if as all objects can.
func TestChangesOfSlices(t *testing.T) {
	snap := load(t, alike("v1", 1))
	o := snap.List(ResourceSlice)[0]
	created := o.API().(*resourcev1.ResourceSlice)
	created.Name = "made"
	changed, err := snap.Apply(
		Change{Ref: o.Ref, Patch: []byte(`[{"op":"replace","path":"/spec/devices/1/name","value":"renamed"}]`)},
		Change{Ref: Ref{APIVersion: o.Ref.APIVersion, Kind: o.Ref.Kind, Name: "made"}, Create: created})
	if err != nil {
		t.Fatal(err)
	}
	patched, _, _ := Lookup[*DeviceSlice](changed, ResourceSlice, "", o.Ref.Name)
	made, _, _ := Lookup[*DeviceSlice](changed, ResourceSlice, "", "made")
	want := o.API().(*resourcev1.ResourceSlice)
	want.Spec.Devices[1].Name = "renamed"
	if patched == nil || !sameText(t, want, patched.API()) {
		t.Errorf("patched: %+v", patched)
	}
	if made == nil || !sameText(t, created, made.API()) {
		t.Errorf("created: %+v", made)
	}
}

func sameText(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	return bytes.Equal(x, y)
}
