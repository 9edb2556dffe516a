package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

// podGroup is no API kind: it names the pods of one pod group.
var podGroup = schema.GroupKind{Kind: "PodGroup"}

// target is a TYPE/NAME argument; Name is empty for all of the type.
type target struct {
	kind schema.GroupKind
	name string
}

func (t target) String() string {
	if t.name == "" {
		return strings.ToLower(t.kind.Kind)
	}
	return strings.ToLower(t.kind.Kind) + "/" + t.name
}

// targetKind is a kind one can ask for, with its short names.
type targetKind struct {
	kind  schema.GroupKind
	short []string
}

// targetKinds are the kinds one can ask for. Singular, plural and kind.group work for all of them.
var targetKinds = func() []targetKind {
	out := []targetKind{
		{cluster.Workload, []string{"wl"}},
		{cluster.ClusterQueue, []string{"cq"}},
		{cluster.LocalQueue, []string{"lq", "queue", "queues"}},
		{podGroup, nil},
		{cluster.CronJob, []string{"cj"}},
		{cluster.ReplicaSet, []string{"rs"}},
	}
	for _, k := range jobs.All() {
		out = append(out, targetKind{k.GroupKind, k.Short})
	}
	return out
}()

// typeNames maps every spelling of a type to its kind.
func typeNames() map[string]schema.GroupKind {
	out := map[string]schema.GroupKind{}
	for _, t := range targetKinds {
		lower := strings.ToLower(t.kind.Kind)
		for _, name := range append([]string{lower, lower + "s"}, t.short...) {
			out[name] = t.kind
			if t.kind.Group != "" {
				out[name+"."+t.kind.Group] = t.kind
			}
		}
	}
	return out
}

// parseTargets reads TYPE/NAME …, TYPE NAME … or TYPE, and several types joined by commas.
func parseTargets(args []string) ([]target, error) {
	if len(args) == 0 {
		return nil, nil
	}
	names := typeNames()
	if strings.Contains(args[0], "/") {
		var out []target
		for _, arg := range args {
			kind, name, ok := strings.Cut(arg, "/")
			if !ok || name == "" || strings.Contains(name, "/") {
				return nil, fmt.Errorf("%q is not TYPE/NAME", arg)
			}
			gk, err := kindNamed(names, kind)
			if err != nil {
				return nil, err
			}
			out = append(out, target{gk, name})
		}
		return out, nil
	}
	return targetsOf(names, strings.Split(args[0], ","), args[1:])
}

// targetsOf reads TYPE[,TYPE …] [NAME …].
func targetsOf(names map[string]schema.GroupKind, types, objects []string) ([]target, error) {
	var out []target
	for _, text := range types {
		gk, err := kindNamed(names, text)
		if err != nil {
			return nil, err
		}
		if len(objects) == 0 {
			out = append(out, target{kind: gk})
		}
		for _, name := range objects {
			if strings.Contains(name, "/") {
				return nil, fmt.Errorf("%q follows the type %s, so it must be a name; write TYPE/NAME for all or "+
					"TYPE NAME", name, text)
			}
			out = append(out, target{gk, name})
		}
	}
	return out, nil
}

func kindNamed(names map[string]schema.GroupKind, text string) (schema.GroupKind, error) {
	lower := strings.ToLower(text)
	if gk, ok := names[lower]; ok {
		return gk, nil
	}
	// kind.version.group, as kubectl prints it for some.
	if kind, rest, ok := strings.Cut(lower, "."); ok {
		if _, group, ok := strings.Cut(rest, "."); ok {
			if gk, ok := names[kind+"."+group]; ok {
				return gk, nil
			}
		}
	}
	return schema.GroupKind{},
		fmt.Errorf("%q is not a type of workload; use one of %s", text, strings.Join(typeList(), ", "))
}

func typeList() []string {
	out := map[string]bool{}
	for _, t := range targetKinds {
		out[strings.ToLower(t.kind.Kind)] = true
	}
	return slices.Sorted(maps.Keys(out))
}
