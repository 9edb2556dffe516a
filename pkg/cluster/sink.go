package cluster

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// forbidden begins the reason of a kind that the user may not list.
const forbidden = "forbidden: "

// sink feeds one input to the Builder.
type sink struct {
	b    *Builder
	opts InputOptions
	last lookup
}

// lookup remembers the latest kind asked for: inputs hold long runs of one kind.
type lookup struct {
	apiVersion, kind string
	found            *Kind
}

func (s *sink) kind(apiVersion, kind string) *Kind {
	if s.last.kind == kind && s.last.apiVersion == apiVersion {
		return s.last.found
	}
	s.last = lookup{apiVersion: apiVersion, kind: kind}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil
	}
	if k, ok := FindKind(schema.GroupKind{Group: gv.Group, Kind: kind}); ok && (s.b.wants == nil || s.b.wants(k.GroupKind)) {
		s.last.found = &k
	}
	return s.last.found
}

// Want implements source.Sink.
func (s *sink) Want(apiVersion, kind string) bool { return s.kind(apiVersion, kind) != nil }

// Document implements source.Sink.
func (s *sink) Document(d source.Document) {
	k := s.kind(d.APIVersion, d.Kind)
	if k == nil {
		return
	}
	s.hold(k)
	s.b.seq++
	s.b.queue <- job{doc: d, kind: k, opts: s.opts, seq: s.b.seq}
}

// Listed implements source.Sink.
func (s *sink) Listed(apiVersion, kind string) {
	if k := s.kind(apiVersion, kind); k != nil {
		s.hold(k)
	}
}

// hold records that the input answers for a kind. What is laid over a cluster does not: it adds objects,
// and says nothing of those the cluster has.
func (s *sink) hold(k *Kind) {
	switch {
	case s.opts.Laid && !s.opts.Whole:
	case s.opts.Within != "" && k.Namespaced:
		if s.b.coverage.within[k.GroupKind] == nil {
			s.b.coverage.within[k.GroupKind] = map[string]bool{}
		}
		s.b.coverage.within[k.GroupKind][s.opts.Within] = true
		if why, ok := strings.CutPrefix(s.b.coverage.missing[k.GroupKind], forbidden); ok {
			s.b.coverage.missing[k.GroupKind] = "forbidden outside namespace " + s.opts.Within + ": " + why
		}
	default:
		s.b.coverage.held[k.GroupKind] = true
	}
}

// Missing implements source.Sink.
func (s *sink) Missing(group, kind, reason string) {
	gk := schema.GroupKind{Group: group, Kind: kind}
	if reason == source.NotServed {
		s.b.coverage.notServed[gk] = true
		return
	}
	if s.opts.Within != "" && s.b.coverage.missing[gk] != "" {
		return // that it may not be read in all namespaces is said already
	}
	s.b.coverage.missing[gk] = reason
}

// Problem implements source.Sink.
func (s *sink) Problem(p source.Problem) {
	s.b.seq++
	s.b.problems = append(s.b.problems, placed{p, s.b.seq})
}
