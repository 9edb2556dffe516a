package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

func TestResolveGates(t *testing.T) {
	const both = "feature gates for CLI and configuration cannot both specified"
	tests := map[string]struct {
		release     string
		in          gateInput
		want        map[string]bool
		wantRefusal string
	}{
		"defaults": {
			release: "v0.19.0",
			want: map[string]bool{release.KueueDRAIntegration: true,
				release.KueueDRAIntegrationConsumableCapacity: false},
		},
		"the configuration": {
			release: "v0.19.0",
			in:      gateInput{configured: map[string]bool{release.KueueDRAIntegrationConsumableCapacity: true}},
			want:    map[string]bool{release.KueueDRAIntegrationConsumableCapacity: true},
		},
		"the manager's flag alone counts when both are given, and that is refused": {
			release: "v0.19.0",
			in: gateInput{flag: "PartialAdmission=false",
				configured: map[string]bool{release.KueueDRAIntegrationConsumableCapacity: true}},
			want: map[string]bool{release.PartialAdmission: false,
				release.KueueDRAIntegrationConsumableCapacity: false},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"KueueDRAIntegrationConsumableCapacity":true}: ` + both,
		},
		"an empty featureGates is given as well": {
			release:     "v0.19.2",
			in:          gateInput{flag: "PartialAdmission=false", configured: map[string]bool{}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {}: ` + both,
		},
		"the user's values win": {
			release: "v0.19.0",
			in:      gateInput{flag: "PartialAdmission=false", user: map[string]bool{release.PartialAdmission: true}},
			want:    map[string]bool{release.PartialAdmission: true},
		},
		"AllAlpha leaves named gates alone": {
			release: "v0.18.6",
			in:      gateInput{configured: map[string]bool{"AllAlpha": true, release.PriorityBoost: false}},
			want: map[string]bool{release.KueueDRAIntegrationExtendedResource: true, release.PriorityBoost: false,
				release.PartialAdmission: true},
		},
		"AllBeta turns betas off": {
			release: "v0.18.6",
			in:      gateInput{configured: map[string]bool{"AllBeta": false}},
			want: map[string]bool{release.KueueDRAIntegration: false, release.PartialAdmission: false,
				release.LendingLimit: true},
		},
		"an unknown gate": {
			release:     "v0.19.0",
			in:          gateInput{configured: map[string]bool{release.LendingLimit: true}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"LendingLimit":true}: unrecognized feature gate: LendingLimit`,
		},
		"Kubernetes' own gate may be named from 0.19": {
			release: "v0.19.2",
			in: gateInput{configured: map[string]bool{release.DynamicResourceAllocation: true,
				"DRAExtendedResource": true}},
		},
		"Kubernetes' own gate is unknown to 0.18": {
			release:     "v0.18.6",
			in:          gateInput{configured: map[string]bool{"DRAExtendedResource": true}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"DRAExtendedResource":true}: unrecognized feature gate: DRAExtendedResource`,
		},
		"DynamicResourceAllocation is locked to false in 0.18": {
			release:     "v0.18.0",
			in:          gateInput{configured: map[string]bool{release.DynamicResourceAllocation: true}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"DynamicResourceAllocation":true}: cannot set feature gate DynamicResourceAllocation to true, feature is locked to false`,
		},
		"and to true in 0.19": {
			release:     "v0.19.1",
			in:          gateInput{flag: "DynamicResourceAllocation=false"},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: "DynamicResourceAllocation=false": cannot set feature gate DynamicResourceAllocation to false, feature is locked to true`,
		},
		"DRA off alone is fine in 0.18": {
			release: "v0.18.6",
			in:      gateInput{configured: map[string]bool{release.KueueDRAIntegration: false}},
			want:    map[string]bool{release.KueueDRAIntegration: false},
		},
		"DRA off alone is refused in 0.19": {
			release: "v0.19.2",
			in:      gateInput{configured: map[string]bool{release.KueueDRAIntegration: false}},
			want:    map[string]bool{release.KueueDRAIntegration: false},
			wantRefusal: `conflicting feature gates detected: [featureGates: Invalid value: "KueueDRAIntegrationExtendedResource": KueueDRAIntegrationExtendedResource requires KueueDRAIntegration to be enabled, ` +
				`featureGates: Invalid value: "KueueDRAIntegrationPartitionableDevices": KueueDRAIntegrationPartitionableDevices requires KueueDRAIntegration to be enabled]`,
		},
		"main has the gate library say it": {
			release: release.Main,
			in:      gateInput{configured: map[string]bool{release.KueueDRAIntegration: false}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"KueueDRAIntegration":false}: ` +
				`[KueueDRAIntegrationExtendedResource is enabled, but depends on features that are disabled: [KueueDRAIntegration], ` +
				`KueueDRAIntegrationPartitionableDevices is enabled, but depends on features that are disabled: [KueueDRAIntegration]]`,
		},
		"main looks at both first": {
			release: release.Main,
			in: gateInput{flag: "NoSuchGate=true",
				configured: map[string]bool{release.PartialAdmission: true}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"PartialAdmission":true}: ` + both,
		},
		"a profile of topologies without topologies": {
			release: "v0.17.4",
			in: gateInput{configured: map[string]bool{release.TopologyAwareScheduling: false,
				release.TASFailedNodeReplacement: false, release.TASFailedNodeReplacementFailFast: false,
				release.TASReplaceNodeOnPodTermination: false, release.TASReplaceNodeOnNodeTaints: false}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: 1: cannot use a TAS profile with TAS disabled`,
		},
		"early 0.17 sets gates after it checked them": {
			release:     "v0.17.3",
			in:          gateInput{configured: map[string]bool{"NoSuchGate": true}},
			wantRefusal: `Unable to set flag gates for known features: unrecognized feature gate: NoSuchGate`,
		},
		"early 0.17 checks no dependency": {
			release: "v0.17.0",
			in:      gateInput{configured: map[string]bool{release.DRAExtendedResources: true}},
			want:    map[string]bool{release.DRAExtendedResources: true},
		},
		"later 0.17 does": {
			release:     "v0.17.8",
			in:          gateInput{configured: map[string]bool{release.DRAExtendedResources: true}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: "DRAExtendedResources": DRAExtendedResources requires DynamicResourceAllocation to be enabled`,
		},
		"a flag that is not a list of gates": {
			release:     "v0.19.2",
			in:          gateInput{flag: "PartialAdmission"},
			want:        map[string]bool{release.PartialAdmission: true},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: "PartialAdmission": missing bool value for PartialAdmission`,
		},
		"a flag with a value that is no boolean": {
			release:     "v0.19.2",
			in:          gateInput{flag: "PartialAdmission=maybe"},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: "PartialAdmission=maybe": invalid value of PartialAdmission=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, refusal := resolveGates(tc.release, tc.in)
			for gate, on := range tc.want {
				if got[gate] != on {
					t.Errorf("%s = %t, want %t", gate, got[gate], on)
				}
			}
			if diff := cmp.Diff(tc.wantRefusal, refusal.text()); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGatesSwitchBehavior(t *testing.T) {
	tests := map[string]struct {
		version string
		gates   map[string]bool
		field   func(release.Behavior) any
		want    any
	}{
		"granular reasons in 0.19.0": {"0.19.0", map[string]bool{release.UnadmittedWorkloadsObservability: true},
			func(b release.Behavior) any { return b.GranularReasons }, true},
		"legacy reasons on main": {"main", map[string]bool{release.UnadmittedWorkloadsObservability: false},
			func(b release.Behavior) any { return b.GranularReasons }, false},
		"silently free claims": {"0.19.0", map[string]bool{release.KueueDRARejectWorkloadsWhenDRADisabled: false},
			func(b release.Behavior) any { return b.RejectDRAWhenDisabled }, false},
		"resource order without vectors": {"0.19.2", map[string]bool{release.VectorizedResourceRequests: false},
			func(b release.Behavior) any { return b.ResourceOrder }, release.GoMap},
		"hashing off": {"0.18.0", map[string]bool{release.SchedulingEquivalenceHashing: false},
			func(b release.Behavior) any { return b.EquivalenceHashing }, false},
		"a gate the release does not know changes nothing": {"0.17.0",
			map[string]bool{release.UnadmittedWorkloadsObservability: true},
			func(b release.Behavior) any { return b.GranularReasons }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := Resolve(nil, Options{Version: tc.version, FeatureGates: tc.gates})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, tc.field(c.Behavior)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
