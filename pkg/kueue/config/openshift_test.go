package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// kueueResource is a Kueue resource with this spec.config, as YAML flow text.
func kueueResource(config string) string {
	return "\n---\napiVersion: kueue.openshift.io/v1\nkind: Kueue\nmetadata: {name: cluster}\nspec:\n  " +
		"managementState: Managed\n  config: " + config + "\n"
}

// featureGate is the cluster's FeatureGate resource with these gates enabled.
func featureGate(set, enabled string) string {
	return "\n---\napiVersion: config.openshift.io/v1\nkind: FeatureGate\nmetadata: {name: cluster}\nspec: " +
		"{featureSet: " + set +
		", customNoUpgrade: {enabled: [" + enabled + "]}}\n"
}

const counterMapping = `resources: {deviceClassMappings: [{name: gpu.memory, deviceClassNames: [mig.example.com], sources: [` +
	`{type: Counter, counter: {name: memory, driver: gpu.example.com, deviceSelector: {type: CEL, cel: {expression: "true"}}}}]}]}`

func TestOpenShiftTranslation(t *testing.T) {
	with := func(change func(*configapi.Configuration)) *configapi.Configuration {
		c := &configapi.Configuration{Integrations: &configapi.Integrations{Frameworks: []string{"batch/job"}}}
		change(c)
		return c
	}
	tests := map[string]struct {
		config, gate, version string
		// want are the fields that are compared; the rest is the same for every Kueue resource.
		want *configapi.Configuration
	}{
		"frameworks by the operator's names": {
			config: "{integrations: {frameworks: [BatchJob, Pod, LeaderWorkerSet, TrainJob], labelKeysToCopy: [{key: " +
				"team}], externalFrameworks: [{group: example.com, resource: jobs, version: v1}]}}",
			want: with(func(c *configapi.Configuration) {
				c.Integrations.Frameworks = []string{"batch/job", "pod", "leaderworkerset.x-k8s.io/leaderworkerset",
					"trainer.kubeflow.org/trainjob"}
				c.Integrations.LabelKeysToCopy = []string{"team"}
				c.Integrations.ExternalFrameworks = []string{"jobs.v1.example.com"}
				c.FeatureGates = map[string]bool{"ShortWorkloadNames": true}
			}),
		},
		"jobs without a queue name are managed under policy None": {
			config: "{integrations: {frameworks: [BatchJob]}, workloadManagement: {labelPolicy: None}}",
			want:   with(func(c *configapi.Configuration) { c.ManageJobsWithoutQueueName = true }),
		},
		"fair sharing": {
			config: "{integrations: {frameworks: [BatchJob]}, preemption: {preemptionPolicy: FairSharing}}",
			want: with(func(c *configapi.Configuration) {
				c.FairSharing = &configapi.FairSharing{PreemptionStrategies: []configapi.PreemptionStrategy{"LessThanOrEqualToFinalShare", "LessThanInitialShare"}}
			}),
		},
		"counter sources with the cluster's gate on": {
			config: "{integrations: {frameworks: [BatchJob]}, " + counterMapping + "}",
			gate:   featureGate("CustomNoUpgrade", "DRAPartitionableDevices, DRAExtendedResource"),
			want: with(func(c *configapi.Configuration) {
				c.FeatureGates = map[string]bool{"KueueDRAIntegrationPartitionableDevices": true,
					"KueueDRAIntegrationExtendedResource": true}
			}),
		},
		"counter gate is not written without sources": {
			config: "{integrations: {frameworks: [BatchJob]}}",
			gate:   featureGate("CustomNoUpgrade", "DRAPartitionableDevices"),
			want:   with(func(*configapi.Configuration) {}),
		},
		"another feature set enables nothing": {
			config: "{integrations: {frameworks: [BatchJob]}}",
			gate:   featureGate("TechPreviewNoUpgrade", "DRAExtendedResource"),
			want:   with(func(*configapi.Configuration) {}),
		},
		"Spark brings its gate": {
			config: "{integrations: {frameworks: [SparkApplication]}}",
			want: with(func(c *configapi.Configuration) {
				c.Integrations.Frameworks = []string{"sparkoperator.k8s.io/sparkapplication"}
				c.FeatureGates = map[string]bool{"SparkApplicationIntegration": true}
			}),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := resolve(t, snapshot(t, kueueResource(tc.config)+tc.gate, ""), Options{Version: tc.version})
			if c.From != "Kueue cluster (OpenShift)" || !c.OpenShift || !c.Found {
				t.Errorf("From %q, OpenShift %t, Found %t", c.From, c.OpenShift, c.Found)
			}
			got := &configapi.Configuration{
				Integrations:               c.Configuration.Integrations,
				ManageJobsWithoutQueueName: c.Configuration.ManageJobsWithoutQueueName,
				FairSharing:                c.Configuration.FairSharing, FeatureGates: c.Configuration.FeatureGates,
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !c.NamespaceSelected(map[string]string{OpenShiftManagedLabel: "true"}) || c.NamespaceSelected(nil) {
				t.Error("only namespaces with the operator's label are managed")
			}
			if c.Refusal() != "" {
				t.Errorf("refused: %s", c.Refusal())
			}
		})
	}
}

