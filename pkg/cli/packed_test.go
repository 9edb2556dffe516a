package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// scenarios are the recorded cluster dumps.
func scenarios(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, dir := range []string{"golden", "recorded"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "testdata", dir, "scenarios", "*", "dump.yaml"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no scenarios in %s: %v", dir, err)
		}
		out = append(out, found...)
	}
	return out
}

// dumped are the objects of a dump.
func dumped(t *testing.T, file string) []unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = yaml.YAMLToJSON(text); err != nil {
		t.Fatal(err)
	}
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := utiljson.Unmarshal(text, &list); err != nil { // which keeps large integers
		t.Fatal(err)
	}
	var out []unstructured.Unstructured
	for _, o := range list.Items {
		out = append(out, unstructured.Unstructured{Object: o})
	}
	if len(out) == 0 {
		t.Fatalf("%s holds no objects", file)
	}
	return out
}

// resourceOf is the plural name of a kind, and whether it is namespaced.
func resourceOf(o unstructured.Unstructured) (name string, namespaced bool) {
	if k, ok := cluster.FindKind(schema.GroupKind{Group: o.GroupVersionKind().Group, Kind: o.GetKind()}); ok {
		return k.Resource, k.Namespaced
	}
	return strings.ToLower(o.GetKind()) + "s", o.GetNamespace() != ""
}

func groupOf(o unstructured.Unstructured) string {
	if g := o.GroupVersionKind().Group; g != "" {
		return g
	}
	return "core"
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	out, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func listOf(kind, apiVersion string, items []unstructured.Unstructured) map[string]any {
	contents := []any{}
	for _, o := range items {
		contents = append(contents, o.Object)
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "items": contents}
}

// perKind lays objects out as `kubectl get KIND -A -o yaml` and `-o json` do, one file for each kind.
func perKind(t *testing.T, objects []unstructured.Unstructured) map[string][]byte {
	kinds := map[string][]unstructured.Unstructured{}
	for _, o := range objects {
		resource, _ := resourceOf(o)
		kinds[resource+"."+groupOf(o)] = append(kinds[resource+"."+groupOf(o)], o)
	}
	files := map[string][]byte{}
	for i, name := range slices.Sorted(maps.Keys(kinds)) {
		list := listOf("List", "v1", kinds[name])
		if i%2 == 0 {
			files[name+".yaml"] = marshal(t, list)
			continue
		}
		text, err := json.MarshalIndent(list, "", "    ")
		if err != nil {
			t.Fatal(err)
		}
		files[name+".json"] = text
	}
	return files
}

// mustGather lays objects out as `oc adm inspect` does: lists for each namespace, cluster-scoped objects one by one.
func mustGather(t *testing.T, objects []unstructured.Unstructured) map[string][]byte {
	const root = "must-gather/quay-io-kueue-sha256-0a1b/"
	files := map[string][]byte{root + "version": []byte("must-gather v4\n"), root + "namespaces/team-a/pods/p/p/logs/current.log": []byte("kind: Pod\n")}
	lists := map[string][]unstructured.Unstructured{}
	namespaces, kinds := map[string]bool{}, map[string]unstructured.Unstructured{}
	for _, o := range objects {
		resource, namespaced := resourceOf(o)
		if !namespaced {
			if slices.Contains([]string{"Namespace", "PriorityClass", "RuntimeClass"}, o.GetKind()) {
				file := root + "cluster-scoped-resources/" + groupOf(o) + "/" + resource + ".yaml"
				lists[file] = append(lists[file], o)
			} else {
				files[root+"cluster-scoped-resources/"+groupOf(o)+"/"+resource+"/"+o.GetName()+".yaml"] = marshal(t, o.Object)
			}
			if o.GetKind() == "Namespace" {
				namespaces[o.GetName()] = true
			}
			continue
		}
		namespaces[o.GetNamespace()] = true
		file := groupOf(o) + "/" + resource + ".yaml"
		kinds[file] = o
		lists[root+"namespaces/"+o.GetNamespace()+"/"+file] = append(lists[root+"namespaces/"+o.GetNamespace()+"/"+file], o)
	}
	for file, items := range lists {
		files[file] = marshal(t, listOf(items[0].GetKind()+"List", items[0].GetAPIVersion(), items))
	}
	for namespace := range namespaces {
		for file, o := range kinds {
			if name := root + "namespaces/" + namespace + "/" + file; files[name] == nil {
				files[name] = marshal(t, listOf(o.GetKind()+"List", o.GetAPIVersion(), nil))
			}
		}
	}
	return files
}

func writeTree(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func writeTarGz(t *testing.T, file string, files map[string][]byte) {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	for _, close := range []func() error{w.Close, z.Close} {
		if err := close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// places are the parts of an answer that name the file an object was read from.
var places = regexp.MustCompile(`(?m)^ *"(file|line)": .*\n`)

// withoutPlaces leaves out where objects were read, and the comma before it.
func withoutPlaces(answer string) string {
	return regexp.MustCompile(`,(\n *[}\]])`).ReplaceAllString(places.ReplaceAllString(answer, ""), "$1")
}

// answer is what a command says, without where it read it.
func answer(t *testing.T, command string, args ...string) string {
	t.Helper()
	out, errOut, code := run(t, append([]string{command, "-o", "json"}, args...)...)
	return fmt.Sprintf("%sexit %d\n%s", withoutPlaces(out), code, errOut)
}

// TestTheSameAnswersHoweverADumpIsPacked packs every recorded cluster in two of four ways, by turns: tree and
// gather.tar.gz hold the same files. Of every fifth the explanations are compared, which hold the charges but take
// much longer.
func TestTheSameAnswersHoweverADumpIsPacked(t *testing.T) {
	turns := [][]string{{"kinds", "gather.tar.gz"}, {"dump.tar.gz", "tree"}}
	for turn, file := range scenarios(t) {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			dir := t.TempDir()
			objects := dumped(t, file)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			gathered := mustGather(t, objects)
			writeTree(t, filepath.Join(dir, "kinds"), perKind(t, objects))
			writeTree(t, filepath.Join(dir, "tree"), gathered)
			writeTarGz(t, filepath.Join(dir, "gather.tar.gz"), gathered)
			writeTarGz(t, filepath.Join(dir, "dump.tar.gz"), map[string][]byte{"dump.yaml": text})
			command := "charge"
			if turn%5 == 0 {
				command = "explain"
			}
			want := answer(t, command, "--from", file)
			for _, packed := range turns[turn%2] {
				if diff := cmp.Diff(want, answer(t, command, "--from", filepath.Join(dir, packed))); diff != "" {
					t.Errorf("%s (-plain +packed):\n%s", packed, diff)
				}
			}
		})
	}
}
