package lint

import (
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// Place names a field a rule has something to say about.
type Place struct {
	Ref    cluster.Ref
	Origin *source.Origin
	// Path of the field, from the root of the document Origin stands for.
	Path string
	// Key means the field's name, not its value.
	Key bool
	// Label says in a few words what is seen there.
	Label string
	// Value of the field, where that is worth telling.
	Value string
	// File and Line stand instead of an Origin for what could not be read.
	File string
	Line int
}

// At is the value at a path of an object.
func At(o *cluster.Object, path string) Place {
	if o == nil {
		return Place{}
	}
	return Place{Ref: o.Ref, Origin: o.Origin, Path: asWritten(o, path)}
}

// older are the places of fields in older API versions, by the version and kind. They replace the first match.
var older = map[string][]struct{ now, then string }{
	"resource.k8s.io/v1beta1 ResourceClaimTemplate": {{"].exactly", "]"}},
	"resource.k8s.io/v1beta1 ResourceClaim":         {{"].exactly", "]"}},
	"resource.k8s.io/v1beta1 ResourceSlice": {{"].attributes", "].basic.attributes"},
		{"].capacity", "].basic.capacity"}, {"].consumesCounters",
			"].basic.consumesCounters"}, {"].allowMultipleAllocations", "].basic.allowMultipleAllocations"}},
	"kueue.x-k8s.io/v1beta1 ClusterQueue": {{"spec.cohortName", "spec.cohort"}},
}

// asWritten is the path of a field in the API version that the object was written in.
func asWritten(o *cluster.Object, path string) string {
	for _, field := range older[o.Given+" "+o.Ref.Kind] {
		if strings.Contains(path, field.now) {
			return strings.Replace(path, field.now, field.then, 1)
		}
	}
	return path
}

// Evidence is the field a fact of a charge was read from.
func Evidence(e charge.Evidence) Place {
	if e.Object != nil {
		p := At(e.Object, e.Path)
		p.Value = e.Value
		return p
	}
	return Place{Ref: e.Subject(), Origin: e.ReadFrom(), Path: e.Path, Value: e.Value}
}

// Name is the key of the field instead of its value.
func (p Place) Name() Place { p.Key = true; return p }

// Saying labels the place.
func (p Place) Saying(label string) Place { p.Label = label; return p }

// IsZero tells that the place names nothing.
func (p Place) IsZero() bool { return p.Ref.IsZero() && p.Origin == nil && p.File == "" }

// key tells places apart.
func (p Place) key() string { return p.Ref.String() + "\x00" + p.Path + "\x00" + p.File }

// Location looks the place up in its file.
func (p Place) Location() Location {
	l := Location{Object: p.Ref, Path: p.Path, Label: p.Label, Value: p.Value, File: p.File, origin: p.Origin}
	l.Line = p.Line
	if p.Origin == nil || p.Origin.File == "" {
		return l
	}
	l.File, l.Line = p.Origin.File, p.Origin.Line
	find := p.Origin.Field
	if p.Key {
		find = p.Origin.Key
	}
	if at, ok := find(p.Path); ok {
		l.Position = at
	}
	return l
}
