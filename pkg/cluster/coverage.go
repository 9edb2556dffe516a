package cluster

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Coverage says which kinds the snapshot can answer for.
//
// A kind is held when at least one object of it was read from the cluster or an export of it, when a
// complete list of it was read (a typed list, a live list call), or when the live API server does not
// serve it at all. A kind may also be held in some namespaces alone. Objects laid over the cluster (-f) hold
// nothing: they do not tell what else there is. Otherwise nothing can be concluded from the absence of an object
// of that kind.
//
// The tree of a must-gather holds what somebody chose to gather: what was read of one namespace answers for
// that namespace only. An input that breaks off answers for no kind at all, and one with an object that can't
// be decoded not for its kind.
type Coverage struct {
	held      map[schema.GroupKind]bool
	within    map[schema.GroupKind]map[string]bool // by namespace
	missing   map[schema.GroupKind]string
	notServed map[schema.GroupKind]bool
	// unread are kinds of which an object could not be decoded: what is not found may be that one.
	unread map[schema.GroupKind]bool
	// broken is why objects of any kind may be missing.
	broken string
}

func newCoverage() Coverage {
	return Coverage{
		held: map[schema.GroupKind]bool{}, within: map[schema.GroupKind]map[string]bool{},
		missing: map[schema.GroupKind]string{}, notServed: map[schema.GroupKind]bool{},
		unread: map[schema.GroupKind]bool{},
	}
}

// Has tells whether the absence of an object of this kind means that it does not exist, in any namespace.
func (c Coverage) Has(gk schema.GroupKind) bool {
	return c.whole(gk) && c.held[gk] || c.notServed[gk]
}

// HasIn tells whether the absence of an object of this kind from a namespace means that it does not exist.
func (c Coverage) HasIn(gk schema.GroupKind, namespace string) bool {
	return c.Has(gk) || c.whole(gk) && c.within[gk][namespace]
}

// whole tells that nothing of the kind was lost in reading.
func (c Coverage) whole(gk schema.GroupKind) bool { return c.broken == "" && !c.unread[gk] }

// NotServed tells that the live API server does not serve the kind.
func (c Coverage) NotServed(gk schema.GroupKind) bool { return c.notServed[gk] }

// WhyMissing says why a kind is not held: "forbidden: …" from a live cluster, or that the input has none.
// It is empty for a kind that is held.
func (c Coverage) WhyMissing(gk schema.GroupKind) string {
	if c.Has(gk) {
		return ""
	}
	switch why := c.missing[gk]; {
	case why != "":
		return why
	case c.broken != "":
		return c.broken
	case c.unread[gk]:
		return "one of them could not be read"
	case len(c.within[gk]) > 0:
		return "not gathered in every namespace"
	}
	return "none in the input"
}

// Forbidden lists the kinds that could not be read from a live cluster, with the reason, by name.
func (c Coverage) Forbidden() []string {
	var out []string
	for _, gk := range slices.SortedFunc(maps.Keys(c.missing), func(a, b schema.GroupKind) int {
		return strings.Compare(a.String(), b.String())
	}) {
		out = append(out, gk.String()+": "+c.missing[gk])
	}
	return out
}

// Supposing is the snapshot with some kinds taken for held: what is not in the input does not exist. It is for
// questions of the form "if this is all there is".
func (s *Snapshot) Supposing(kinds ...schema.GroupKind) *Snapshot {
	out := *s
	out.Coverage.held = maps.Clone(s.Coverage.held)
	for _, gk := range kinds {
		out.Coverage.held[gk] = true
	}
	return &out
}

// addUp finds the kinds that are held in every namespace, where it is known which there are.
func (c Coverage) addUp(namespaces []*Object) {
	if !c.Has(Namespace) {
		return
	}
	for gk, within := range c.within {
		if !slices.ContainsFunc(namespaces, func(o *Object) bool { return !o.Laid && !within[o.Ref.Name] }) {
			c.held[gk] = true
		}
	}
}

func (c Coverage) holdIn(gk schema.GroupKind, namespace string) {
	if c.within[gk] == nil {
		c.within[gk] = map[string]bool{}
	}
	c.within[gk][namespace] = true
}
