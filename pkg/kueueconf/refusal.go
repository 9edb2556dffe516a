package kueueconf

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// startStage is the step of the manager's start at which it refuses a configuration; the text is what it logs before the reason.
type startStage string

const (
	stageLoad     startStage = "Unable to load the configuration"
	stageGates    startStage = "conflicting feature gates detected"
	stageSetGates startStage = "Unable to set flag gates for known features"
	stageValidate startStage = "Unable to validate the configuration"
	// stageControllers comes after all that.
	stageControllers startStage = "Unable to setup controllers"
)

// refusal is why the manager would not start; zero when it starts.
type refusal struct {
	stage startStage
	// fields are the reasons that name a field, err any other.
	fields field.ErrorList
	err    error
	// path is the field err is about, where there is one.
	path string
}

func refuseFields(stage startStage, errs field.ErrorList) refusal {
	if len(errs) == 0 {
		return refusal{}
	}
	return refusal{stage: stage, fields: errs}
}

func (r refusal) none() bool { return r.stage == "" }

// text is the whole message as the manager prints it.
func (r refusal) text() string {
	switch {
	case r.none():
		return ""
	case r.err != nil:
		return string(r.stage) + ": " + r.err.Error()
	}
	return string(r.stage) + ": " + r.fields.ToAggregate().Error()
}

// problems are the reasons one by one; equal ones are told once, as Kueue does.
func (r refusal) problems(origin *source.Origin) []Problem {
	if r.err != nil {
		return []Problem{{Path: r.path, Message: r.err.Error(), Origin: origin}}
	}
	var out []Problem
	seen := map[string]bool{}
	for _, e := range r.fields {
		if message := e.Error(); !seen[message] {
			seen[message] = true
			out = append(out, Problem{Path: e.Field, Message: message, Origin: origin})
		}
	}
	return out
}

// dialect is what releases do differently at start, apart from what they charge.
type dialect struct {
	// gatesSetAfterCheck: gates are checked at their defaults and set afterwards, so no dependency is ever found missing.
	gatesSetAfterCheck bool
	// validatedAtLoad: the configuration is validated as it is loaded, before feature gates.
	validatedAtLoad bool
	sources         sourceRules
	// customLabelLimits: the number and values of metrics.customLabels are limited.
	customLabelLimits bool
	// tlsErrorsJoined: all errors of tls are told; else the last.
	tlsErrorsJoined bool
}

// sourceRules are how sources of device class mappings are validated.
type sourceRules int

const (
	// sourcesUnread: sources are validated only while their gate is on, and ignored otherwise.
	sourcesUnread sourceRules = iota
	// sourcesSingle: their gate must be on, and a mapping has at most one source.
	sourcesSingle
	// sourcesMany: counter and capacity sources, several to a mapping.
	sourcesMany
)

func dialectOf(release string) dialect {
	d := dialect{
		gatesSetAfterCheck: until("v0.17.4", "v0.18.0", "v0.19.0", Main).has(release),
		validatedAtLoad:    until("v0.18.0", "v0.19.0", Main).has(release),
		customLabelLimits:  since19.has(release),
		tlsErrorsJoined:    since19.has(release),
	}
	switch {
	case since19.has(release):
		d.sources = sourcesMany
	case from("v0.18.1").has(release):
		d.sources = sourcesSingle
	}
	return d
}
