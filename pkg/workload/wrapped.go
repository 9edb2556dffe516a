package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
)

const wrappedRoot = "template"

// wrappedPods says where an object of a well-known kind keeps a pod template and the number of pods.
type wrappedPods struct {
	// list, when set, is a list each of whose elements has what follows, relative to the element.
	list string
	// template is the path of the pod template.
	template string
	// replicas multiplies; parallelism and completions give the smaller of both. Empty or absent counts 1.
	replicas, parallelism, completions string
	// must is a path that has to exist for the pod set to be there; empty means template.
	must string
}

// wellKnown are the kinds whose pods are found without being declared, by apiVersion and kind.
var wellKnown = map[string][]wrappedPods{
	"v1/Pod":              {{template: wrappedRoot}},
	"apps/v1/Deployment":  {{template: "template.spec.template", replicas: "template.spec.replicas"}},
	"apps/v1/StatefulSet": {{template: "template.spec.template", replicas: "template.spec.replicas"}},
	"batch/v1/Job": {{
		template: "template.spec.template", parallelism: "template.spec.parallelism",
		completions: "template.spec.completions", must: wrappedRoot,
	}},
	"jobset.x-k8s.io/v1alpha2/JobSet": {{
		list: "template.spec.replicatedJobs", must: "template", template: "template.spec.template",
		replicas: "replicas", parallelism: "template.spec.parallelism", completions: "template.spec.completions",
	}},
	"kubeflow.org/v1/PyTorchJob": {
		{template: "template.spec.pytorchReplicaSpecs.Master.template",
			replicas: "template.spec.pytorchReplicaSpecs.Master.replicas"},
		{template: "template.spec.pytorchReplicaSpecs.Worker.template",
			replicas: "template.spec.pytorchReplicaSpecs.Worker.replicas"},
	},
	"ray.io/v1/RayCluster": {
		{template: "template.spec.headGroupSpec.template", must: wrappedRoot},
		{list: "template.spec.workerGroupSpecs", template: "template", replicas: "replicas"},
	},
	"ray.io/v1/RayJob": {
		{template: "template.spec.rayClusterSpec.headGroupSpec.template", must: wrappedRoot},
		{list: "template.spec.rayClusterSpec.workerGroupSpecs", template: "template", replicas: "replicas"},
	},
}

// inferPodSets finds the pod sets of a wrapped object of a well-known kind; others have none.
func inferPodSets(wrapped map[string]any) ([]crd.AppWrapperPodSet, error) {
	apiVersion, _ := wrapped["apiVersion"].(string)
	kind, _ := wrapped["kind"].(string)
	var out []crd.AppWrapperPodSet
	for _, where := range wellKnown[apiVersion+"/"+kind] {
		prefixes := []string{""}
		if where.list != "" {
			list, _ := valueAt(wrapped, where.list)
			elements, _ := list.([]any)
			prefixes = nil
			for i := range elements {
				prefixes = append(prefixes, fmt.Sprintf("%s[%d].", where.list, i))
			}
		}
		for _, prefix := range prefixes {
			must := where.must
			if must == "" {
				must = where.template
			}
			if must != wrappedRoot || prefix != "" {
				if _, err := valueAt(wrapped, prefix+must); err != nil {
					continue
				}
			}
			count, err := where.count(wrapped, prefix)
			if err != nil {
				return nil, err
			}
			out = append(out, crd.AppWrapperPodSet{Replicas: &count, Path: prefix + where.template})
		}
	}
	for _, ps := range out {
		if _, _, err := wrappedTemplate(wrapped, ps.Path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p wrappedPods) count(wrapped map[string]any, prefix string) (int32, error) {
	n := int32(1)
	if p.replicas != "" {
		v, err := valueAt(wrapped, prefix+p.replicas)
		if err == nil && v != nil {
			whole, ok := v.(int64)
			// JobSet's count is lenient, the other kinds insist on a whole number.
			if !ok && p.parallelism == "" {
				return 0, fmt.Errorf("%s%s is no whole number", prefix, p.replicas)
			}
			if ok {
				n = clamp(whole)
			}
		}
	}
	if p.parallelism == "" {
		return n, nil
	}
	perJob := int32(1)
	if v, err := valueAt(wrapped, prefix+p.parallelism); err == nil {
		if whole, ok := v.(int64); ok {
			perJob = clamp(whole)
		}
	}
	if v, err := valueAt(wrapped, prefix+p.completions); err == nil {
		if whole, ok := v.(int64); ok {
			perJob = min(perJob, clamp(whole))
		}
	}
	return times(n, perJob), nil
}

func clamp(n int64) int32 { return int32(max(min(n, math.MaxInt32), math.MinInt32)) }

func mapAt(wrapped map[string]any, path string) (map[string]any, error) {
	v, err := valueAt(wrapped, path)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is no object", path)
	}
	return m, nil
}

// valueAt follows a path such as `template.spec.replicatedJobs[0].template`, whose first element stands for the
// wrapped object itself.
func valueAt(wrapped map[string]any, path string) (any, error) {
	rest, ok := strings.CutPrefix(path, wrappedRoot)
	if !ok {
		return nil, fmt.Errorf("path %q does not start with %q", path, wrappedRoot)
	}
	var at any = wrapped
	for rest != "" {
		switch rest[0] {
		case '[':
			number, after, closed := strings.Cut(rest[1:], "]")
			index, err := strconv.Atoi(number)
			list, isList := at.([]any)
			if !closed || err != nil || !isList || index < 0 || index >= len(list) {
				return nil, fmt.Errorf("path %q leads nowhere", path)
			}
			at, rest = list[index], after
		case '.':
			end := strings.IndexAny(rest[1:], ".[")
			key := rest[1:]
			if end >= 0 {
				key = rest[1 : end+1]
			}
			object, isObject := at.(map[string]any)
			value, exists := object[key]
			if !isObject || !exists {
				return nil, fmt.Errorf("path %q leads nowhere", path)
			}
			at, rest = value, rest[1+len(key):]
		default:
			return nil, fmt.Errorf("path %q can't be read", path)
		}
	}
	return at, nil
}
