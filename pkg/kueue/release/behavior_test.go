package release

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBehaviorFacts spot-checks the table: each fact is one cell of what is known about a release.
func TestBehaviorFacts(t *testing.T) {
	type fact struct {
		version string
		want    any
	}
	tests := map[string]struct {
		field func(Behavior) any
		facts []fact
	}{
		"claims are charged by default from 0.18": {func(b Behavior) any { return b.DRAEnabledByDefault },
			[]fact{{"0.17.8", false}, {"0.18.0", true}, {"0.19.0", true}, {"main", true}}},
		"adminAccess is free from 0.20": {func(b Behavior) any { return b.AdminAccessExempt },
			[]fact{{"0.17.0", false}, {"0.18.6", false}, {"0.19.0", false}, {"0.19.7", false}, {"0.20.0", true}, {"main", true}}},
		"constraints were refused until 0.18.2": {func(b Behavior) any { return b.RejectConstraintsAndConfig },
			[]fact{{"0.17.8", true}, {"0.18.1", true}, {"0.18.2", false}, {"0.19.0", false}, {"main", false}}},
		"selectors were refused in 0.17": {func(b Behavior) any { return b.RejectCELSelectors },
			[]fact{{"0.17.8", true}, {"0.18.0", false}}},
		"a nil exactly is an error from 0.18.4, never in 0.17": {func(b Behavior) any { return b.NilExactlyIsError },
			[]fact{{"0.17.8", false}, {"0.18.3", false}, {"0.18.4", true}, {"0.19.0", true}}},
		"spec errors are permanent from 0.17.5 and 0.18.1, not 0.18.0": {func(b Behavior) any { return b.DRASpecErrorsPermanent },
			[]fact{{"0.17.4", false}, {"0.17.5", true}, {"0.18.0", false}, {"0.18.1", true}}},
		"the newest class is used in 0.18.5 but not in 0.19.0": {func(b Behavior) any { return b.ExtendedClassNewest },
			[]fact{{"0.18.4", false}, {"0.18.5", true}, {"0.19.0", false}, {"0.19.1", true}, {"main", true}}},
		"names are summed before mapping in 0.18.6 and 0.19.2": {func(b Behavior) any { return b.ExtendedAggregateBeforeMapping },
			[]fact{{"0.18.5", false}, {"0.18.6", true}, {"0.19.0", false}, {"0.19.1", false}, {"0.19.2", true}}},
		"sidecars are summed from 0.19.6": {func(b Behavior) any { return b.SidecarsSummedInExtendedResources },
			[]fact{{"0.17.0", false}, {"0.18.8", false}, {"0.19.5", false}, {"0.19.6", true}, {"0.20.0", true}, {"main", true}}},
		"a limit stands for a request before LimitRanges from 0.18.7": {func(b Behavior) any { return b.LimitIsRequest },
			[]fact{{"0.18.6", false}, {"0.18.7", true}, {"0.19.2", false}, {"0.19.3", true}, {"0.20.0", true}}},
		"lists break selectors until 0.20": {func(b Behavior) any { return b.ListAttributes },
			[]fact{{"0.18.6", false}, {"0.19.7", false}, {"0.20.0", true}}},
		"names of capacities are checked from 0.19.3": {func(b Behavior) any { return b.CapacityNameChecked },
			[]fact{{"0.18.8", false}, {"0.19.2", false}, {"0.19.3", true}, {"0.20.0", true}}},
		"a counter is the largest over all sets from 0.19": {func(b Behavior) any { return b.CounterMaxOverAllSets },
			[]fact{{"0.18.6", false}, {"0.19.0", true}}},
		"the path of class errors is doubled in 0.19.0": {func(b Behavior) any { return b.DeviceClassErrPathFixed },
			[]fact{{"0.18.6", true}, {"0.19.0", false}, {"0.19.1", true}}},
		"source resources are binary from 0.18.4": {func(b Behavior) any { return b.BinarySIForSources },
			[]fact{{"0.18.3", false}, {"0.18.4", true}, {"0.19.0", true}}},
		"transformations are exact from 0.17.7 and 0.18.3": {func(b Behavior) any { return b.TransformExactDecimal },
			[]fact{{"0.17.6", false}, {"0.17.7", true}, {"0.18.2", false}, {"0.18.3", true}, {"0.19.0", true}}},
		"a retained input is multiplied in 0.19.0": {func(b Behavior) any { return b.RetainUnmultiplied },
			[]fact{{"0.18.4", false}, {"0.18.5", true}, {"0.19.0", false}, {"0.19.1", true}}},
		"adding claims wraps in 0.19.0": {func(b Behavior) any { return b.SaturateAddSub },
			[]fact{{"0.18.6", true}, {"0.19.0", false}, {"0.19.2", true}}},
		"completed indexes are reclaimed from 0.17.8": {func(b Behavior) any { return b.ReclaimCompletedIndexes },
			[]fact{{"0.17.7", false}, {"0.17.8", true}, {"0.18.3", false}, {"0.18.4", true}}},
		"failed indexes are not reclaimed in 0.19.0": {func(b Behavior) any { return b.ReclaimFailedIndexes },
			[]fact{{"0.17.8", false}, {"0.18.5", true}, {"0.19.0", false}, {"0.19.1", true}}},
		"the Ray autoscaler is charged from 0.19 alone": {func(b Behavior) any { return b.RayAutoscalerCharged },
			[]fact{{"0.18.6", false}, {"0.19.0", true}}},
		"Redis cleanup is charged from 0.17.6": {func(b Behavior) any { return b.RayRedisCleanupCharged },
			[]fact{{"0.17.5", false}, {"0.17.6", true}, {"0.18.1", false}, {"0.18.2", true}}},
		"pod sets of a Workload": {func(b Behavior) any { return b.MaxPodSets },
			[]fact{{"0.17.8", 8}, {"0.18.0", 10}, {"0.18.6", 10}, {"0.19.0", 18}, {"main", 18}}},
		"the default queue is given anywhere in 0.19.0": {func(b Behavior) any { return b.DefaultLQChecksNamespace },
			[]fact{{"0.18.5", true}, {"0.19.0", false}, {"0.19.1", true}}},
		"owner UIDs are compared from 0.18.6 and 0.19.2": {func(b Behavior) any { return b.AncestorUIDChecked },
			[]fact{{"0.18.5", false}, {"0.18.6", true}, {"0.19.1", false}, {"0.19.2", true}}},
		"waitForPodsReady has defaults from 0.19": {func(b Behavior) any { return b.WFPRDefaulted },
			[]fact{{"0.18.6", false}, {"0.19.0", true}}},
		"0.19.0 stops at the first resource that can't fit": {func(b Behavior) any { return b.StopAtFirstNoFitResource },
			[]fact{{"0.17.8", true}, {"0.18.4", true}, {"0.18.5", false}, {"0.19.0", true}, {"0.19.1", false}}},
		"the order of resources is left to chance in 0.19.0": {func(b Behavior) any { return b.ResourceOrder },
			[]fact{{"0.18.4", GoMap}, {"0.18.5", FNV64a}, {"0.19.0", GoMap}, {"0.19.1", FNV64a}, {"main", FNV64a}}},
		"reasons are granular by default from 0.20": {func(b Behavior) any { return b.GranularReasons },
			[]fact{{"0.18.6", false}, {"0.19.0", false}, {"0.19.2", false}, {"main", true}}},
		"the namespace message is in lower case from 0.18.5": {func(b Behavior) any { return b.NamespaceMsgLower },
			[]fact{{"0.18.4", false}, {"0.18.5", true}, {"0.19.0", true}}},
		"dependencies of gates are the library's from 0.20": {func(b Behavior) any { return b.GateDepsByLibrary },
			[]fact{{"0.19.2", false}, {"main", true}}},
		"an unknown newer patch is its line's newest": {func(b Behavior) any { return b.ExtendedDropNonPositive },
			[]fact{{"0.18.7", true}, {"0.19.3", true}, {"0.17.9", false}, {"0.20.0", true}, {"0.16.0", false}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, f := range tc.facts {
				b, _, err := Lookup(f.version)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(f.want, tc.field(b)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", f.version, diff)
				}
			}
		})
	}
}

// TestEveryFieldHasOneRule keeps the table complete: a new field without a rule would silently be false everywhere.
func TestEveryFieldHasOneRule(t *testing.T) {
	var b Behavior
	at := map[uintptr]string{}
	v := reflect.ValueOf(&b).Elem()
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Bool {
			at[v.Field(i).Addr().Pointer()] = v.Type().Field(i).Name
		}
	}
	count := map[string]int{}
	for _, r := range rules {
		count[at[reflect.ValueOf(r.field(&b)).Pointer()]]++
	}
	for _, name := range at {
		if count[name] != 1 {
			t.Errorf("field %s has %d rules, want 1", name, count[name])
		}
	}
}
