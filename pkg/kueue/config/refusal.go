package config

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// startStage is the step of the manager's start at which it refuses a configuration; the text is what it logs before
// the reason.
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
