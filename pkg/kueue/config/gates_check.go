package config

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

var featureGatesPath = field.NewPath("featureGates")

// gateInput is where values of feature gates come from.
type gateInput struct {
	// flag is the value of --feature-gates in the manager's Deployment.
	flag string
	// configured is featureGates of the Configuration; nil when it is not there.
	configured map[string]bool
	// user are the values given on our own command line; they win.
	user map[string]bool
}

// resolveGates returns the effective values of Kueue's own gates and the refusal they lead to.
func resolveGates(name string, in gateInput) (map[string]bool, refusal) {
	g := release.GatesOf(name)
	values, shown, err := in.values()
	effective, setErr := g.Set(values)
	if err == nil {
		err = setErr
	}
	own := map[string]bool{}
	for _, gate := range g.Names() {
		own[gate] = effective[gate]
	}
	return own, in.refuse(release.Of(name), g, shown, err, effective)
}

// values merges the inputs. shown is what Kueue prints as the invalid value.
func (in gateInput) values() (values map[string]bool, shown any, err error) {
	values = maps.Clone(in.configured)
	if in.flag != "" {
		values, err = release.ParseFeatureGates(in.flag)
	}
	if len(in.user) == 0 {
		if in.flag != "" {
			return values, in.flag, err
		}
		return values, values, err
	}
	if values == nil {
		values = map[string]bool{}
	}
	maps.Copy(values, in.user)
	if in.flag != "" && err == nil {
		return values, release.FormatFeatureGates(values), nil
	}
	if in.flag != "" {
		return values, in.flag, err
	}
	return values, values, err
}

// refuse is the check of feature gates at start, in the order and words of the release.
func (in gateInput) refuse(b release.Behavior, g release.Gates, shown any, setErr error,
	effective map[string]bool) refusal {
	var both field.ErrorList
	if in.flag != "" && in.configured != nil {
		both = field.ErrorList{field.Invalid(featureGatesPath, in.configured,
			"feature gates for CLI and configuration cannot both specified")}
	}
	if b.GatesSetAfterCheck {
		if both == nil && setErr != nil {
			return refusal{stage: stageSetGates, err: setErr}
		}
		return refuseFields(stageGates, both)
	}
	if both != nil && b.GateSourcesCheckedFirst {
		return refuseFields(stageGates, both)
	}
	if setErr != nil {
		return refuseFields(stageGates, field.ErrorList{field.Invalid(featureGatesPath, shown, setErr.Error())})
	}
	return refuseFields(stageGates, append(both, dependencyErrors(g, effective)...))
}

// dependencyErrors are the dependencies Kueue itself checks.
func dependencyErrors(g release.Gates, effective map[string]bool) field.ErrorList {
	var errs field.ErrorList
	if effective[release.TASProfileMixed] && !effective[release.TopologyAwareScheduling] {
		errs = append(errs, field.Invalid(featureGatesPath, 1, "cannot use a TAS profile with TAS disabled"))
	}
	for _, d := range g.Unmet(effective) {
		errs = append(errs, field.Invalid(featureGatesPath, d.Gate,
			fmt.Sprintf("%s requires %s to be enabled", d.Gate, d.Need)))
	}
	return errs
}
