package cli

import (
	"context"
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

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// places are the parts of an answer that name the file an object was read from.
var places = regexp.MustCompile(`(?m)^ *"(file|line|column|endLine|endColumn)": .*\n`)

// withoutPlaces leaves out where objects were read, and the comma before it.
func withoutPlaces(answer string) string {
	return regexp.MustCompile(`,(\n *[}\]])`).ReplaceAllString(places.ReplaceAllString(answer, ""), "$1")
}

// answer is what a command says, without where it read it.
func answer(t *testing.T, command string, args ...string) string {
	t.Helper()
	out, errOut, code := run(t, append([]string{command, "-o", "json"}, args...)...)
	if out = withoutPlaces(out); command == "lint" {
		out = findingsByText(t, out)
	}
	return fmt.Sprintf("%sexit %d\n%s", out, code, errOut)
}

// findingsByText puts findings, which stand in the order of the files, in that of their text, and leaves out how many files and
// objects were read: a must-gather holds namespaces twice.
func findingsByText(t *testing.T, answer string) string {
	t.Helper()
	var list map[string]any
	if err := json.Unmarshal([]byte(answer), &list); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	delete(list, "files")
	delete(list, "objects")
	if findings, ok := list["findings"].([]any); ok {
		slices.SortFunc(findings, func(a, b any) int { return strings.Compare(indented(t, a), indented(t, b)) })
	}
	return indented(t, list)
}

func indented(t *testing.T, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", "    ")
	check(t, err)
	return string(out) + "\n"
}

// layouts are the ways in which a dump is laid out in files.
var layouts = map[string]func(*testing.T, []unstructured.Unstructured) map[string][]byte{
	"kinds": perKind, "must-gather": mustGather, "inspect": inspect, "kueue-gather": kueueGather, "cluster-info": clusterInfo,
}

// TestTheSameAnswersHoweverADumpIsLaidOut lays every recorded cluster out in files and packs these. Layouts, archives and commands
// take turns, so that each meets each of the others several times.
func TestTheSameAnswersHoweverADumpIsLaidOut(t *testing.T) {
	names, packings := slices.Sorted(maps.Keys(layouts)), slices.Sorted(maps.Keys(archives))
	// The explanations hold the charges.
	turns := [][]string{{"explain", "queues"}, {"charge", "simulate"}, {"lint", "explain"}, {"queues", "charge"}}
	for turn, file := range scenarios(t) {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			layout, packing := names[turn%len(names)], packings[turn%len(packings)]
			dir := t.TempDir()
			tree, packed := filepath.Join(dir, "tree"), filepath.Join(dir, packing)
			writeTree(t, tree, layouts[layout](t, dumped(t, file)))
			check(t, os.WriteFile(packed, archives[packing](t, tree), 0o644))
			for i, command := range turns[turn%len(turns)] {
				from := []string{tree, packed}[(turn/len(turns)+i)%2]
				if diff := cmp.Diff(answer(t, command, "--from", file), answer(t, command, "--from", from)); diff != "" {
					t.Errorf("%s of %s, %s (-plain +packed):\n%s", command, layout, filepath.Base(from), diff)
				}
			}
		})
	}
}

// TestEveryCommandReadsEveryLayout asks all of them about one cluster, in which everything is used.
func TestEveryCommandReadsEveryLayout(t *testing.T) {
	file := filepath.Join("..", "..", "testdata", "golden", "scenarios", "borrow-within-cohort-preempts", "dump.yaml")
	objects := dumped(t, file)
	for _, command := range []string{"charge", "explain", "queues", "simulate", "lint"} {
		want := answer(t, command, "--from", file)
		for layout, lay := range layouts {
			tree := filepath.Join(t.TempDir(), layout)
			writeTree(t, tree, lay(t, objects))
			if diff := cmp.Diff(want, answer(t, command, "--from", tree)); diff != "" {
				t.Errorf("%s of %s (-plain +laid out):\n%s", command, layout, diff)
			}
		}
	}
}

// told writes down all that a reader tells of a dump, without the directory or archive it stands in.
type told struct {
	root  string
	scope source.Scope
	lines []string
}

func (r *told) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...) + fmt.Sprintf(" of %+v", r.scope)
	r.lines = append(r.lines, strings.ReplaceAll(line, r.root+"/", ""))
}

func (r *told) Want(_, kind string) bool { return kind != "Event" }
func (r *told) Document(d source.Document) {
	place, _ := d.Origin.Field("kind")
	r.note("%d %s %s %v %s", d.Seq, d.Kind, d.Origin, place, d.JSON)
}
func (r *told) Listed(apiVersion, kind string)     { r.note("listed %s %s", apiVersion, kind) }
func (r *told) Missing(group, kind, reason string) { r.note("missing %s %s: %s", group, kind, reason) }
func (r *told) Problem(p source.Problem)           { r.note("problem %s", p) }
func (r *told) Scope(s source.Scope)               { r.scope = s }
func (r *told) BrokeOff(reason string)             { r.note("broke off: %s", reason) }

func readAll(t *testing.T, path, root string) []string {
	t.Helper()
	r := &told{root: root}
	check(t, source.Read(context.Background(), source.Options{Filenames: []string{path}, Recursive: true}, r))
	return r.lines
}

// TestAnArchiveTellsWhatTheFilesInItTell reads recorded clusters, laid out in each way by turns, from files and from each kind of
// archive of them, by turns: the same objects, at the same places, in the same order, of the same part of the cluster.
func TestAnArchiveTellsWhatTheFilesInItTell(t *testing.T) {
	within := map[string]string{"case.tar.gz": "/case/attachments/dump.tar.xz", "case.zip": "/case/dump.tar.gz"}
	names, packings := slices.Sorted(maps.Keys(layouts)), slices.Sorted(maps.Keys(archives))
	for turn, file := range scenarios(t) {
		objects, layout, name := dumped(t, file), names[turn%len(names)], packings[turn%len(packings)]
		path := filepath.Join(t.TempDir(), name)
		root := path + within[name]
		// The last directory counts for the layout.
		tree := filepath.Join(t.TempDir(), filepath.Base(root))
		writeTree(t, tree, layouts[layout](t, objects))
		want := readAll(t, tree, tree)
		if len(want) < len(objects) {
			t.Fatalf("%s: %s tells only %d things of %d objects", file, layout, len(want), len(objects))
		}
		check(t, os.WriteFile(path, archives[name](t, tree), 0o644))
		if diff := cmp.Diff(want, readAll(t, path, root)); diff != "" {
			t.Errorf("%s: %s in %s (-files +archive):\n%.2000s", file, layout, name, diff)
		}
	}
}
