package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestValidation has one case for each rule of Kueue that the golden configurations do not reach.
// Every want follows "Unable to validate the configuration: ".
func TestValidation(t *testing.T) {
	mapping := func(source string) string {
		return "featureGates: {KueueDRAIntegrationConsumableCapacity: true}\nresources: {deviceClassMappings: " +
			"[{name: a, deviceClassNames: [b], sources: [" + source + "]}]}"
	}
	const selector = `deviceSelector: {cel: {expression: "true"}}`
	tests := map[string]struct{ text, want string }{
		"negative timeout": {"waitForPodsReady: {timeout: -1s}",
			`[waitForPodsReady.timeout: Invalid value: "-1s": must be greater than or equal to 0, waitForPodsReady.recoveryTimeout: Invalid value: "-1s": must be greater than or equal to 0]`},
		"timestamp": {"waitForPodsReady: {requeuingStrategy: {timestamp: Never}}",
			`waitForPodsReady.requeuingStrategy.timestamp: Unsupported value: "Never": supported values: "Creation", "Eviction"`},
		"negative backoff": {"waitForPodsReady: {requeuingStrategy: {backoffMaxSeconds: -1}}",
			`waitForPodsReady.requeuingStrategy.backoffMaxSeconds: Invalid value: -1: must be greater than or equal to 0`},
		"framework twice": {"integrations: {frameworks: [batch/job, batch/job]}",
			`integrations.frameworks[1]: Duplicate value: "batch/job"`},
		"external framework that is built in": {"integrations: {frameworks: [batch/job], externalFrameworks: " +
			"[Job.v1.batch]}",
			`integrations.externalFrameworks[0]: Duplicate value: "Job.v1.batch"`},
		"external framework without a group": {"integrations: {frameworks: [batch/job], externalFrameworks: [Job]}",
			`integrations.externalFrameworks[0]: Invalid value: "Job": must be format, 'Kind.version.group.com'`},
		"MultiKueue origin": {"multiKueue: {origin: 'a b'}",
			`multiKueue.origin: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`},
		"MultiKueue framework with a built-in adapter": {"multiKueue: {externalFrameworks: [{name: Job.v1.batch}]}",
			`multiKueue.externalFrameworks[0].name: Invalid value: "Job.v1.batch": conflicts with a built-in MultiKueue adapter`},
		"both kinds of access providers": {"multiKueue: {clusterProfile: {accessProviders: [{name: a, execConfig: " +
			"{command: c, apiVersion: v, interactiveMode: Never}}], credentialsProviders: [{name: b}]}}",
			`multiKueue.clusterProfile.credentialsProviders: Forbidden: must not be specified when accessProviders is specified`},
		"half-life": {"admissionFairSharing: {usageHalfLifeTime: -1s}",
			`admissionFairSharing.usageHalfLifeTime: Invalid value: "-1s": must be greater than or equal to 0`},
		"negative weight": {"admissionFairSharing: {resourceWeights: {cpu: -1}}",
			`admissionFairSharing.resourceWeights[cpu]: Invalid value: {"cpu":-1}: must be greater than or equal to 0`},
		"name of the webhook's service": {"internalCertManagement: {webhookServiceName: A}",
			`internalCertManagement.webhookServiceName: Invalid value: "A": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
		"name over 253 characters": {"resources: {deviceClassMappings: [{name: x/" + strings.Repeat("a", 252) +
			", deviceClassNames: [b]}]}",
			`[resources.deviceClassMappings[0].name: Invalid value: "x/` + strings.Repeat("a", 252) +
				`": name part must be no more than 63 bytes, resources.deviceClassMappings[0].name: Invalid value: "x/` + strings.Repeat("a", 252) + `": must not exceed 253 characters]`},
		"mapping name twice": {"resources: {deviceClassMappings: [{name: a, deviceClassNames: [b]}, {name: a, " +
			"deviceClassNames: [c]}]}",
			`resources.deviceClassMappings[1].name: Duplicate value: "a"`},
		"capacity without a domain": {mapping("{capacity: {name: /m, driver: d, " + selector + "}}"),
			`resources.deviceClassMappings[0].sources[0].capacity.name: Invalid value: "": the domain must not be empty`},
		"capacity without a name": {mapping("{capacity: {name: d/, driver: d, " + selector + "}}"),
			`resources.deviceClassMappings[0].sources[0].capacity.name: Invalid value: "": the name must not be empty`},
		"source without a selector": {mapping("{counter: {name: m, driver: d, deviceSelector: {}}}"),
			`resources.deviceClassMappings[0].sources[0].counter.deviceSelector.cel.expression: Required value`},
		"selector that takes in kube-system": {"managedJobsNamespaceSelector: {matchExpressions: [{key: " +
			"kubernetes.io/metadata.name, operator: NotIn, values: [kueue-system]}]}",
			`managedJobsNamespaceSelector: Invalid value: {"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kueue-system"]}]}: should not match the "kube-system" namespace`},
		"retention": {"objectRetentionPolicies: {workloads: {afterDeactivatedByKueue: -1m}}",
			`objectRetentionPolicies.workloads.afterDeactivatedByKueue: Invalid value: "-1m0s": must be greater than or equal to 0`},
		"cipher suites under TLS 1.3": {"tls: {minVersion: VersionTLS13, cipherSuites: [TLS_AES_128_GCM_SHA256]}",
			"tls.cipherSuites: Invalid value: [\"TLS_AES_128_GCM_SHA256\"]: may not be specified when `minVersion` " +
				"is 'VersionTLS13'"},
		"old TLS": {"tls: {minVersion: VersionTLS11}",
			`tls: Invalid value: {"minVersion":"VersionTLS11"}: invalid minVersion. Please use VersionTLS12 or VersionTLS13`},
		"address": {"visibilityServer: {bindAddress: here, bindPort: 0}",
			`[visibilityServer.bindAddress: Invalid value: "here": must be a valid IP address, visibilityServer.bindPort: Invalid value: 0: must be a valid port number (1-65535)]`},
		"label of metrics": {"metrics: {customLabels: [{name: team, sourceKind: Workload}]}",
			`metrics.customLabels[0].trackedValues: Invalid value: null: must not be empty when sourceKind is 'Workload'`},
		"kind of metrics label": {"metrics: {customLabels: [{name: team, sourceKind: Pod}]}",
			`metrics.customLabels: Invalid value: [{"name":"team","sourceKind":"Pod"}]: unknown source kind: Pod`},
		"strategy of the quota check": {"resources: {quotaCheckStrategy: Maybe}",
			`resources.quotaCheckStrategy: Unsupported value: "Maybe": supported values: "IgnoreUndeclared", "BlockUndeclared"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := resolve(t, nil, fileOptions("0.19.2", tc.text)).Refusal()
			if diff := cmp.Diff("Unable to validate the configuration: "+tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSourcesOf018 are the rules before 0.19: one counter source to a mapping, with looser names.
func TestSourcesOf018(t *testing.T) {
	source := func(name, driver string) string {
		return "{counter: {name: '" + name + "', driver: '" + driver +
			`', deviceSelector: {cel: {expression: "true"}}}}`
	}
	text := func(sources string) string {
		return "featureGates: {KueueDRAIntegrationPartitionableDevices: true}\nresources: {deviceClassMappings: " +
			"[{name: a, deviceClassNames: [b], sources: [" + sources + "]}]}"
	}
	const at = "Unable to validate the configuration: resources.deviceClassMappings[0].sources"
	tests := map[string]struct{ text, want string }{
		"names are not DNS labels": {text(source("copyEngines", "GPU Driver")), ""},
		"two sources": {text(source("a", "d") + "," + source("b", "d")), at +
			": Too many: 2: must have at most 1 item"},
		"no counter": {text("{}"), at + "[0].counter: Required value: exactly one source type must be " +
			"set"},
		"name over 63 characters": {text(source(strings.Repeat("a", 64), "d")), at +
			`[0].counter.name: Invalid value: "` + strings.Repeat("a", 64) + `": must not exceed 63 characters`},
		"driver to 253 characters": {text(source("a", strings.Repeat("d", 253))), ""},
		"driver over 253": {text(source("a", strings.Repeat("d", 254))), at +
			`[0].counter.driver: Invalid value: "` + strings.Repeat("d", 254) + `": must not exceed 253 characters`},
		"driver is missing": {text(source("a", "")), at + "[0].counter.driver: Required value"},
		"a class of other counters": {"featureGates: {KueueDRAIntegrationPartitionableDevices: true}\nresources: " +
			"{deviceClassMappings: [{name: a, deviceClassNames: [b], sources: [" + source("x", "d") +
			"]}, {name: c, deviceClassNames: [b], sources: [" + source("y", "d") + "]}]}",
			"Unable to validate the configuration: resources.deviceClassMappings[1].deviceClassNames[0]: Invalid " +
				"value: \"b\": device class already mapped to resource a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, resolve(t, nil, fileOptions("0.18.6", tc.text)).Refusal()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNewerValidation are the rules of releases after 0.19.2, with the release before each.
func TestNewerValidation(t *testing.T) {
	const (
		invalid = "Unable to validate the configuration: "
		mapping = "resources: {deviceClassMappings: [{name: pods, deviceClassNames: [b]}]}"
		output  = "resources: {transformations: [{input: cpu, strategy: Retain, outputs: {pods: 1}}]}"
		slashes = "featureGates: {KueueDRAIntegrationConsumableCapacity: true}\nresources: {deviceClassMappings: " +
			"[{name: a, " +
			`deviceClassNames: [b], sources: [{capacity: {name: a/b/c, driver: d, deviceSelector: {cel: {expression: "true"}}}}]}]}`
		reserved = `Invalid value: "pods": the key is reserved for internal kueue use`
	)
	tests := map[string]struct{ version, text, want string }{
		"a mapping named pods": {"0.19.3", mapping, invalid +
			"resources.deviceClassMappings[0].name: " + reserved},
		"a mapping named pods, before": {"0.19.2", mapping, ""},
		"a mapping named pods, in 0.18": {"0.18.7", mapping, invalid +
			"resources.deviceClassMappings[0].name: " + reserved},
		"a mapping named pods, with the gate": {"0.20.0", "featureGates: {ReservedResourceNameValidation: false}\n" +
			mapping, ""},
		"an output named pods": {"0.20.0", output, invalid +
			"resources.transformations[0].outputs[pods]: " + reserved},
		"an output named pods, before": {"0.18.6", output, ""},
		"a capacity with two slashes": {"0.19.3", slashes, invalid +
			`resources.deviceClassMappings[0].sources[0].capacity.name: Invalid value: "a/b/c": must be a C identifier, with at most one domain before it`},
		"a capacity with two slashes, before": {"0.19.2", slashes, ""},
		"a gate nobody announced is no error": {"0.20.0", "featureGates: {SomethingNew: true}", ""},
		"a gate that is gone is one": {"0.20.0", "featureGates: {HierarchicalCohorts: true}",
			"conflicting feature gates detected: featureGates: Invalid value: {\"HierarchicalCohorts\":true}: " +
				"unrecognized feature gate: HierarchicalCohorts"},
		"an unknown gate where all are known": {"0.19.2", "featureGates: {SomethingNew: true}",
			"conflicting feature gates detected: featureGates: Invalid value: {\"SomethingNew\":true}: unrecognized " +
				"feature gate: SomethingNew"},
		"device feasibility needs its gates": {"0.20.0", "featureGates: {KueueDRADeviceFeasibility: true, " +
			"TASNodeFeasibilityForAllLevels: false}", "conflicting feature gates detected: featureGates: Invalid " +
			"value: {\"KueueDRADeviceFeasibility\":true,\"TASNodeFeasibilityForAllLevels\":false}: " +
			"KueueDRADeviceFeasibility is enabled, but depends on features that are disabled: " +
			"[TASNodeFeasibilityForAllLevels]"},
		"a comprehension over an attribute": {"0.19.7", comprehension, invalid +
			`resources.deviceClassMappings[0].sources[0].counter.deviceSelector.cel.expression: Invalid value: "device.attributes['d'].l.exists(x, x == 'a')": CEL compilation failed: compilation failed: ERROR: <input>:1:23: expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)` + "\n | device.attributes['d'].l.exists(x, x == 'a')\n | ......................^"},
		"a comprehension, with newer libraries": {"0.20.0", comprehension, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := resolve(t, nil, fileOptions(tc.version, tc.text))
			if diff := cmp.Diff(tc.want, c.Refusal()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			unannounced := strings.Contains(strings.Join(c.Assumptions, "; "),
				"feature gate SomethingNew is not known here")
			if want := strings.Contains(name, "nobody announced"); unannounced != want {
				t.Errorf("assumptions %q", c.Assumptions)
			}
		})
	}
}

const comprehension = `
resources:
  deviceClassMappings:
  - name: a
    deviceClassNames: [b]
    sources: [{counter: {name: c, driver: d, deviceSelector: {cel: {expression: "device.attributes['d'].l.exists(x, x == 'a')"}}}}]
`
