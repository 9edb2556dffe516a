package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func fileOptions(version, text string) Options {
	return Options{Version: version, ConfigFile: "kueue.yaml", ConfigData: []byte(text)}
}

const sourcesConfig = `
resources:
  deviceClassMappings:
  - name: gpu.memory
    deviceClassNames: [mig.example.com]
    sources:
    - counter: {name: memory, driver: gpu.example.com, deviceSelector: {cel: {expression: "true"}}}
`

func TestFieldsAreKnownByVersion(t *testing.T) {
	const load = "Unable to load the configuration: strict decoding error: "
	tests := map[string]struct {
		version, text, want string
	}{
		"a slip": {"0.19.2", "resources: {excludedPrefixes: []}", load +
			`unknown field "resources.excludedPrefixes"`},
		"two slips": {"0.19.2", "x: 1\nresources: {w: 1}", load +
			`unknown field "resources.w", unknown field "x"`},
		"letter case matters": {"0.19.2", "Resources: {}", load + `unknown field "Resources"`},
		"sources are unknown to 0.17": {"0.17.8", sourcesConfig, load +
			`unknown field "resources.deviceClassMappings[0].sources"`},
		"sources are known to 0.18": {"0.18.6", sourcesConfig, "Unable to validate the configuration: " +
			"resources.deviceClassMappings[0].sources: Invalid value: 1: sources require " +
			"KueueDRAIntegrationPartitionableDevices to be enabled"},
		"0.18.0 does not look at sources": {"0.18.0", sourcesConfig, ""},
		"sources are known to 0.19":       {"0.19.0", sourcesConfig, ""},
		"capacity is unknown to 0.18": {"0.18.6", "resources: {deviceClassMappings: [{name: a, deviceClassNames: " +
			"[b], sources: [{capacity: {name: c}}]}]}",
			load + `unknown field "resources.deviceClassMappings[0].sources[0].capacity"`},
		"quotaCheckStrategy is unknown to 0.17, and so are slips": {"0.17.0",
			"a: 1\nresources: {quotaCheckStrategy: IgnoreUndeclared}\nz: 1",
			load + `unknown field "a", unknown field "resources.quotaCheckStrategy", unknown field "z"`},
		"v1beta1 has no sources in any version": {"0.19.0", "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: " +
			"Configuration" + sourcesConfig,
			load + `unknown field "resources.deviceClassMappings[0].sources"`},
		"curves are unknown to v1beta1 of 0.18": {"0.18.0", "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: " +
			"Configuration\ntls: {curvePreferences: [29]}",
			load + `unknown field "tls.curvePreferences"`},
		"a version that does not exist": {"0.19.2", "apiVersion: config.kueue.x-k8s.io/v1\nkind: Configuration",
			`Unable to load the configuration: no kind "Configuration" is registered for version "config.kueue.x-k8s.io/v1"`},
		"no YAML": {"0.19.2", "a: [", "Unable to load the configuration: yaml: line 1: did not " +
			"find expected node content"},
		"0.17 validates while it loads": {"0.17.8", "fairSharing: {}",
			"Unable to load the configuration: fairSharing.preemptionStrategies: Required value: must be specified"},
		"0.18 validates afterwards": {"0.18.0", "fairSharing: {}", "Unable to validate the configuration: " +
			"fairSharing.preemptionStrategies: Required value: must be specified"},
		"gates come before validation": {"0.19.2", "fairSharing: {}\nfeatureGates: {LendingLimit: true}",
			`conflicting feature gates detected: featureGates: Invalid value: {"LendingLimit":true}: unrecognized feature gate: LendingLimit`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := resolve(t, nil, fileOptions(tc.version, tc.text))
			if diff := cmp.Diff(tc.want, c.Refusal()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnUnreadableConfigurationStillHasDefaults(t *testing.T) {
	c := resolve(t, nil, fileOptions("0.19.2", "a: ["))
	if c.Configuration == nil || !c.Found || len(c.Problems) != 1 {
		t.Errorf("Configuration %v, Found %t, Problems %v", c.Configuration, c.Found, c.Problems)
	}
}

func TestStrictErrorsKeepWhatWasRead(t *testing.T) {
	c := resolve(t, nil, fileOptions("0.17.8", sourcesConfig))
	if got, _ := c.Lookup("mig.example.com"); got != "gpu.memory" || len(c.Counters("mig.example.com")) != 1 {
		t.Errorf("mapping lost: %q", got)
	}
}

func TestDefaultsByVersion(t *testing.T) {
	const v1beta1 = "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n"
	tests := map[string]struct {
		version, text string
		// want is the timeout of waitForPodsReady, negative when it is off.
		want time.Duration
	}{
		"absent in 0.18":               {"0.18.6", "namespace: q", -1},
		"absent in 0.19":               {"0.19.0", "namespace: q", 30 * time.Minute},
		"absent in v1beta1":            {"0.19.0", v1beta1, -1},
		"enabled in v1beta1":           {"0.19.0", v1beta1 + "waitForPodsReady: {enable: true}", 5 * time.Minute},
		"disabled in v1beta1":          {"0.19.0", v1beta1 + "waitForPodsReady: {enable: false, timeout: 1m}", -1},
		"empty in 0.18 has no timeout": {"0.18.6", "waitForPodsReady: {}", 0},
		"given":                        {"0.18.6", "waitForPodsReady: {timeout: 7m}", 7 * time.Minute},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := time.Duration(-1)
			if w := resolve(t, nil, fileOptions(tc.version, tc.text)).Configuration.WaitForPodsReady; w != nil {
				got = w.Timeout.Duration
			}
			if got != tc.want {
				t.Errorf("timeout %s, want %s", got, tc.want)
			}
		})
	}
}

func TestFairSharingOfV1beta1(t *testing.T) {
	const v1beta1 = "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n"
	if c := resolve(t, nil,
		fileOptions("0.19.2", v1beta1+"fairSharing: {enable: false}")); c.Configuration.FairSharing != nil {
		t.Error("fair sharing is on")
	}
	if c := resolve(t, nil,
		fileOptions("0.19.2", v1beta1+"fairSharing: {enable: true}")); c.Configuration.FairSharing == nil ||
		len(c.Configuration.FairSharing.PreemptionStrategies) != 2 {
		t.Error("fair sharing has no strategies")
	}
}

func TestMappings(t *testing.T) {
	const config = `
resources:
  deviceClassMappings:
  - name: gpu.memory
    deviceClassNames: [mig.example.com, gpu.example.com]
    sources:
    - counter: {name: memory, driver: gpu.example.com, deviceSelector: {cel: {expression: "true"}}}
    - counter: {name: bandwidth, driver: gpu.example.com, deviceSelector: {cel: {expression: "true"}}}
  - name: gpu.sm
    deviceClassNames: [mig.example.com]
    sources:
    - counter: {name: sm, driver: gpu.example.com, deviceSelector: {cel: {expression: "false"}}}
  - name: net.bandwidth
    deviceClassNames: [nic.example.com]
    sources:
    - capacity: {name: bandwidth, driver: nic.example.com, deviceSelector: {cel: {expression: "true"}}}
  - name: cards
    deviceClassNames: [card.example.com]
featureGates: {KueueDRAIntegrationConsumableCapacity: true}
`
	c := resolve(t, nil, fileOptions("0.19.2", config))
	if c.Refusal() != "" {
		t.Fatal(c.Refusal())
	}
	const at = "resources.deviceClassMappings"
	both, mig := []corev1.ResourceName{"mig.example.com", "gpu.example.com"}, []corev1.ResourceName{"mig.example.com"}
	want := []Source{
		{Resource: "gpu.memory", Classes: both, Path: at + "[0].sources[0].counter", Mapping: 0, Index: 0,
			Name: "memory", Driver: "gpu.example.com", Selector: "true"},
		{Resource: "gpu.memory", Classes: both, Path: at + "[0].sources[1].counter", Mapping: 0, Index: 1,
			Name: "bandwidth", Driver: "gpu.example.com", Selector: "true"},
		{Resource: "gpu.sm", Classes: mig, Path: at + "[1].sources[0].counter", Mapping: 1, Index: 0, Name: "sm",
			Driver: "gpu.example.com", Selector: "false"},
	}
	if diff := cmp.Diff(want, c.Counters("mig.example.com")); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	want = []Source{{Resource: "net.bandwidth", Classes: []corev1.ResourceName{"nic.example.com"}, Path: at +
		"[2].sources[0].capacity", Mapping: 2, Capacity: true, Name: "bandwidth", Driver: "nic.example.com",
		Selector: "true"}}
	if diff := cmp.Diff(want, c.Capacities("nic.example.com")); diff != "" {
		t.Errorf("capacities (-want +got):\n%s", diff)
	}
	for class, want := range map[string]corev1.ResourceName{"mig.example.com": "gpu.memory",
		"nic.example.com": "net.bandwidth", "card.example.com": "cards"} {
		if got, ok := c.Lookup(class); !ok || got != want {
			t.Errorf("%s is mapped to %q, want %q", class, got, want)
		}
	}
	if path, _ := c.MappingPath("card.example.com"); path != at+"[3].deviceClassNames[0]" {
		t.Errorf("card.example.com is mapped at %q", path)
	}
	if _, ok := c.Lookup("other.example.com"); ok {
		t.Error("an unmapped class has a mapping")
	}
	for name, want := range map[corev1.ResourceName]bool{"gpu.memory": true, "gpu.sm": true, "net.bandwidth": true,
		"cards": false, "cpu": false} {
		if got := c.BinaryResource(name); got != want {
			t.Errorf("BinaryResource(%s) = %t, want %t", name, got, want)
		}
	}
	if resolve(t, nil, fileOptions("0.18.3", config)).BinaryResource("gpu.memory") {
		t.Error("0.18.3 prints no source resource in binary units")
	}
}

func TestQuotaCheckStrategyNeedsItsGate(t *testing.T) {
	const config = "resources: {quotaCheckStrategy: IgnoreUndeclared}"
	for version, want := range map[string]bool{"0.18.6": false, "0.19.0": true} {
		if got := resolve(t, nil, fileOptions(version, config)).IgnoresUndeclared(); got != want {
			t.Errorf("%s ignores undeclared resources = %t, want %t", version, got, want)
		}
	}
}
