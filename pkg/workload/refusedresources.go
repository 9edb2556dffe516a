package workload

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// refusedResources is why Kueue's webhook for Workloads refuses what the containers of a pod set ask for: a negative
// amount, or the name pods, by which Kueue counts pods itself. The API server checks Jobs and pods for negative amounts
// before, other kinds it does not.
func (f *finder) refusedResources(ps *PodSet) *Reason {
	if ps.Template == nil || ps.Source == nil {
		return nil
	}
	spec := &ps.Template.Spec
	check := func(path *field.Path, r corev1.ResourceRequirements, podLevel bool) *Reason {
		everywhere := f.cfg.Behavior.PodsKeyCheckedEverywhere
		for _, list := range []struct {
			name     string
			amounts  corev1.ResourceList
			reserved bool
		}{
			{"requests", r.Requests, everywhere || !podLevel},
			{"limits", r.Limits, everywhere},
		} {
			for _, name := range slices.Sorted(maps.Keys(list.amounts)) {
				q := list.amounts[name]
				text := ""
				switch {
				case name == corev1.ResourcePods && list.reserved:
					text = "the name pods is reserved for Kueue's own count of pods"
				case q.Sign() < 0 && f.cfg.Behavior.RejectNegativeResources:
					text = fmt.Sprintf("it asks for %s of %s, and amounts must not be negative", q.String(), name)
				default:
					continue
				}
				why := reason(RefusedByWebhook, "Kueue's webhook refuses its Workload: "+text+".", ps.Source,
					path.Child(list.name).Key(string(name)).String())
				return &why
			}
		}
		return nil
	}
	base := field.NewPath(ps.Path, "spec")
	if spec.Resources != nil {
		if why := check(base.Child("resources"), *spec.Resources, true); why != nil {
			return why
		}
	}
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i := range list.containers {
			at := base.Child(list.name).Index(i).Child("resources")
			if why := check(at, list.containers[i].Resources, false); why != nil {
				return why
			}
		}
	}
	return nil
}
