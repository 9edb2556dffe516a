package remedy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// mostSizes bounds the sizes of one request that are tried.
const mostSizes = 2

// sizeKey names workloads for which one answer about sizes holds: a template is one of a namespace.
type sizeKey struct {
	common    *common
	namespace string
}

// pinSize narrows a request that devices of several sizes match: to the largest size that there is room for.
func (f *Finder) pinSize(x *subject) []Remedy {
	key := sizeKey{x.common, x.Charge.Workload.Namespace}
	out, known := f.sizes[key]
	if known {
		return out
	}
	short := map[corev1.ResourceName]quota.Amount{}
	for _, b := range explain.Closest(x.Binding) {
		short[b.Resource] = max(short[b.Resource], b.Short)
	}
	for _, choice := range f.engine.Choices(x.Charge) {
		if by := short[choice.Resource]; by > 0 {
			out = append(out, f.pin(x, choice, by)...)
		}
	}
	f.sizes[key] = out
	return out
}

// pin tries the sizes that make up for what is short, the largest first.
func (f *Finder) pin(x *subject, choice charge.Choice, short quota.Amount) []Remedy {
	values := slices.SortedFunc(maps.Keys(choice.Charges), func(a, b string) int {
		return cmp.Or(cmp.Compare(choice.Charges[b], choice.Charges[a]), cmp.Compare(a, b))
	})
	tried := 0
	for _, v := range values {
		if quota.Amount(choice.Charged-choice.Charges[v]) < short/quota.Amount(max(choice.Pods, 1)) ||
			choice.Charges[v] == 0 {
			continue
		}
		if tried++; tried > mostSizes {
			break
		}
		selector := resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: choice.Sizes.Selector(v)}}
		at := fmt.Sprintf("/spec/spec/devices/requests/%d/exactly/selectors", choice.Request)
		edit := op{"add", at + "/-", selector}
		if choice.Selectors == 0 {
			edit = op{"add", at, []resourcev1.DeviceSelector{selector}}
		}
		r := Remedy{
			Action: fmt.Sprintf("ResourceClaimTemplate %s: add the selector %s", choice.Template.Ref.Name,
				selector.CEL.Expression),
			Effect: fmt.Sprintf("charges %s per pod instead of %s; a template's spec can't be changed: delete and "+
				"create it again, then touch the Workload",
				f.format(choice.Resource, quota.Amount(choice.Charges[v])), f.format(choice.Resource,
					quota.Amount(choice.Charged))),
		}
		r.Changes, _ = patchOf(choice.Template.Ref, edit)
		if served(f.try(x.Charge, r.Changes...)) {
			return []Remedy{r}
		}
	}
	return nil
}
