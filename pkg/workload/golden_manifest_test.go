package workload

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

// TestDumpsWithoutWorkloads takes the Workload objects out of the dumps: what is made from the jobs alone must be what
// Kueue made, names included.
func TestDumpsWithoutWorkloads(t *testing.T) {
	eachScenario(t, "*", func(t *testing.T, dir string, o observation) {
		data, err := os.ReadFile(filepath.Join(dir, "dump.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]*Workload{}
		for _, w := range findIn(t, "dump.yaml", withoutKind(t, data, "Workload")) {
			if w.State == Managed {
				key := w.Namespace + "/" + w.Name
				if w.Name == "" {
					key += w.OwnerRef.Kind + "/" + w.OwnerRef.Name
				}
				found[key] = w
			}
		}
		for _, want := range o.Workloads {
			if want.madeElsewhere() {
				continue
			}
			key := orDefault(want.Namespace) + "/" + want.Workload
			if strings.Contains(dir, "elastic") || strings.Contains(dir, "autoscaling") {
				// The dumps hold no generation, and without it the name of an elastic job's Workload is unknown.
				key = orDefault(want.Namespace) + "/" + want.Owner
			}
			got := found[key]
			if got == nil {
				t.Errorf("%s of %s is not made from its job; made are %v", key, want.Owner, slices.Sorted(maps.Keys(found)))
				continue
			}
			made := tellWorkload(got)
			made.Active = want.Active
			expected := want.named(orDefault(want.Namespace))
			if len(want.Admission.PodSetAssignments) > 0 && want.Admission.PodSetAssignments[0].Count < int64(want.PodSets[0].Count) {
				// A job admitted in part is changed by Kueue; the job alone does not tell the first count.
				expected.PodSets, made.PodSets = nil, nil
			}
			if diff := cmp.Diff(expected, made); diff != "" {
				t.Errorf("%s (-Kueue +made):\n%s", key, diff)
			}
		}
	})
}

// madeElsewhere: the Workload does not come from a job as it stands in the dump: it was made by hand or before its
// job, is over, or is of an earlier size of an elastic job.
func (o observed) madeElsewhere() bool {
	return o.Owner == "" || o.finished() || slices.Contains([]string{"noted", "ready", "crooked"}, o.Workload) ||
		o.Workload == "raycluster-grows-bd71f"
}

func (o observed) finished() bool {
	return slices.ContainsFunc(o.Conditions, func(c observedCondition) bool { return c.Type == "Finished" && c.Status == "True" })
}

func withoutKind(t *testing.T, data []byte, kind string) []byte {
	t.Helper()
	var list struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}
	if err := yaml.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	list.Items = slices.DeleteFunc(list.Items, func(item json.RawMessage) bool {
		var o struct{ Kind string }
		return json.Unmarshal(item, &o) == nil && o.Kind == kind
	})
	out, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestManifests: from the manifests alone, which never passed an API server, the same workloads come out, but for
// their names, which need the server's UIDs.
func TestManifests(t *testing.T) {
	eachScenario(t, "*", func(t *testing.T, dir string, o observation) {
		data, err := os.ReadFile(filepath.Join(dir, "scenario.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]told{}
		var without, rejected []string
		for _, w := range findIn(t, "scenario.yaml", manifests(t, data, o)) {
			told := tellWorkload(w)
			told.Active = true
			switch {
			case o.refusedByServer(w):
			case w.State == Managed:
				got[told.Owner+w.handmade()] = told
			case w.State == Rejected:
				rejected = append(rejected, w.OwnerRef.Kind+"/"+w.OwnerRef.Name)
			default:
				without = append(without, owners(w)...)
			}
		}
		want := map[string]told{}
		for _, w := range o.Workloads {
			if w.Owner == "" || !w.superseded() {
				told := w.withoutReclaimed().named(orDefault(w.Namespace))
				told.Active = true
				name := ""
				if w.Owner == "" {
					name = w.Workload
				}
				want[told.Owner+name] = told
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("workloads (-Kueue +made):\n%s", diff)
		}
		slices.Sort(without)
		if diff := cmp.Diff(o.without(), without); diff != "" {
			t.Errorf("jobs without workload (-Kueue +made):\n%s", diff)
		}
		slices.Sort(rejected)
		if diff := cmp.Diff(o.rejectedJobs(), rejected); diff != "" {
			t.Errorf("refused (-Kueue +told):\n%s", diff)
		}
	})
}

func (w *Workload) handmade() string {
	if w.OwnerRef.IsZero() {
		return w.Name
	}
	return ""
}

// superseded Workloads are of an earlier size of their job.
func (o observed) superseded() bool {
	return slices.ContainsFunc(o.Conditions, func(c observedCondition) bool { return c.Reason == "WorkloadSliceReplaced" }) ||
		o.Workload == "raycluster-grows-bd71f"
}

func (o observed) withoutReclaimed() observed {
	o.ReclaimablePods = nil
	return o
}

func (o observation) rejectedJobs() []string {
	var out []string
	for _, r := range o.Rejected {
		if r.byKueue() && slices.ContainsFunc(Kinds(), func(gk schema.GroupKind) bool { return gk.Kind == r.Kind }) {
			out = append(out, r.Kind+"/"+r.Name)
		}
	}
	slices.Sort(out)
	return out
}

// byKueue tells a refusal of Kueue's webhook from one of the API server.
func (r rejection) byKueue() bool {
	return strings.Contains(r.Message, "admission webhook") && strings.Contains(r.Message, ".kb.io")
}

// refusedByServer tells that the API server itself did not take the object; this package does not check for that.
func (o observation) refusedByServer(w *Workload) bool {
	return slices.ContainsFunc(o.Rejected, func(r rejection) bool {
		return (!r.byKueue() || r.Kind == "Workload") && (r.Kind == w.OwnerRef.Kind && r.Name == w.OwnerRef.Name || w.Record != nil && r.Name == w.Name)
	})
}

// document is one document of a scenario: an object, or a step.
type document map[string]any

func (d document) text(path ...string) string {
	var v any = map[string]any(d)
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[key]
	}
	s, _ := v.(string)
	return s
}

// manifests are the objects of a scenario after its steps: pods made and sizes changed. Steps that need a running
// cluster are left out.
func manifests(t *testing.T, data []byte, o observation) []byte {
	t.Helper()
	var objects []document
	find := func(step document) document {
		for _, d := range objects {
			if d.text("kind") == step.text("of", "kind") && d.text("metadata", "name") == step.text("of", "name") {
				return d
			}
		}
		t.Fatalf("step names no object: %v", step)
		return nil
	}
	for _, part := range splitDocuments(data) {
		var d document
		if err := yaml.Unmarshal(part, &d); err != nil {
			t.Fatal(err)
		}
		switch {
		case d.text("kind") == "MakePods":
			objects = append(objects, makePods(t, d, find(d))...)
		case d.text("kind") == "Scale":
			if !o.refused("Scale", d.text("of", "name")) {
				changed := find(d)
				scale(d, changed)
				changed["changed"] = true
			}
		case d.text("apiVersion") != "":
			d["text"] = string(part)
			objects = append(objects, d)
		}
	}
	return write(t, objects)
}

// write keeps the text of objects that no step has changed: it says what another writer might say differently.
func write(t *testing.T, objects []document) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, d := range objects {
		text, changed := d.text("text"), d["changed"] != nil
		delete(d, "text")
		delete(d, "changed")
		if changed || text == "" {
			b, err := yaml.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		out.WriteString("---\n" + text + "\n")
	}
	return out.Bytes()
}

func (o observation) refused(kind, name string) bool {
	return slices.ContainsFunc(o.Rejected, func(r rejection) bool { return r.Kind == kind && r.Name == name })
}

func splitDocuments(data []byte) [][]byte {
	var parts [][]byte
	for part := range bytes.SplitSeq(append([]byte("\n"), data...), []byte("\n---")) {
		parts = append(parts, part)
	}
	return parts
}

func scale(step, object document) {
	spec := object["spec"].(map[string]any)
	if changes, ok := step["spec"].(map[string]any); ok {
		maps.Copy(spec, changes)
	}
	patches, _ := step["patch"].([]any)
	for _, p := range patches {
		group := spec["workerGroupSpecs"].([]any)[0].(map[string]any)
		group["replicas"] = p.(map[string]any)["value"]
	}
}

// makePods writes out the pods a controller would make from the template as the webhook left it.
func makePods(t *testing.T, step, of document) []document {
	t.Helper()
	raw, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	owner := map[string]any{"apiVersion": of.text("apiVersion"), "kind": of.text("kind"), "name": of.text("metadata", "name"), "controller": true}
	if o, ok := step["owner"].(map[string]any); ok {
		owner = maps.Clone(o)
		owner["controller"] = true
	}
	template := map[string]any(of)
	path := step.text("template")
	if path == "" {
		path = "spec.template"
	}
	for key := range strings.SplitSeq(path, ".") {
		template = template[key].(map[string]any)
	}
	labels, annotations := map[string]any{}, map[string]any{}
	switch of.text("kind") {
	case "Deployment":
		var d appsv1.Deployment
		if err := json.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		seen := deploymentTemplate(&d, d.Labels[queueLabel])
		for k, v := range seen.Labels {
			labels[k] = v
		}
		for k, v := range seen.Annotations {
			annotations[k] = v
		}
	case "StatefulSet":
		annotations[parentAnnotation] = jobs.StatefulSet.Framework
	}
	if own, ok := step["labels"].(map[string]any); ok {
		maps.Copy(labels, own)
	}
	namespace := of.text("metadata", "namespace")
	var out []document
	for _, name := range step["names"].([]any) {
		out = append(out, document{
			"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
			"metadata": map[string]any{
				"name": name, "namespace": namespace, "labels": labels, "annotations": annotations, "ownerReferences": []any{owner},
			},
		})
	}
	return out
}
