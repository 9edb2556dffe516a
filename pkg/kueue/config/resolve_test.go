package config

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// snapshot reads manifests as an export of a cluster; laid ones are laid over it.
func snapshot(t testing.TB, export, laid string) *cluster.Snapshot {
	t.Helper()
	b := cluster.NewBuilder(nil)
	if err := source.ReadBytes(context.Background(), "export.yaml", []byte(export),
		b.Sink(cluster.InputOptions{})); err != nil {
		t.Fatal(err)
	}
	if err := source.ReadBytes(context.Background(), "laid.yaml", []byte(laid),
		b.Sink(cluster.InputOptions{Laid: true})); err != nil {
		t.Fatal(err)
	}
	return b.Build()
}

func resolve(t testing.TB, snap *cluster.Snapshot, opts Options) *Config {
	t.Helper()
	c, err := Resolve(snap, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// configMap is a ConfigMap with a configuration whose first mapping is named mapping.
func configMap(namespace, name, mapping string) string {
	return `
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: ` + namespace + `, name: ` + name + `}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    resources:
      deviceClassMappings:
      - name: ` + mapping + `
        deviceClassNames: [gpu.example.com]
`
}

func deployment(namespace, name, image, args string) string {
	return `
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: ` + namespace + `, name: ` + name + `, labels: {control-plane: controller-manager}}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      volumes:
      - name: config
        configMap: {name: mounted-config}
      containers:
      - name: manager
        image: ` + image + `
        args: [` + args + `]
`
}

const configDocument = `
---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources:
  deviceClassMappings:
  - name: from-document
    deviceClassNames: [gpu.example.com]
`

func TestResolveFindsTheConfiguration(t *testing.T) {
	type found struct {
		From, Resource, Namespace string
		Found                     bool
	}
	tests := map[string]struct {
		export, laid string
		opts         Options
		want         found
	}{
		"nothing": {
			want: found{From: "Kueue's defaults", Namespace: "kueue-system"},
		},
		"the manager's ConfigMap": {
			export: configMap("kueue-system", "kueue-manager-config", "gpus"),
			want:   found{"ConfigMap kueue-system/kueue-manager-config", "gpus", "kueue-system", true},
		},
		"a ConfigMap of any name anywhere": {
			export: configMap("batch", "anything", "gpus"),
			want:   found{"ConfigMap batch/anything", "gpus", "batch", true},
		},
		"several: the one the manager mounts": {
			export: configMap("kueue-system", "kueue-manager-config", "a") + configMap("kueue", "mounted-config", "b") +
				configMap("kueue", "kueue-manager-config", "c") +
				deployment("kueue", "kueue-controller-manager", "kueue:v0.19.2", ""),
			want: found{"ConfigMap kueue/mounted-config", "b", "kueue", true},
		},
		"several: the one beside the manager": {
			export: configMap("kueue-system", "kueue-manager-config", "a") +
				configMap("kueue", "x-manager-config", "b") +
				deployment("kueue", "kueue-controller-manager", "kueue:v0.19.2", ""),
			want: found{"ConfigMap kueue/x-manager-config", "b", "kueue", true},
		},
		"several: the usual namespace": {
			export: configMap("a", "kueue-manager-config", "a") +
				configMap("kueue-system", "kueue-manager-config", "b"),
			want: found{"ConfigMap kueue-system/kueue-manager-config", "b", "kueue-system", true},
		},
		"several: the usual name": {
			export: configMap("kueue-system", "backup", "a") + configMap("x", "kueue-manager-config", "b"),
			want:   found{"ConfigMap x/kueue-manager-config", "b", "x", true},
		},
		"several: the first by name": {
			export: configMap("b", "other", "a") + configMap("a", "other", "b"),
			want:   found{"ConfigMap a/other", "b", "a", true},
		},
		"a ConfigMap before a document of the same input": {
			export: configDocument + configMap("kueue-system", "kueue-manager-config", "gpus"),
			want:   found{"ConfigMap kueue-system/kueue-manager-config", "gpus", "kueue-system", true},
		},
		"a document laid over an export": {
			export: configMap("kueue-system", "kueue-manager-config", "gpus"),
			laid:   configDocument,
			want:   found{"file laid.yaml", "from-document", "kueue-system", true},
		},
		"a document alone": {
			export: configDocument,
			want:   found{"file export.yaml", "from-document", "kueue-system", true},
		},
		"the user's file before everything": {
			export: configMap("kueue-system", "kueue-manager-config", "gpus"),
			laid:   configDocument,
			opts: Options{ConfigFile: "kueue.yaml", ConfigData: []byte("resources: {deviceClassMappings: [{name: " +
				"mine, deviceClassNames: [gpu.example.com]}]}")},
			want: found{"file kueue.yaml", "mine", "kueue-system", true},
		},
		"the user's file is a ConfigMap among other documents": {
			opts: Options{ConfigFile: "kueue.yaml",
				ConfigData: []byte("# ours\n---\napiVersion: v1\nkind: Namespace\n" + configMap("q", "c", "gpus"))},
			want: found{"file kueue.yaml", "gpus", "q", true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := resolve(t, snapshot(t, tc.export, tc.laid), tc.opts)
			resource, _ := c.Lookup("gpu.example.com")
			got := found{c.From, string(resource), c.ManagerNamespace, c.Found}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.Refusal() != "" {
				t.Errorf("refused: %s", c.Refusal())
			}
		})
	}
}

func TestResolveVersion(t *testing.T) {
	type told struct {
		Version, Release string
		From             VersionSource
	}
	kueueResource := "apiVersion: kueue.openshift.io/v1\nkind: Kueue\nmetadata: {name: cluster}\n"
	tests := map[string]struct {
		export  string
		version string
		// supposed is a version that is known from elsewhere.
		supposed string
		want     told
	}{
		"default": {want: told{release.Default, release.Default, VersionFromDefault}},
		"image": {
			export: deployment("kueue-system", "kueue-controller-manager",
				"registry.example.com:5000/kueue/kueue:v0.18.4", ""),
			want: told{"v0.18.4", "v0.18.4", VersionFromImage},
		},
		"image with tag and digest": {
			export: deployment("kueue-system", "release-kueue-controller-manager",
				"example.com/kueue:v0.19.0@sha256:00ff", ""),
			want: told{"v0.19.0", "v0.19.0", VersionFromImage},
		},
		"image by digest alone": {
			export: deployment("kueue-system", "kueue-controller-manager", "example.com/kueue@sha256:00ff", ""),
			want:   told{release.Default, release.Default, VersionFromDefault},
		},
		"a controller manager known by its image": {
			export: deployment("q", "controller-manager", "example.com/kueue:v0.17.2", ""),
			want:   told{"v0.17.2", "v0.17.2", VersionFromImage},
		},
		"another controller manager": {
			export: deployment("q", "controller-manager", "example.com/jobset:v0.17.2", ""),
			want:   told{release.Default, release.Default, VersionFromDefault},
		},
		"the flag wins": {
			export:  deployment("kueue-system", "kueue-controller-manager", "example.com/kueue:v0.18.4", ""),
			version: "0.19", want: told{"v0.19.7", "v0.19.7", VersionFromFlag},
		},
		"supposed where nothing tells it": {supposed: "v0.17.2",
			want: told{"v0.17.2", "v0.17.2", VersionFromDefault}},
		"supposed on OpenShift": {export: kueueResource, supposed: "v0.17.2",
			want: told{"v0.17.2", "v0.17.2", VersionFromDefault}},
		"the flag wins over what is supposed": {version: "0.19", supposed: "v0.17.2",
			want: told{"v0.19.7", "v0.19.7", VersionFromFlag}},
		"the image wins over what is supposed": {
			export:   deployment("kueue-system", "kueue-controller-manager", "example.com/kueue:v0.18.4", ""),
			supposed: "v0.17.2", want: told{"v0.18.4", "v0.18.4", VersionFromImage},
		},
		"unknown newer image": {
			export: deployment("kueue-system", "kueue-controller-manager", "example.com/kueue:v0.21.0", ""),
			want:   told{"v0.21.0", "v0.20.0", VersionFromImage},
		},
		"OpenShift": {export: kueueResource, want: told{"v0.18.6", "v0.18.6", VersionFromDefault}},
		"OpenShift, known by the namespace": {
			export: configMap("openshift-kueue-operator", "kueue-manager-config", "gpus"),
			want:   told{"v0.18.6", "v0.18.6", VersionFromDefault},
		},
		"OpenShift with an image of its own build": {
			export: kueueResource +
				deployment("openshift-kueue-operator", "kueue-controller-manager", "example.com/kueue:v1.4.1", ""),
			want: told{"v0.18.6", "v0.18.6", VersionFromImage},
		},
		"OpenShift with an image": {
			export: kueueResource +
				deployment("openshift-kueue-operator", "kueue-controller-manager", "example.com/kueue:v0.19.1", ""),
			want: told{"v0.19.1", "v0.19.1", VersionFromImage},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := resolve(t, snapshot(t, tc.export, ""),
				Options{Version: tc.version, Supposed: Supposed{Version: tc.supposed, By: "a test"}})
			if diff := cmp.Diff(tc.want, told{c.Version, c.Release, c.VersionSource}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.VersionSource == VersionFromDefault && len(c.Assumptions) == 0 {
				t.Error("an assumed version has to be told")
			}
		})
	}
}

func TestResolveReadsTheManagersFlags(t *testing.T) {
	tests := map[string]struct {
		args string
		want bool
	}{
		"none": {`"--config=/c.yaml"`, false},
		"with an equals sign": {`"--config=/c.yaml", "--feature-gates=KueueDRAIntegrationConsumableCapacity=true"`,
			true},
		"in two words":         {`"--feature-gates", "KueueDRAIntegrationConsumableCapacity=true"`, true},
		"with one dash":        {`"-feature-gates=KueueDRAIntegrationConsumableCapacity=true"`, true},
		"the last one counts":  {`"--feature-gates=KueueDRAIntegrationConsumableCapacity=true", "--feature-gates=PartialAdmission=true"`, false},
		"value left out":       {`"--feature-gates"`, false},
		"another flag's start": {`"--feature-gates-x=KueueDRAIntegrationConsumableCapacity=true"`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := resolve(t,
				snapshot(t, deployment("kueue-system", "kueue-controller-manager", "kueue:v0.19.0", tc.args), ""),
				Options{})
			if got := c.Enabled(release.KueueDRAIntegrationConsumableCapacity); got != tc.want {
				t.Errorf("gate = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestResolveErrors(t *testing.T) {
	tests := map[string]struct {
		opts Options
		want string
	}{
		"version": {Options{Version: "newest"},
			`"newest" is not a version of Kueue; write one like v0.19.2, or main`},
		"missing file": {Options{ConfigFile: filepath.Join("testdata", "none.yaml")},
			"the configuration of Kueue can't be read: open testdata/none.yaml: no such file or directory"},
		"another kind": {Options{ConfigFile: "x.yaml", ConfigData: []byte("kind: Pod\n")},
			"x.yaml: neither a Configuration of Kueue nor a ConfigMap with the key controller_manager_config.yaml"},
		"empty file": {Options{ConfigFile: "x.yaml", ConfigData: []byte("# nothing\n")},
			"x.yaml: neither a Configuration of Kueue nor a ConfigMap with the key controller_manager_config.yaml"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Resolve(nil, tc.opts)
			if err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

func TestConfigFileIsReadFromDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kueue.yaml")
	if err := os.WriteFile(path, []byte("---\n\n"+configDocument), 0o600); err != nil {
		t.Fatal(err)
	}
	c := resolve(t, nil, Options{ConfigFile: path})
	if got, _ := c.Lookup("gpu.example.com"); got != "from-document" {
		t.Errorf("class is mapped to %q", got)
	}
	if c.Origin.Line != 5 {
		t.Errorf("the document starts at line %d, want 5", c.Origin.Line)
	}
}

func TestIntegrations(t *testing.T) {
	config := func(frameworks string) Options {
		return Options{ConfigFile: "c", ConfigData: []byte("integrations: {frameworks: [" + frameworks + "]}"),
			Version: "v0.19.2"}
	}
	tests := map[string]struct {
		frameworks string
		pod, job   bool
	}{
		"default":             {"", false, true},
		"pod":                 {"pod", true, false},
		"deployment":          {"deployment", true, false},
		"statefulset":         {"statefulset", true, false},
		"leaderworkerset":     {"leaderworkerset.x-k8s.io/leaderworkerset", true, false},
		"job beside jobset":   {"batch/job, jobset.x-k8s.io/jobset", false, true},
		"raycluster is alone": {"ray.io/raycluster", false, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := resolve(t, nil, config(tc.frameworks))
			if got := c.Framework(jobs.Pod.Framework); got != tc.pod {
				t.Errorf("pod = %t, want %t", got, tc.pod)
			}
			if got := c.ExplicitFramework(jobs.Pod.Framework); got != (tc.frameworks == "pod") {
				t.Errorf("explicit pod = %t", got)
			}
			if got := c.Framework(jobs.Job.Framework); got != tc.job {
				t.Errorf("batch/job = %t, want %t", got, tc.job)
			}
		})
	}
	if resolve(t, nil, Options{}).IntegrationsKnown() {
		t.Error("without a configuration the integrations are not known")
	}
}

func TestSparkNeedsItsGate(t *testing.T) {
	data := []byte("integrations: {frameworks: [batch/job, sparkoperator.k8s.io/sparkapplication]}")
	c := resolve(t, nil, Options{ConfigFile: "c", ConfigData: data})
	want := "Unable to setup controllers: failed to configure reconcilers: sparkoperator.k8s.io/sparkapplication " +
		"integration is alpha feature. please enable SparkApplicationIntegration featuregate"
	if diff := cmp.Diff(want, c.Refusal()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c = resolve(t, nil, Options{ConfigFile: "c", ConfigData: data,
		FeatureGates: map[string]bool{release.SparkApplicationIntegration: true}})
	if !c.Framework(jobs.SparkApplication.Framework) || c.Refusal() != "" {
		t.Errorf("with the gate on: enabled %t, refusal %q", c.Framework(jobs.SparkApplication.Framework), c.Refusal())
	}
}

func TestNamespaceSelected(t *testing.T) {
	name := func(n string) map[string]string { return map[string]string{"kubernetes.io/metadata.name": n} }
	c := resolve(t, nil, Options{})
	for namespace, want := range map[string]bool{"team-a": true, "kube-system": false, "kueue-system": false} {
		if got := c.NamespaceSelected(name(namespace)); got != want {
			t.Errorf("%s selected = %t, want %t", namespace, got, want)
		}
	}
	c = resolve(t, nil, Options{ConfigFile: "c", ConfigData: []byte("managedJobsNamespaceSelector: {matchLabels: " +
		"{team: a}}\nmanageJobsWithoutQueueName: true")})
	if c.NamespaceSelected(name("team-a")) || !c.NamespaceSelected(map[string]string{"team": "a"}) ||
		!c.ManageWithoutQueueName() {
		t.Error("the configured selector is not obeyed")
	}
}
