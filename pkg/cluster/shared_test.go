package cluster

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// whole decodes the kinds of sharedDecoders without sharing.
var whole = map[string]decodeFunc{
	"ResourceSlice": into[resourcev1.ResourceSlice], "Job": into[batchv1.Job], "Workload": into[kueue.Workload],
}

// sharedOf are the shared decoders of the newest version by kind.
func sharedOf() map[string]decodeFunc {
	out := map[string]decodeFunc{}
	for of, decode := range sharedDecoders() {
		if kind, _ := FindKind(of.GroupKind); kind.Versions[0] == of.version {
			out[of.Kind] = decode
		}
	}
	return out
}

// asAPI is what was decoded as the type of the API.
func asAPI(d decoded) any { return (&Object{Typed: d.typed}).API() }

// documents collects the objects of the shared kinds.
type documents struct{ found []source.Document }

func (s *documents) Want(_, kind string) bool   { return whole[kind] != nil }
func (s *documents) Document(d source.Document) { s.found = append(s.found, d) }
func (s *documents) Listed(_, _ string)         {}
func (s *documents) Missing(_, _, _ string)     {}
func (s *documents) Problem(source.Problem)     {}

// corpus visits the objects of the shared kinds in the files that the tests of the program read.
func corpus(t *testing.T, visit func(file string, d source.Document)) {
	t.Helper()
	for _, dir := range []string{"golden", "recorded", "examples", "../demo", "walkthroughs"} {
		err := filepath.WalkDir("../../testdata/"+dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var in documents
			if err := source.ReadBytes(context.Background(), path, data, &in); err != nil {
				return nil // a file that is meant to be broken
			}
			for _, d := range in.found {
				visit(path, d)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Sharing equal parts must not change what is read: every object of the corpus is decoded both ways, and again after others
// went before it.
func TestSharedDecodingGivesTheSameObjects(t *testing.T) {
	shared, compared := sharedDecoders(), map[string]int{}
	corpus(t, func(file string, d source.Document) {
		gv, err := schema.ParseGroupVersion(d.APIVersion)
		kind, known := FindKind(schema.GroupKind{Group: gv.Group, Kind: d.Kind})
		if err != nil || !known || shared[kindVersion{kind.GroupKind, gv.Version}] == nil {
			return
		}
		plain, err := kind.decode[gv.Version](d.JSON)
		if err != nil {
			return // the same is said of it, see below
		}
		got, err := shared[kindVersion{kind.GroupKind, gv.Version}](d.JSON)
		if err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(plain.typed, asAPI(got)) {
			t.Errorf("%s: decoded differently:\n%+v\n%+v", file, plain.typed, asAPI(got))
		}
		compared[d.Kind]++
	})
	for kind := range whole {
		if compared[kind] < 100 {
			t.Errorf("only %d objects of kind %s compared", compared[kind], kind)
		}
	}
}

// unusual are objects that the shared decoders must read as, or refuse with the same words as, those of all types do.
var unusual = map[string][]string{
	"ResourceSlice": {
		`{"metadata":{"name":"s"},"spec":{"driver":"d","allNodes":true,"pool":{"name":"p"},"sharedCounters":[{"name":"c","counters":{"m":{"value":"1"}}}],
"devices":[{"name":"a","attributes":null,"capacity":{},"nodeName":"n","taints":[{"key":"k","effect":"NoSchedule"}],"allowMultipleAllocations":true,"bindsToNode":true}]}}`,
		`{"spec":{"devices":[{"attributes":[]}]}}`, `{"spec":{"devices":[null,{}]}}`, `{"spec":{"devices":null}}`, `{"spec":{"devices":{}}}`, `{"spec":null}`, `{}`, `[]`, `null`,
		`{"spec":{"devices":[{"name":"a","name":"b"}]}}`, `{"spec":{"devices":[],"devices":[{"name":"a"}]}}`, `{"spec":{"driver":"a"},"spec":{"devices":[]}}`,
		`{"spec":{"devices":[],"sharedCounters":null}}`, `{"spec":{"sharedCounters":[{"name":"a"}],"sharedCounters":[{"counters":{}}]}}`,
		`{"spec":{"devices":[{"name":"\u0061","attributes":{"a":{"string":"x\n"},"b":{"int":-5},"c":{"int":1e3},"d":{"bool":true},"e":{"version":"1.2.3"},"f":{}}}]}}`,
		`{"spec":{"devices":[{"name":"a","attributes":{"a":{"int":1.5}}}]}}`, `{"spec":{"devices":[{"name":"a","attributes":{"a":{"string":"x","int":1}}}]}}`,
		`{"spec":{"devices":[{"name":"a","attributes":{"a":{"bool":false}, "a":{"strings":["x"]}}}]}}`, `{"spec":{"devices":[{"name":1}]}}`,
		`{"spec":{"devices":[{"name":"a","capacity":{"memory":{"value":"1Gi","requestPolicy":{"default":"1"}}},"unknown":[{}]}]}}`,
		`{"spec":{"perDeviceNodeSelection":true,"devices":[{"name":"a","nodeName":"n"},{"name":"b","nodeName":"n"},{"name":"c","nodeSelector":{"nodeSelectorTerms":[{}]},"bindingConditions":["x"]}]}}`,
		`{"spec":{"partitionTypeAttribute":"d/profile","devices":[{"name":"a","attributes":{"b":{"string":"x"},"a":{"versions":["1.0.0"]}},"nodeAllocatableResources":{"cpu":{}}}]}}`,
		`{"spec":{"devices":[{"name":"a","attributes":{"b":{"string":"x"},"b":{"string":"y"}}},{"name":"b","attributes":{"c":{"ints":[]},"b":{"bool":null}}},{"name":"c","taints":1}]}}`,
		"{\"spec\" : {\n\t\"devices\" : [ {\"name\" : \"a\" , \"consumesCounters\" : [ {\"counterSet\":\"s\"} ] } , {\"name\":\"b\"} ]\r\n} }", `{"spec":{"devices":[{"Name":"a"}]}}`,
	},
	"Job": {
		`{"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}}`, `{"spec":{"template":{"spec":null}}}`, `{"spec":{"template":{}}}`, `{}`,
		`{"metadata":{"labels":{"a":"b","c":"d"}},"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}`, `{"spec":{"template":{"spec":{}}},"metadata":{"name":"a","labels":null}}`,
		`{"metadata":{"labels":{"a":1}},"spec":{"template":{"spec":{}}}}`, `{"metadata":{"labels":{"a":"b"},"labels":{"c":"d"}},"spec":{"template":{"spec":{}}}}`,
		`{"metadata":null,"spec":{"template":{"spec":{}}},"metadata":{"labels":{}}}`, `{"metadata":{"labels":[]},"spec":{"template":{"spec":{}}}}`,
		`{"spec":{"template":{"spec":{"containers":{}}}}}`, `{"spec":{"template":{"spec":{}},"template":{"metadata":{"name":"x"}}}}`, `{"spec":{"parallelism":"x","template":{"spec":{}}}}`,
	},
	"Workload": {
		`{"spec":{"podSets":[{"name":"a","template":{"spec":{"restartPolicy":"Never"}}},{"name":"b","template":{"spec":{"restartPolicy":"Never"}}}]},"status":{"admission":{"podSetAssignments":[{"name":"a"}]}}}`,
		`{"status":{"admission":{"podSetAssignments":[{"name":"a","resourceUsage":{"cpu":"1"}}]}},"spec":{"podSets":[{"template":{"spec":{}}}]}}`,
		`{"spec":{"podSets":[]},"status":{"admission":null}}`, `{"spec":{"podSets":[{"template":{}}]}}`, `{"spec":{"podSets":[null]}}`, `{"spec":{"podSets":null}}`, `{}`,
		`{"spec":{"podSets":[]},"status":{"admission":{"podSetAssignments":{}}}}`, `{"spec":{"podSets":[]},"status":{"admission":{"podSetAssignments":null}}}`,
		`{"spec":{"podSets":[{"template":{"spec":{"containers":1}}}]}}`,
		`{"status":null,"spec":{"podSets":[{"name":"a","template":{"spec":{},"metadata":{"labels":{"a":"b"}}}},{"name":"b","template":{"spec":{}}}],"queueName":"q"},"status":{"admission":{}}}`,
		`{"spec":{"podSets":[{"name":"a","count":"x","template":{"spec":{}}}]}}`, `{"spec":{"podSets":[{"name":"a","template":{"spec":{},"spec":{}}}]}}`, `{"spec":{"podSets":{}}}`,
	},
}

// agree compares the two ways to decode a text.
func agree(t *testing.T, kind, text string, shared decodeFunc) {
	t.Helper()
	want, wantErr := whole[kind]([]byte(text))
	for range 2 { // from the text, and from what is remembered of it
		got, err := shared([]byte(text))
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("%s %s: error %v, want %v", kind, text, err, wantErr)
		}
		if err == nil && !equality.Semantic.DeepEqual(want.typed, asAPI(got)) {
			t.Fatalf("%s %s: decoded differently:\n%+v\n%+v", kind, text, want.typed, asAPI(got))
		}
		if err == nil && got.meta != got.typed.(metav1.ObjectMetaAccessor).GetObjectMeta() {
			t.Fatalf("%s %s: the metadata is not that of the object", kind, text)
		}
	}
}

func TestUnusualObjectsAreDecodedAlike(t *testing.T) {
	for kind, texts := range unusual {
		shared := sharedOf()[kind]
		for _, text := range texts {
			agree(t, kind, text, shared)
		}
	}
}

// Whatever an object holds, sharing gives what decoding it as a whole gives.
func FuzzSharedDecoding(f *testing.F) {
	for kind, texts := range unusual {
		for _, text := range texts {
			f.Add(kind, text)
		}
	}
	f.Fuzz(func(t *testing.T, kind, text string) {
		if whole[kind] == nil || !json.Valid([]byte(text)) || !utf8.ValidString(text) {
			return // package source hands over nothing else
		}
		agree(t, kind, text, sharedOf()[kind])
	})
}

// Text that is no JSON is followed to nowhere.
func FuzzScan(f *testing.F) {
	for _, s := range []string{"", "{", `{"a"`, `{"a":`, `{"a":"\`, `{"a":[}`, `{"a":1,`, `[1,{"b":"]"}]`, `{"a":1}x`, `["a"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var values [][]byte
		note := func(v []byte) bool { values = append(values, v); return true }
		ok := members(text, func(_, v []byte) bool { return note(v) })
		ok = elements(text, note) || ok
		for _, v := range values {
			if json.Valid(text) && !json.Valid(v) {
				t.Errorf("%q: %q is no value of it", text, v)
			}
			if at := offset(text, v); string(text[at:at+len(v)]) != string(v) {
				t.Errorf("%q: %q does not stand at %d", text, v, at)
			}
		}
		if ok && len(text) > 0 && json.Valid(text) && len(blanked(text, values...)) > len(text)+4*len(values) {
			t.Errorf("%q: blanked %q", text, blanked(text, values...))
		}
	})
}
