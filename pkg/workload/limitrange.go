package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// limitSummary joins the LimitRanges of one namespace. Defaults are those met first, and the order in
// which Kueue meets several LimitRanges is arbitrary.
type limitSummary struct {
	items map[corev1.LimitType]*limitDefaults
}

type limitDefaults struct {
	limit, request corev1.ResourceList
	from           string
	conflict       map[corev1.ResourceName]bool
}

func newLimitSummary() *limitSummary {
	return &limitSummary{items: map[corev1.LimitType]*limitDefaults{}}
}

func (s *limitSummary) add(o *cluster.Object, lr *corev1.LimitRange) {
	for i := range lr.Spec.Limits {
		item := &lr.Spec.Limits[i]
		d := s.items[item.Type]
		if d == nil {
			d = &limitDefaults{from: o.Ref.Name, conflict: map[corev1.ResourceName]bool{}}
			s.items[item.Type] = d
		}
		// Within one LimitRange the order is that of its items; only different LimitRanges conflict.
		other := d.from != o.Ref.Name
		d.first(&d.limit, item.Default, other)
		d.first(&d.request, item.DefaultRequest, other)
	}
}

func (d *limitDefaults) first(into *corev1.ResourceList, from corev1.ResourceList, other bool) {
	for name, q := range from {
		if old, ok := (*into)[name]; ok && other && old.Cmp(q) != 0 {
			d.conflict[name] = true
		}
	}
	fill(into, from, func(corev1.ResourceName) {})
}

func (s *limitSummary) applyContainer(res *corev1.ResourceRequirements, o *origins) {
	s.apply(corev1.LimitTypeContainer, res, o)
}

func (s *limitSummary) applyPod(res *corev1.ResourceRequirements, o *origins) {
	s.apply(corev1.LimitTypePod, res, o)
}

func (s *limitSummary) apply(kind corev1.LimitType, res *corev1.ResourceRequirements, o *origins) {
	d := s.items[kind]
	if d == nil {
		return
	}
	used := func(name corev1.ResourceName) {
		o.rangeName = d.from
		mark(&o.ranges, name)
		if d.conflict[name] {
			o.uncertain = append(o.uncertain, fmt.Sprintf("several LimitRanges give different defaults for %s, and "+
				"which one counts is arbitrary", name))
		}
	}
	fill(&res.Limits, d.limit, used)
	fill(&res.Requests, d.request, used)
}
