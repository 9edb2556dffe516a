package release

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
	onAlpha             = gateSpec{on: true, stage: alpha}
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

// Gates is the feature gates one release of Kueue knows.
type Gates struct {
	behavior Behavior
	// kueue are Kueue's own gates, known all the names its registry knows.
	kueue, known map[string]gateSpec
}

// GatesOf returns the feature gates of one of [All]; none for another name.
func GatesOf(release string) Gates {
	g := Gates{behavior: Of(release), kueue: map[string]gateSpec{}, known: map[string]gateSpec{
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
	for _, row := range libraryGates {
		if row.in.has(release) {
			return row.groups
		}
	}
	return nil
}

// Defaults are Kueue's own gates at the release's defaults.
func (g Gates) Defaults() map[string]bool {
	out := make(map[string]bool, len(g.kueue))
	for name, spec := range g.kueue {
		out[name] = spec.on
	}
	return out
}

// Names lists the names of Kueue's own gates in the release, sorted.
func (g Gates) Names() []string { return slices.Sorted(maps.Keys(g.kueue)) }

// Knows tells whether the release knows a feature gate of this name, Kueue's own or one of the libraries it is built
// with.
func (g Gates) Knows(name string) bool {
	_, known := g.known[name]
	return known
}

// unannounced tells that the release may know a gate though it isn't known here: its gates are known from release
// notes, and no release is known to have had this one.
func (g Gates) unannounced(name string) bool {
	return g.behavior.Announced && len(WithGate(name)) == 0
}

// Unannounced lists the gates among values of which the release may know what they do, though it isn't known here.
func (g Gates) Unannounced(values map[string]bool) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !g.Knows(name) && g.unannounced(name) {
			out = append(out, name)
		}
	}
	return out
}

// Set applies values to the defaults as Kubernetes' gate library does: AllAlpha and AllBeta turn the gates of their
// stage that are not named themselves. The values that can be applied are, whatever the error.
// The library stops at the first unknown name in the order of a map; here it is the first by name.
func (g Gates) Set(values map[string]bool) (map[string]bool, error) {
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
		case !known && g.unannounced(name):
			// Perhaps a gate of that release: Set can't refuse it.
		case !known:
			unknown = append(unknown, fmt.Errorf("unrecognized feature gate: %s", name))
		case spec.locked && spec.on != values[name]:
			errs = append(errs,
				fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", name, values[name], spec.on))
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
func (g Gates) libraryErrors(effective map[string]bool) []error {
	var deps []gateDependency
	if g.behavior.LinksKubernetesGates {
		deps = append(deps, libraryDependencies...)
	}
	if g.behavior.GateDepsByLibrary {
		deps = append(deps, kueueDependencies...)
		deps = append(deps, laterDependencies...)
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

// Unmet is a gate that is on while one it needs is off.
type Unmet struct{ Gate, Need string }

// Unmet lists the dependencies between gates that Kueue itself checks and finds broken, in its order. None where the
// gate library checks them: [Gates.Set] does then.
func (g Gates) Unmet(effective map[string]bool) []Unmet {
	if g.behavior.GateDepsByLibrary {
		return nil
	}
	var out []Unmet
	for _, d := range kueueDependencies {
		if d.gate == TASRecomputeAssignmentWithinSchedulingCycle && !g.behavior.TASRecomputeDepChecked {
			continue
		}
		for _, need := range d.off(effective) {
			out = append(out, Unmet{d.gate, need})
		}
	}
	return out
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

// FormatFeatureGates is the inverse of ParseFeatureGates, by name.
func FormatFeatureGates(m map[string]bool) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s=%t", name, m[name]))
	}
	return strings.Join(out, ",")
}

// WithGate lists the releases that know a feature gate of Kueue, in the order of releases; none for a name that never
// was one.
func WithGate(name string) []string {
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
