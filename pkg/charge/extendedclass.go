package charge

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// classAnswer is what one DeviceClass makes of an extended resource: the quota resource, or a refusal.
type classAnswer struct {
	class  *cluster.Object
	key    corev1.ResourceName
	mapped bool
	// sources is "counters" or "capacity sources" when the class is charged by those, which extended
	// resources can't be.
	sources string
}

func (a classAnswer) same(b classAnswer) bool { return a.key == b.key && a.sources == b.sources }

// quotaKey resolves an extended resource name to the quota resource of its DeviceClass. ok is false
// when no class declares it, and when the class refuses it (the errors are then recorded for each of
// the requests).
func (r *run) quotaKey(i int, name corev1.ResourceName, at []extendedRequest,
	found *extendedErrors) (key corev1.ResourceName, ok bool) {
	classes := r.e.byExtendedName[name]
	if len(classes) == 0 {
		r.classBacked(name)
		return "", false
	}
	var answers []classAnswer
	for _, c := range classes {
		answers = append(answers, r.e.classAnswer(name, c))
	}
	if r.e.cfg.Behavior.ExtendedClassNewest {
		return r.newestAnswer(i, name, answers, at, found)
	}
	return r.firstMappedAnswer(i, name, answers, at, found)
}

func (e *Engine) classAnswer(name corev1.ResourceName, class *cluster.Object) classAnswer {
	a := classAnswer{class: class, key: name}
	logical, ok := e.cfg.Lookup(class.Ref.Name)
	if !ok {
		return a
	}
	a.mapped, a.key = true, logical
	g := e.gates()
	switch {
	case !e.cfg.Behavior.RejectSourceBackedExtended:
	case g.counters && len(e.cfg.Counters(class.Ref.Name)) > 0:
		a.sources = "counters"
	case g.capacity && len(e.cfg.Capacities(class.Ref.Name)) > 0:
		a.sources = "capacity sources"
	}
	return a
}

// newestAnswer takes the class created last, then the one whose name sorts first. Classes without a
// creation timestamp never passed an API server, so which is newest can't be told.
func (r *run) newestAnswer(i int, name corev1.ResourceName, answers []classAnswer, at []extendedRequest,
	found *extendedErrors) (corev1.ResourceName, bool) {
	chosen := answers[0]
	dated := true
	for _, a := range answers {
		dated = dated && !a.class.Meta.CreationTimestamp.IsZero()
		if newer(a.class, chosen.class) {
			chosen = a
		}
	}
	if !dated && !allSame(answers) {
		r.chance(fmt.Sprintf("several DeviceClasses declare extendedResourceName %s; Kueue takes the one created "+
			"last, and the input has no creation timestamps: %s", name, candidates(answers)),
			r.refusals(i, name, answers, at), classEvidence(answers, name)...)
		return chosen.key, chosen.sources == ""
	}
	if chosen.sources != "" {
		r.refuseSources(i, name, chosen, at, found)
		return "", false
	}
	return chosen.key, true
}

func newer(a, b *cluster.Object) bool {
	if c := a.Meta.CreationTimestamp.Compare(b.Meta.CreationTimestamp.Time); c != 0 {
		return c > 0
	}
	return a.Ref.Name < b.Ref.Name
}

// firstMappedAnswer takes the first mapped class in an arbitrary order, passing over unmapped ones. A
// class with sources met before it refuses the workload.
func (r *run) firstMappedAnswer(i int, name corev1.ResourceName, answers []classAnswer, at []extendedRequest,
	found *extendedErrors) (corev1.ResourceName, bool) {
	mapped := slices.DeleteFunc(slices.Clone(answers), func(a classAnswer) bool { return !a.mapped })
	if len(mapped) == 0 {
		return name, true
	}
	usable := slices.DeleteFunc(slices.Clone(mapped), func(a classAnswer) bool { return a.sources != "" })
	if len(usable) == 0 {
		for _, a := range mapped {
			r.refuseSources(i, name, a, at, found)
		}
		return "", false
	}
	if !allSame(mapped) {
		r.chance(fmt.Sprintf("several mapped DeviceClasses declare extendedResourceName %s; %s takes the first one "+
			"it meets, in an arbitrary order: %s", name, r.e.cfg.Version, candidates(mapped)),
			r.refusals(i, name, mapped, at), classEvidence(mapped, name)...)
	}
	return usable[0].key, true
}

func allSame(answers []classAnswer) bool {
	return !slices.ContainsFunc(answers, func(a classAnswer) bool { return !a.same(answers[0]) })
}

// chosenClass is the class whose name is shown for a charge that was resolved.
func (e *Engine) chosenClass(name corev1.ResourceName) *cluster.Object {
	var chosen *cluster.Object
	for _, c := range e.byExtendedName[name] {
		_, mapped := e.cfg.Lookup(c.Ref.Name)
		switch {
		case chosen == nil, e.cfg.Behavior.ExtendedClassNewest && newer(c, chosen):
			chosen = c
		case !e.cfg.Behavior.ExtendedClassNewest && mapped:
			if _, already := e.cfg.Lookup(chosen.Ref.Name); !already {
				chosen = c
			}
		}
	}
	return chosen
}

func candidates(answers []classAnswer) string {
	var out []string
	for _, a := range answers {
		what := "charges " + string(a.key)
		if a.sources != "" {
			what = "refuses, because it has " + a.sources
		}
		out = append(out, a.class.Ref.Name+" "+what)
	}
	return strings.Join(out, "; ")
}

func classEvidence(answers []classAnswer, name corev1.ResourceName) []Evidence {
	var out []Evidence
	for _, a := range answers {
		out = append(out, object(a.class, "spec.extendedResourceName", string(name)))
	}
	return out
}

func sourcesError(i int, name corev1.ResourceName, a classAnswer, q extendedRequest) *field.Error {
	advice := "CEL selectors for counter-based quota"
	if a.sources != "counters" {
		advice = "capacity.requests for capacity-based quota"
	}
	return field.Invalid(q.path(i), name, fmt.Sprintf("extended resource %s resolves to DeviceClass %s with %s "+
		"configured; use ResourceClaimTemplates with %s",
		name, a.class.Ref.Name, a.sources, advice))
}

func (r *run) refuseSources(i int, name corev1.ResourceName, a classAnswer, at []extendedRequest,
	found *extendedErrors) {
	for _, q := range at {
		found.add(CodeSourceBackedExtended, sourcesError(i, name, a, q),
			fmt.Sprintf("%s resolves to DeviceClass %s, which is charged by %s; request it through a "+
				"ResourceClaimTemplate, or remove extendedResourceName from the class", name, a.class.Ref.Name,
				a.sources),
			r.containerEvidence(i, q), object(a.class, "spec.extendedResourceName",
				string(name)), r.mappingEvidence(a.class.Ref.Name, a.key))
	}
}

// refusals lists the messages Kueue writes when it meets a class with sources.
func (r *run) refusals(i int, name corev1.ResourceName, answers []classAnswer, at []extendedRequest) []string {
	var out []string
	for _, a := range answers {
		if a.sources != "" && len(at) > 0 {
			out = append(out, truncate(sourcesError(i, name, a, at[0]).Error()))
		}
	}
	return out
}
