package generate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// unit is the step of a resource's amounts.
func unit(name corev1.ResourceName) int64 {
	if name == corev1.ResourceMemory {
		return 1 << 30
	}
	return 1
}

func quantity(name corev1.ResourceName, amount int64) resource.Quantity {
	if name == corev1.ResourceMemory {
		return *resource.NewQuantity(amount*unit(name), resource.BinarySI)
	}
	return *resource.NewQuantity(amount, resource.DecimalSI)
}

// quotaFor makes the quota of one group: some of its flavors, in an order of the queue's own.
func (w *world) quotaFor(g group, hasParent, cohort bool) kueue.ResourceGroup {
	made := kueue.ResourceGroup{CoveredResources: g.resources}
	for _, flavor := range shuffled(w.dice, some(w.dice, g.flavors)) {
		quotas := kueue.FlavorQuotas{Name: flavor}
		for _, name := range g.resources {
			quotas.Resources = append(quotas.Resources, w.resourceQuota(name, hasParent, cohort))
		}
		made.Flavors = append(made.Flavors, quotas)
	}
	return made
}

func (w *world) resourceQuota(name corev1.ResourceName, hasParent, cohort bool) kueue.ResourceQuota {
	nominal := int64(w.between(1, 10))
	if cohort {
		nominal = int64(w.between(0, 5))
	}
	if w.chance(10) {
		nominal = 0
	}
	if name == corev1.ResourcePods {
		nominal += 3
	}
	quota := kueue.ResourceQuota{Name: name, NominalQuota: quantity(name, nominal)}
	if !hasParent {
		return quota
	}
	if w.chance(35) {
		quota.BorrowingLimit = ptr(quantity(name, int64(w.between(0, 8))))
	}
	if w.chance(30) && nominal > 0 {
		quota.LendingLimit = ptr(quantity(name, int64(w.between(0, int(nominal)))))
	}
	return quota
}

func (w *world) weight() *kueue.FairSharing {
	if !w.chance(50) {
		return nil
	}
	return &kueue.FairSharing{Weight: ptr(resource.MustParse(pick(w.dice, "1", "2", "3", "0.5", "0")))}
}

// makeCohorts makes a forest of up to three levels. Some names belong to no object, some parents neither.
func (w *world) makeCohorts() {
	levels := w.between(0, 3)
	if w.tight {
		levels = max(levels, 1)
	}
	var above []string
	for level := range levels {
		var here []string
		for i := range w.between(1, 2) {
			name := "cohort-" + string(rune('a'+level)) + string(rune('0'+i))
			here = append(here, name)
			explicit := level > 0 || w.chance(60)
			if level == levels-1 && level > 0 {
				explicit = w.chance(80)
			}
			if explicit {
				w.cohorts = append(w.cohorts, w.cohort(name, above))
			}
		}
		w.cohortName = append(w.cohortName, here...)
		above = here
	}
}

func (w *world) cohort(name string, above []string) *kueue.Cohort {
	cohort := &kueue.Cohort{ObjectMeta: w.meta("", name)}
	if len(above) > 0 && w.chance(92) {
		cohort.Spec.ParentName = kueue.CohortReference(pick(w.dice, above...))
	}
	cohort.Spec.FairSharing = w.weight()
	if w.chance(40) {
		for _, g := range w.groups {
			cohort.Spec.ResourceGroups = append(cohort.Spec.ResourceGroups,
				w.quotaFor(g, cohort.Spec.ParentName != "", true))
		}
	}
	return cohort
}
