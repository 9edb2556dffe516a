package cluster

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// slices collects the ResourceSlices of a file as JSON.
type slicesOf struct{ found [][]byte }

func (s *slicesOf) Want(_, kind string) bool   { return kind == "ResourceSlice" }
func (s *slicesOf) Document(d source.Document) { s.found = append(s.found, d.JSON) }
func (s *slicesOf) Listed(_, _ string)         {}
func (s *slicesOf) Missing(_, _, _ string)     {}
func (s *slicesOf) Problem(source.Problem)     {}

// Sharing the parts of devices must not change what is read: every ResourceSlice of the corpus is
// decoded both ways, and again after others went before it.
func TestSharedDecodingGivesTheSameSlices(t *testing.T) {
	files, err := filepath.Glob("../../testdata/golden/scenarios/*/dump.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	var shared sliceDecoder
	compared := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var in slicesOf
		if err := source.ReadBytes(context.Background(), f, data, &in); err != nil {
			t.Fatal(err)
		}
		for _, text := range in.found {
			plain, err := into[resourcev1.ResourceSlice](text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := shared.decode(text)
			if err != nil {
				t.Fatal(err)
			}
			if !equality.Semantic.DeepEqual(plain.typed, got.typed) {
				t.Errorf("%s: decoded differently:\n%+v\n%+v", f, plain.typed, got.typed)
			}
			compared++
		}
	}
	if compared < 100 {
		t.Errorf("only %d slices compared", compared)
	}
}

func TestSharedDecodingSeesEveryField(t *testing.T) {
	const text = `{"metadata":{"name":"s"},"spec":{"driver":"d","allNodes":true,"pool":{"name":"p"},"sharedCounters":[{"name":"c","counters":{"m":{"value":"1"}}}],
"devices":[{"name":"a","attributes":null,"capacity":{},"nodeName":"n","taints":[{"key":"k","effect":"NoSchedule"}],"allowMultipleAllocations":true,"bindsToNode":true}]}}`
	plain, err := into[resourcev1.ResourceSlice]([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var shared sliceDecoder
	got, err := shared.decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !equality.Semantic.DeepEqual(plain.typed, got.typed) {
		t.Errorf("decoded differently:\n%+v\n%+v", plain.typed, got.typed)
	}
	if _, err := shared.decode([]byte(`{"spec":{"devices":[{"attributes":[]}]}}`)); err == nil {
		t.Error("a list of attributes was accepted")
	}
}
