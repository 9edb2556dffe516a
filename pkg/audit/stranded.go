package audit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// stranded finds counter sets that are in use in part, and of whose rest no published device can be made.
func (b *builder) stranded() {
	if !b.stock.Known {
		return
	}
	for _, pool := range b.stock.Pools {
		if pool.Problem != "" {
			continue
		}
		free := map[string]bool{}
		for _, g := range pool.Groups {
			for _, u := range g.Devices {
				// A taint keeps a device from some, which is told elsewhere; it does not strand it.
				if len(u.Holders()) == 0 && len(u.Short()) == 0 {
					for _, c := range u.Device().ConsumesCounters {
						free[c.CounterSet] = true
					}
				}
			}
		}
		for _, set := range pool.CounterSets {
			if !free[set.Name] {
				b.strandedIn(pool, set)
			}
		}
	}
}

// strandedIn reports the counters that quota is charged for and of which something is left.
func (b *builder) strandedIn(pool *device.PoolStock, set *device.CounterSet) {
	for c := range set.Counters {
		left := c.Left()
		if c.Used.Sign() <= 0 || left.Sign() <= 0 {
			continue
		}
		for _, name := range b.chargedBy(pool.Driver, c.Name) {
			b.issue(StrandedPartitions, lint.Info, pool.Slices[0].Record.Ref, quota.FlavorResource{Resource: name},
				"%s of counter %q is free in counter set %s of pool %s, and no published device of %s fits into it",
				b.amount(name, quota.Amount(charge.Units(name, left))), c.Name, set.Name, pool.Name, pool.Driver)
		}
	}
}

// chargedBy are the resources that are charged by a counter of a driver.
func (b *builder) chargedBy(driver, counter string) []corev1.ResourceName {
	var out []corev1.ResourceName
	for _, s := range b.conf.Sources() {
		if !s.Capacity && s.Driver == driver && s.Name == counter && !slices.Contains(out, s.Resource) {
			out = append(out, s.Resource)
		}
	}
	return out
}
