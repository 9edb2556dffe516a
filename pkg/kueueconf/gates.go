package kueueconf

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// stage is the maturity of a feature gate.
type stage int

const (
	alpha stage = iota + 1
	beta
	ga
	deprecated
)

// gateSpec is the definition of a feature gate in one release; the zero value is a gate that is not known.
type gateSpec struct {
	on     bool
	stage  stage
	locked bool
}

var (
	absent              = gateSpec{}
	offAlpha            = gateSpec{stage: alpha}
	onBeta              = gateSpec{on: true, stage: beta}
	offBeta             = gateSpec{stage: beta}
	onGA                = gateSpec{on: true, stage: ga}
	onGALocked          = gateSpec{on: true, stage: ga, locked: true}
	onDeprecated        = gateSpec{on: true, stage: deprecated}
	offDeprecated       = gateSpec{stage: deprecated}
	onDeprecatedLocked  = gateSpec{on: true, stage: deprecated, locked: true}
	offDeprecatedLocked = gateSpec{stage: deprecated, locked: true}
)

// gateSince is a definition that holds from a release on, in the order of releases.
type gateSince struct {
	release string
	spec    gateSpec
}

// gateDependency is a gate that may be on only while others are on.
type gateDependency struct {
	gate  string
	needs []string
}

const (
	allAlpha = "AllAlpha"
	allBeta  = "AllBeta"
)

// gateSet is the feature gates one release of Kueue knows.
type gateSet struct {
	release string
	// kueue are Kueue's own gates, known all the names its registry knows.
	kueue, known map[string]gateSpec
}

func gatesOf(release string) gateSet {
	g := gateSet{release: release, kueue: map[string]gateSpec{}, known: map[string]gateSpec{
		allAlpha: offAlpha, allBeta: offBeta,
	}}
	for _, groups := range libraryGatesOf(release) {
		for _, group := range groups {
			for _, name := range strings.Fields(group.names) {
				g.known[name] = group.spec
			}
		}
	}
	at := slices.Index(releases, release)
	for name, spans := range kueueGates {
		spec := absent
		for _, span := range spans {
			if slices.Index(releases, span.release) <= at {
				spec = span.spec
			}
		}
		if spec != absent {
			g.kueue[name], g.known[name] = spec, spec
		}
	}
	return g
}

func libraryGatesOf(release string) [][]gateGroup {
	switch {
	case release == Main:
		return [][]gateGroup{libraryGates19, trainerRayGatesMain}
	case since19.has(release):
		return [][]gateGroup{libraryGates19, trainerRayGates}
	case since18.has(release):
		return [][]gateGroup{libraryGates18, trainerRayGates}
	}
	return [][]gateGroup{libraryGates17, trainerRayGates}
}

// set applies values to the defaults as Kubernetes' gate library does: AllAlpha and AllBeta turn the gates of their
// stage that are not named themselves. The values that can be applied are, whatever the error.
// The library stops at the first unknown name in the order of a map; here it is the first by name.
func (g gateSet) set(values map[string]bool) (map[string]bool, error) {
	effective := map[string]bool{}
	for name, spec := range g.known {
		effective[name] = spec.on
		switch {
		case spec.stage == alpha && name != allAlpha:
			effective[name] = spec.on || values[allAlpha]
		case spec.stage == beta && name != allBeta:
			if v, given := values[allBeta]; given {
				effective[name] = v
			}
		}
	}
	var unknown, errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		spec, known := g.known[name]
		switch {
		case !known:
			unknown = append(unknown, fmt.Errorf("unrecognized feature gate: %s", name))
		case spec.locked && spec.on != values[name]:
			errs = append(errs, fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", name, values[name], spec.on))
		default:
			effective[name] = values[name]
		}
	}
	if len(unknown) > 0 {
		return effective, unknown[0]
	}
	if len(errs) == 0 {
		errs = g.libraryErrors(effective)
	}
	if len(errs) == 0 {
		return effective, nil
	}
	return effective, utilerrors.NewAggregate(errs)
}

// libraryErrors are the dependencies the gate library checks.
func (g gateSet) libraryErrors(effective map[string]bool) []error {
	var deps []gateDependency
	if since19.has(g.release) {
		deps = append(deps, libraryDependencies...)
	}
	if sinceMain.has(g.release) {
		deps = append(deps, kueueDependencies...)
		deps = append(deps, mainDependencies...)
	}
	slices.SortFunc(deps, func(a, b gateDependency) int { return strings.Compare(a.gate, b.gate) })
	var errs []error
	for _, d := range deps {
		if off := d.off(effective); len(off) > 0 {
			errs = append(errs, fmt.Errorf("%s is enabled, but depends on features that are disabled: %v", d.gate, off))
		}
	}
	return errs
}

// off lists what the gate needs and does not have; nothing when the gate itself is off.
func (d gateDependency) off(effective map[string]bool) []string {
	if !effective[d.gate] {
		return nil
	}
	var out []string
	for _, need := range d.needs {
		if !effective[need] {
			out = append(out, need)
		}
	}
	return out
}

// ParseFeatureGates reads the value of a --feature-gates flag: `A=true,B=false`.
func ParseFeatureGates(s string) (map[string]bool, error) {
	out := map[string]bool{}
	for pair := range strings.SplitSeq(s, ",") {
		if pair == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found {
			return nil, fmt.Errorf("missing bool value for %s", name)
		}
		on, err := strconv.ParseBool(value)
		if err != nil {
			return nil, fmt.Errorf("invalid value of %s=%s, err: %w", name, value, err)
		}
		out[name] = on
	}
	return out, nil
}

// formatFeatureGates is the inverse of ParseFeatureGates, by name.
func formatFeatureGates(m map[string]bool) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s=%t", name, m[name]))
	}
	return strings.Join(out, ",")
}

// chargeGates are the gates that a charge depends on directly.
var chargeGates = []string{
	DynamicResourceAllocation, DRAExtendedResources, KueueDRAIntegration, KueueDRAIntegrationExtendedResource,
	KueueDRAIntegrationPartitionableDevices, KueueDRAIntegrationConsumableCapacity, KueueDRARejectWorkloadsWhenDRADisabled,
	QuotaCheckStrategy, PartialAdmission, ReclaimablePods, UnadmittedWorkloadsObservability,
}

// NotableGates are the gates worth telling: those a charge depends on, and those that are not at the
// release's default, at their effective values.
func (c *Config) NotableGates() map[string]bool {
	out := map[string]bool{}
	defaults := gatesOf(c.Release).kueue
	for name, on := range c.Gates {
		if spec, known := defaults[name]; slices.Contains(chargeGates, name) || known && spec.on != on {
			out[name] = on
		}
	}
	return out
}

// KnowsGate tells whether the release knows a feature gate of this name, Kueue's own or one of the libraries it is built with.
func (c *Config) KnowsGate(name string) bool {
	_, known := gatesOf(c.Release).known[name]
	return known
}

// GateReleases lists the releases that know a feature gate of Kueue, in the order of releases; none for a name that never was one.
func GateReleases(name string) []string {
	var out []string
	for i, r := range releases {
		spec := absent
		for _, span := range kueueGates[name] {
			if slices.Index(releases, span.release) <= i {
				spec = span.spec
			}
		}
		if spec != absent {
			out = append(out, r)
		}
	}
	return out
}

// GateNames lists the names of Kueue's own gates in the release, sorted.
func (c *Config) GateNames() []string { return slices.Sorted(maps.Keys(gatesOf(c.Release).kueue)) }