func TestOpenShiftGangScheduling(t *testing.T) {
	type wait struct {
		Set, Block bool
		Timeout    time.Duration
	}
	tests := map[string]struct {
		policy, version string
		want            wait
	}{
		"0.19 without a policy has Kueue's defaults": {`""`, "0.19.2", wait{true, false, 30 * time.Minute}},
		"0.19 without gang scheduling waits a year":  {"None", "0.19.2", wait{true, false, 365 * 24 * time.Hour}},
		"0.19 one after the other": {"ByWorkload, byWorkload: {admission: Sequential, " +
			"timeoutSeconds: 60}", "0.19.2", wait{true, true, time.Minute}},
		"0.18 without gang scheduling": {"None", "0.18.6", wait{}},
		"0.18 one after the other has five minutes": {"ByWorkload, byWorkload: {admission: Sequential}", "0.18.6",
			wait{true, true, 5 * time.Minute}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := resolve(t, snapshot(t, kueueResource("{integrations: {frameworks: [BatchJob]}, gangScheduling: "+
				"{policy: "+tc.policy+"}}"), ""), Options{Version: tc.version})
			got := wait{Block: c.BlocksAdmission()}
			if w := c.Configuration.WaitForPodsReady; w != nil {
				got.Set, got.Timeout = true, w.Timeout.Duration
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpenShiftJaxJobIsLostByTheOperator(t *testing.T) {
	c := resolve(t, snapshot(t, kueueResource("{integrations: {frameworks: [BatchJob, JaxJob]}}"), ""), Options{})
	const want = `Unable to validate the configuration: integrations.frameworks[1]: Unsupported value: "": supported values: `
	if got := c.Refusal(); !strings.HasPrefix(got, want) {
		t.Errorf("refusal %q, want it to start with %q", got, want)
	}
}

func TestOpenShiftCounterSourcesWithoutTheClustersGate(t *testing.T) {
	config := kueueResource("{integrations: {frameworks: [BatchJob]}, " + counterMapping + "}")
	off := resolve(t, snapshot(t, config+featureGate("Default", ""), ""), Options{})
	const want = "Unable to validate the configuration: resources.deviceClassMappings[0].sources: Invalid value: 1: " +
		"sources require KueueDRAIntegrationPartitionableDevices to be enabled"
	if diff := cmp.Diff(want, off.Refusal()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	unknown := resolve(t, snapshot(t, config, ""), Options{})
	if unknown.Refusal() != "" || !unknown.Enabled(release.KueueDRAIntegrationPartitionableDevices) {
		t.Error("without the FeatureGate resource the gate is assumed, as sources are configured")
	}
	for _, gate := range []string{release.KueueDRAIntegrationPartitionableDevices,
		release.KueueDRAIntegrationExtendedResource} {
		if unknown.Uncertain[gate] == "" {
			t.Errorf("%s has to be uncertain", gate)
		}
	}
	told := resolve(t, snapshot(t, config, ""), Options{FeatureGates: map[string]bool{
		release.KueueDRAIntegrationPartitionableDevices: true, release.KueueDRAIntegrationExtendedResource: false}})
	if len(told.Uncertain) > 0 {
		t.Errorf("uncertain %v although the user said it", told.Uncertain)
	}
	newer := resolve(t, snapshot(t, config, ""), Options{Version: "0.19.2"})
	if len(newer.Uncertain) > 0 {
		t.Errorf("uncertain %v although the gates are on by default", newer.Uncertain)
	}
}

func TestConfigMapBeatsTheKueueResource(t *testing.T) {
	c := resolve(t, snapshot(t, kueueResource("{integrations: {frameworks: [BatchJob, Pod]}}")+
		configMap("openshift-kueue-operator", "kueue-manager-config", "gpus"), ""), Options{})
	if c.From != "ConfigMap openshift-kueue-operator/kueue-manager-config" || !c.OpenShift ||
		c.Framework(jobs.Pod.Framework) {
		t.Errorf("From %q, OpenShift %t, pod %t", c.From, c.OpenShift, c.Framework(jobs.Pod.Framework))
	}
	if c.Operator == nil || len(c.Operator.Integrations.Frameworks) != 2 {
		t.Error("what the operator would write is kept for comparison")
	}
}

func TestOpenShiftFairSharingWeights(t *testing.T) {
	c := resolve(t, snapshot(t,
		kueueResource(`{integrations: {frameworks: [BatchJob]}, admissionFairSharing: {configuration: Custom, custom: {usageHalfLifeTimeSeconds: 60, resourceWeights: [{name: cpu, weight: "0.5"}]}}}`), ""), Options{})
	if afs := c.Configuration.AdmissionFairSharing; afs == nil || afs.UsageHalfLifeTime.Duration != time.Minute ||
		afs.ResourceWeights["cpu"] != 0.5 {
		t.Errorf("admissionFairSharing %+v", afs)
	}
	bad := resolve(t, snapshot(t,
		kueueResource(`{admissionFairSharing: {configuration: Custom, custom: {resourceWeights: [{name: cpu, weight: "much"}]}}}`), ""), Options{})
	if bad.Found {
		t.Error("the operator writes no configuration when a weight is no number")
	}
}
