package release

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
			got = append(got, show(GatesOf(release).kueue[gate]))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", gate, diff)
		}
	}
}

func TestGateNamesAreInTheTable(t *testing.T) {
	for _, d := range append(kueueDependencies, laterDependencies...) {
		for _, name := range append(d.needs, d.gate) {
			if kueueGates[name] == nil {
				t.Errorf("%s is not in the table", name)
			}
		}
	}
	known := GatesOf("v0.19.0").known
	for _, d := range libraryDependencies {
		for _, name := range append(d.needs, d.gate) {
			if known[name] == absent {
				t.Errorf("%s of the libraries is not in the table", name)
			}
		}
	}
}
