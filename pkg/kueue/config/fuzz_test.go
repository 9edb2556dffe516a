package config

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// FuzzConfiguration reads any bytes as a configuration of any version: it must neither panic nor depend on chance.
func FuzzConfiguration(f *testing.F) {
	data, err := os.ReadFile("../../../testdata/golden/config/cases.json")
	if err != nil {
		f.Fatal(err)
	}
	var cases []struct {
		Configuration json.RawMessage `json:"configuration"`
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		f.Add([]byte(c.Configuration), "v0.19.0", "")
	}
	f.Add([]byte(configDocument), "main", "AllAlpha=true")
	f.Add([]byte(configMap("a", "b", "c")), "0.18", "AllBeta=false,X=true")
	f.Add([]byte("apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\nwaitForPodsReady: {enable: "+
		"true}\nfairSharing: {enable: true}\n"), "v0.17.3", "a")
	f.Add([]byte("---\n--- a\n{\"a\":\t1}\n---\n- x: &a [*a]\n"), "v0.18.6+1", "=")
	f.Add([]byte(sourcesConfig+"tls: {minVersion: x, cipherSuites: [y], curvePreferences: [0]}\nmetrics: "+
		"{customLabels: [{name: 1a}]}\n"), "v0.19", "TopologyAwareScheduling=false")
	f.Fuzz(func(t *testing.T, data []byte, version, gates string) {
		values, _ := release.ParseFeatureGates(gates)
		opts := Options{Version: version, ConfigFile: "f", ConfigData: data, FeatureGates: values}
		if data == nil {
			opts.ConfigData = []byte{}
		}
		first, err := Resolve(nil, opts)
		if err != nil {
			return
		}
		second, err := Resolve(nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		if first.Refusal() != second.Refusal() {
			t.Errorf("refusals differ:\n%s\n%s", first.Refusal(), second.Refusal())
		}
		first.BinaryResource("cpu")
		first.NamespaceSelected(map[string]string{"kubernetes.io/metadata.name": "a"})
		first.Framework(jobs.Pod.Framework)
	})
}

// FuzzKueueResource reads any spec.config of the OpenShift Kueue resource.
func FuzzKueueResource(f *testing.F) {
	f.Add("{integrations: {frameworks: [BatchJob, JaxJob]}, gangScheduling: {policy: ByWorkload}}")
	f.Add("{admissionFairSharing: {configuration: Custom, custom: {resourceWeights: [{name: a, weight: NaN}]}}, " +
		"multiKueue: {externalFrameworks: [{}]}}")
	f.Add("{integrations: {frameworks: [BatchJob]}, " + counterMapping + "}")
	f.Fuzz(func(t *testing.T, config string) {
		c := resolve(t, snapshot(t, kueueResource(config)+featureGate("CustomNoUpgrade", "DRAExtendedResource"), ""),
			Options{})
		if c.Configuration == nil {
			t.Error("no configuration")
		}
	})
}
