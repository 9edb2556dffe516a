package kueueconf

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGateTable pins defaults, locks and unknown names by release, written as on, off, on L (locked), off L or –.
func TestGateTable(t *testing.T) {
	columns := []string{"v0.17.0", "v0.18.0", "v0.18.6", "v0.19.0", "v0.19.1", "v0.19.2", Main}
	tests := map[string][]string{
		DynamicResourceAllocation:                   {"off", "off L", "off L", "–", "–", "–", "–"},
		DRAExtendedResources:                        {"off", "off L", "off L", "–", "–", "–", "–"},
		KueueDRAIntegration:                         {"–", "on", "on", "on", "on", "on", "on"},
		KueueDRAIntegrationExtendedResource:         {"–", "off", "off", "on", "on", "on", "on"},
		KueueDRAIntegrationPartitionableDevices:     {"–", "off", "off", "on", "on", "on", "on"},
		KueueDRAIntegrationConsumableCapacity:       {"–", "–", "–", "off", "off", "off", "off"},
		KueueDRARejectWorkloadsWhenDRADisabled:      {"–", "on", "on", "on", "on", "on", "on"},
		UnadmittedWorkloadsObservability:            {"–", "–", "off", "off", "off", "off", "on"},
		UnadmittedWorkloadsExplicitStatus:           {"–", "–", "off", "off", "off", "off", "off"},
		QuotaCheckStrategy:                          {"–", "off", "off", "on", "on", "on", "on"},
		SchedulingEquivalenceHashing:                {"off", "on", "on", "on", "on", "on", "on"},
		PartialAdmission:                            {"on", "on", "on", "on", "on", "on", "on"},
		ReclaimablePods:                             {"on", "on", "on", "on", "on", "on", "on"},
		FlavorFungibilityPreserveScanProgress:       {"–", "–", "on", "–", "on", "on", "on"},
		WorkloadValidateResourcesAreNonNegative:     {"–", "–", "on", "–", "on", "on", "on"},
		PodIntegrationValidateGroupOwner:            {"–", "–", "on", "–", "–", "on", "on"},
		PrioritizePreemptorWorkloads:                {"–", "–", "off", "–", "–", "off", "off"},
		VectorizedResourceRequests:                  {"–", "–", "on", "on", "on", "on", "on"},
		TASHandleOverlappingFlavors:                 {"–", "on", "on", "on", "on", "on", "on"},
		TASMultiLayerTopology:                       {"off", "off", "off", "on", "on", "on", "on"},
		AdmissionGatedBy:                            {"off", "off", "off", "on", "on", "on", "on"},
		WorkloadPriorityClassDefaulting:             {"–", "off", "off", "off", "off", "off", "on"},
		ManagedJobsNamespaceSelectorAlwaysRespected: {"on", "on", "on", "on L", "on L", "on L", "on L"},
		DisableWaitForPodsReady:                     {"–", "–", "–", "off", "off", "off", "off"},
		LendingLimit:                                {"on L", "on L", "on L", "–", "–", "–", "–"},
		HierarchicalCohorts:                         {"on L", "on L", "on L", "on L", "on L", "on L", "–"},
		SchedulerTimestampPreemptionBuffer:          {"off", "off", "off", "off", "off", "off", "–"},
	}
	show := func(s gateSpec) string {
		text := map[bool]string{true: "on", false: "off"}[s.on]
		switch {
		case s == absent:
			return "–"
		case s.locked:
			return text + " L"
		}
		return text
	}
	for gate, want := range tests {
		var got []string
		for _, release := range columns {
			got = append(got, show(gatesOf(release).kueue[gate]))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", gate, diff)
		}
	}
}

