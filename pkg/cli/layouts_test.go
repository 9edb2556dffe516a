package cli

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
		kinds[resource] = append(kinds[resource], o)
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

// mustGather lays objects out as `oc adm must-gather` does, in the directory of the image that gathered them.
func mustGather(t *testing.T, objects []unstructured.Unstructured) map[string][]byte {
	const image = "must-gather.local.4711/quay-io-openshift-must-gather-sha256-0a1b/"
	files := map[string][]byte{
		"must-gather.local.4711/timestamp": []byte("2026-03-01 09:00:00 start\n"), "must-gather.local.4711/event-filter.html": []byte("<html>"),
		image + "version":                         []byte("must-gather v4\n"),
		image + "namespaces/all/core/events.yaml": []byte("apiVersion: v1\nkind: EventList\nitems: [{kind: Event, an: event}]\n"),
	}
	for name, content := range inspect(t, objects) {
		files[image+name] = content
	}
	return files
}

// inspect lays objects out as `oc adm inspect` does: lists for each namespace, cluster-scoped objects one by one.
func inspect(t *testing.T, objects []unstructured.Unstructured) map[string][]byte {
	files := map[string][]byte{"namespaces/team-a/pods/p/p/logs/current.log": []byte("kind: Pod\n")}
	lists := map[string][]unstructured.Unstructured{}
	namespaces, kinds := map[string]bool{}, map[string]unstructured.Unstructured{}
	for _, o := range objects {
		resource, namespaced := resourceOf(o)
		if !namespaced {
			if slices.Contains([]string{"Namespace", "PriorityClass", "RuntimeClass"}, o.GetKind()) {
				file := "cluster-scoped-resources/" + groupOf(o) + "/" + resource + ".yaml"
				lists[file] = append(lists[file], o)
			} else {
				files["cluster-scoped-resources/"+groupOf(o)+"/"+resource+"/"+o.GetName()+".yaml"] = marshal(t, o.Object)
			}
			if o.GetKind() == "Namespace" {
				namespaces[o.GetName()] = true
			}
			continue
		}
		namespaces[o.GetNamespace()] = true
		file := groupOf(o) + "/" + resource + ".yaml"
		kinds[file] = o
		lists["namespaces/"+o.GetNamespace()+"/"+file] = append(lists["namespaces/"+o.GetNamespace()+"/"+file], o)
	}
	for file, items := range lists {
		files[file] = marshal(t, listOf(items[0].GetKind()+"List", items[0].GetAPIVersion(), items))
	}
	for namespace := range namespaces {
		for file, o := range kinds {
			if name := "namespaces/" + namespace + "/" + file; files[name] == nil {
				files[name] = marshal(t, listOf(o.GetKind()+"List", o.GetAPIVersion(), nil))
			}
		}
	}
	return files
}

// kueueGather lays objects out as the must-gather image of the Red Hat build of Kueue does, and what it leaves out as
// somebody adds it who read that it is missing.
func kueueGather(t *testing.T, objects []unstructured.Unstructured) map[string][]byte {
	const image = "must-gather.local.4711/registry-redhat-io-kueue-must-gather-sha256-0a1b/kueue/"
	gathered := []string{"Workload", "ClusterQueue", "LocalQueue", "ResourceFlavor", "AdmissionCheck"}
	files := map[string][]byte{
		image + "kueue.yaml":                             {}, // where it failed, the file is empty
		image + "services.yaml":                          []byte("apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: \"\"\n"),
		image + "crd-workloads.kueue.x-k8s.io.yaml":      []byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: workloads.kueue.x-k8s.io}\n"),
		image + "describe-svc-kueue-webhook-service.txt": []byte("Name: kueue-webhook-service\n"),
		image + "logs-controller-manager-kueue-abc.log":  []byte("kind: Pod\n"),
	}
	var rest []unstructured.Unstructured
	lists := map[string][]unstructured.Unstructured{}
	for _, o := range objects {
		if o.GroupVersionKind().Group == cluster.Workload.Group && slices.Contains(gathered, o.GetKind()) {
			resource, _ := resourceOf(o)
			lists[resource] = append(lists[resource], o)
		} else {
			rest = append(rest, o)
		}
	}
	for resource, items := range lists {
		files[image+resource+".yaml"] = marshal(t, listOf("List", "v1", items))
	}
	for name, content := range perKind(t, rest) {
		files["missing/"+name] = content
	}
	return files
}

// clusterInfo lays objects out as `kubectl cluster-info dump --output-directory` does, and beside it the kinds that it leaves out.
func clusterInfo(t *testing.T, objects []unstructured.Unstructured) map[string][]byte {
	dumped := map[string]string{
		"Event": "events", "ReplicationController": "replication-controllers", "Service": "services", "DaemonSet": "daemonsets",
		"Deployment": "deployments", "ReplicaSet": "replicasets", "Pod": "pods",
	}
	versions := map[string]string{"DaemonSet": "apps/v1", "Deployment": "apps/v1", "ReplicaSet": "apps/v1"}
	var rest []unstructured.Unstructured
	namespaces := map[string]map[string][]unstructured.Unstructured{}
	for _, o := range objects {
		if namespace := o.GetNamespace(); namespace != "" && namespaces[namespace] == nil {
			namespaces[namespace] = map[string][]unstructured.Unstructured{}
		}
		if dumped[o.GetKind()] != "" {
			namespaces[o.GetNamespace()][o.GetKind()] = append(namespaces[o.GetNamespace()][o.GetKind()], o)
		} else {
			rest = append(rest, o)
		}
	}
	files := map[string][]byte{"cluster-info/nodes.json": []byte(`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[]}`)}
	for namespace, kinds := range namespaces {
		for kind, name := range dumped {
			text, err := json.MarshalIndent(listOf(kind+"List", cmp.Or(versions[kind], "v1"), kinds[kind]), "", "    ")
			if err != nil {
				t.Fatal(err)
			}
			files["cluster-info/"+namespace+"/"+name+".json"] = text
		}
		files["cluster-info/"+namespace+"/pod/logs.txt"] = []byte("==== START logs for container c of pod p ====\n{\"kind\": \"Job\"}\n")
	}
	for name, content := range perKind(t, rest) {
		files["rest/"+name] = content
	}
	return files
}
