package cluster

import (
	"cmp"
	"slices"
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
	// scope is the part of the cluster that the current file tells of, as its place in a tree says; mixed
	// tells that it holds objects of other namespaces all the same.
	scope source.Scope
	mixed bool
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
	if k, ok := FindKind(schema.GroupKind{Group: gv.Group, Kind: kind}); ok &&
		(s.b.wants == nil || s.b.wants(k.GroupKind)) {
		s.last.found = &k
	}
	return s.last.found
}

// Want implements source.Sink.
func (s *sink) Want(apiVersion, kind string) bool {
	return s.kind(apiVersion, kind) != nil || isCollection(apiVersion, kind)
}

// Document implements source.Sink.
func (s *sink) Document(d source.Document) {
	k := s.kind(d.APIVersion, d.Kind)
	if k == nil {
		if isCollection(d.APIVersion, d.Kind) {
			s.collection(d)
		}
		return
	}
	if s.scope.Namespace != "" && k.Namespaced && d.Namespace() != s.scope.Namespace {
		s.mixed = true
	}
	s.hold(k, false)
	s.b.seq++
	s.b.queue <- job{doc: d, kind: k, opts: s.opts, seq: s.b.seq}
}

// Listed implements source.Sink.
func (s *sink) Listed(apiVersion, kind string) {
	if k := s.kind(apiVersion, kind); k != nil {
		s.hold(k, true)
	}
}

// Scope implements source.PartSink.
func (s *sink) Scope(scope source.Scope) { s.scope, s.mixed = scope, false }

// BrokeOff implements source.PartSink.
func (s *sink) BrokeOff(reason string) { s.b.coverage.broken = cmp.Or(s.b.coverage.broken, reason) }

// namedOnes are the kinds of which a must-gather holds the objects that some component names, besides those
// of which it holds all.
var namedOnes = []schema.GroupKind{Namespace, PriorityClass, RuntimeClass}

// hold records that the input answers for a kind. What is laid over the cluster does not: it adds objects,
// and says nothing of those the cluster has.
func (s *sink) hold(k *Kind, whole bool) {
	switch {
	case s.opts.Laid && !s.opts.Whole, s.opts.Part:
	case s.opts.Within != "" && k.Namespaced:
		s.holdIn(k, s.opts.Within)
	case s.scope.Part:
	case s.scope.Namespace != "" && !s.mixed:
		if k.Namespaced {
			s.holdIn(k, s.scope.Namespace)
		}
	case s.scope.Gathered && !whole && slices.Contains(namedOnes, k.GroupKind):
	default:
		s.b.coverage.held[k.GroupKind] = true
	}
}

// holdIn records that the input answers for a kind in one namespace.
func (s *sink) holdIn(k *Kind, namespace string) {
	s.b.coverage.holdIn(k.GroupKind, namespace)
	if why, ok := strings.CutPrefix(s.b.coverage.missing[k.GroupKind], forbidden); ok {
		s.b.coverage.missing[k.GroupKind] = "forbidden outside namespace " + namespace + ": " + why
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