func TestGateNamesAreInTheTable(t *testing.T) {
	for _, d := range append(kueueDependencies, mainDependencies...) {
		for _, name := range append(d.needs, d.gate) {
			if kueueGates[name] == nil {
				t.Errorf("%s is not in the table", name)
			}
		}
	}
	known := gatesOf("v0.19.0").known
	for _, d := range libraryDependencies {
		for _, name := range append(d.needs, d.gate) {
			if known[name] == absent {
				t.Errorf("%s of the libraries is not in the table", name)
			}
		}
	}
}

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
			want:    map[string]bool{KueueDRAIntegration: true, KueueDRAIntegrationConsumableCapacity: false},
		},
		"the configuration": {
			release: "v0.19.0",
			in:      gateInput{configured: map[string]bool{KueueDRAIntegrationConsumableCapacity: true}},
			want:    map[string]bool{KueueDRAIntegrationConsumableCapacity: true},
		},
		"the manager's flag alone counts when both are given, and that is refused": {
			release:     "v0.19.0",
			in:          gateInput{flag: "PartialAdmission=false", configured: map[string]bool{KueueDRAIntegrationConsumableCapacity: true}},
			want:        map[string]bool{PartialAdmission: false, KueueDRAIntegrationConsumableCapacity: false},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"KueueDRAIntegrationConsumableCapacity":true}: ` + both,
		},
		"an empty featureGates is given as well": {
			release:     "v0.19.2",
			in:          gateInput{flag: "PartialAdmission=false", configured: map[string]bool{}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {}: ` + both,
		},
		"the user's values win": {
			release: "v0.19.0",
			in:      gateInput{flag: "PartialAdmission=false", user: map[string]bool{PartialAdmission: true}},
			want:    map[string]bool{PartialAdmission: true},
		},
		"AllAlpha leaves named gates alone": {
			release: "v0.18.6",
			in:      gateInput{configured: map[string]bool{"AllAlpha": true, PriorityBoost: false}},
			want:    map[string]bool{KueueDRAIntegrationExtendedResource: true, PriorityBoost: false, PartialAdmission: true},
		},
		"AllBeta turns betas off": {
			release: "v0.18.6",
			in:      gateInput{configured: map[string]bool{"AllBeta": false}},
			want:    map[string]bool{KueueDRAIntegration: false, PartialAdmission: false, LendingLimit: true},
		},
		"an unknown gate": {
			release:     "v0.19.0",
			in:          gateInput{configured: map[string]bool{LendingLimit: true}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"LendingLimit":true}: unrecognized feature gate: LendingLimit`,
		},
		"Kubernetes' own gate may be named from 0.19": {
			release: "v0.19.2",
			in:      gateInput{configured: map[string]bool{DynamicResourceAllocation: true, "DRAExtendedResource": true}},
		},
		"Kubernetes' own gate is unknown to 0.18": {
			release:     "v0.18.6",
			in:          gateInput{configured: map[string]bool{"DRAExtendedResource": true}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"DRAExtendedResource":true}: unrecognized feature gate: DRAExtendedResource`,
		},
		"DynamicResourceAllocation is locked to false in 0.18": {
			release:     "v0.18.0",
			in:          gateInput{configured: map[string]bool{DynamicResourceAllocation: true}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"DynamicResourceAllocation":true}: cannot set feature gate DynamicResourceAllocation to true, feature is locked to false`,
		},
		"and to true in 0.19": {
			release:     "v0.19.1",
			in:          gateInput{flag: "DynamicResourceAllocation=false"},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: "DynamicResourceAllocation=false": cannot set feature gate DynamicResourceAllocation to false, feature is locked to true`,
		},
		"DRA off alone is fine in 0.18": {
			release: "v0.18.6",
			in:      gateInput{configured: map[string]bool{KueueDRAIntegration: false}},
			want:    map[string]bool{KueueDRAIntegration: false},
		},
		"DRA off alone is refused in 0.19": {
			release: "v0.19.2",
			in:      gateInput{configured: map[string]bool{KueueDRAIntegration: false}},
			want:    map[string]bool{KueueDRAIntegration: false},
			wantRefusal: `conflicting feature gates detected: [featureGates: Invalid value: "KueueDRAIntegrationExtendedResource": KueueDRAIntegrationExtendedResource requires KueueDRAIntegration to be enabled, ` +
				`featureGates: Invalid value: "KueueDRAIntegrationPartitionableDevices": KueueDRAIntegrationPartitionableDevices requires KueueDRAIntegration to be enabled]`,
		},
		"main has the gate library say it": {
			release: Main,
			in:      gateInput{configured: map[string]bool{KueueDRAIntegration: false}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"KueueDRAIntegration":false}: ` +
				`[KueueDRAIntegrationExtendedResource is enabled, but depends on features that are disabled: [KueueDRAIntegration], ` +
				`KueueDRAIntegrationPartitionableDevices is enabled, but depends on features that are disabled: [KueueDRAIntegration]]`,
		},
		"main looks at both first": {
			release:     Main,
			in:          gateInput{flag: "NoSuchGate=true", configured: map[string]bool{PartialAdmission: true}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: {"PartialAdmission":true}: ` + both,
		},
		"a profile of topologies without topologies": {
			release:     "v0.17.4",
			in:          gateInput{configured: map[string]bool{TopologyAwareScheduling: false, TASFailedNodeReplacement: false, TASFailedNodeReplacementFailFast: false, TASReplaceNodeOnPodTermination: false, TASReplaceNodeOnNodeTaints: false}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: 1: cannot use a TAS profile with TAS disabled`,
		},
		"early 0.17 sets gates after it checked them": {
			release:     "v0.17.3",
			in:          gateInput{configured: map[string]bool{"NoSuchGate": true}},
			wantRefusal: `Unable to set flag gates for known features: unrecognized feature gate: NoSuchGate`,
		},
		"early 0.17 checks no dependency": {
			release: "v0.17.0",
			in:      gateInput{configured: map[string]bool{DRAExtendedResources: true}},
			want:    map[string]bool{DRAExtendedResources: true},
		},
		"later 0.17 does": {
			release:     "v0.17.8",
			in:          gateInput{configured: map[string]bool{DRAExtendedResources: true}},
			wantRefusal: `conflicting feature gates detected: featureGates: Invalid value: "DRAExtendedResources": DRAExtendedResources requires DynamicResourceAllocation to be enabled`,
		},
		"a flag that is not a list of gates": {
			release:     "v0.19.2",
			in:          gateInput{flag: "PartialAdmission"},
			want:        map[string]bool{PartialAdmission: true},
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
