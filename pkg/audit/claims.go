package audit

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// allocation is one device that a claim holds.
type allocation struct {
	device.ID
	claim *cluster.Object
	class string
	// resource is what the class is charged to; empty when it is charged to nothing.
	resource corev1.ResourceName
	// amount in units of the resource; meaningless unless known.
	amount quota.Amount
	known  bool
	// user is the workload whose pods the claim is reserved for.
	user consumer
}

// allocate reads what claims hold, and counts it for the workloads they are reserved for.
func (b *builder) allocate(held *device.Allocations) {
	if !held.Known {
		b.lacks(ColumnAllocated, "", "", cluster.ResourceClaim.Kind)
		b.lacks(ColumnUncounted, "", "", cluster.ResourceClaim.Kind)
	}
	if !b.snap.Coverage.Has(cluster.Pod) {
		b.lacks(ColumnAllocated, "", "", cluster.Pod.Kind)
		b.lacks(ColumnUncounted, "", "", cluster.Pod.Kind)
	}
	users := newConsumers(b.snap, b.Charges())
	for id, holders := range held.Devices {
		for _, h := range holders {
			claim := cluster.As[*resourcev1.ResourceClaim](h.Claim)
			a := b.allocation(id, h, claim)
			a.user = users.ofClaim(h.Claim, claim)
			b.claims = append(b.claims, a)
			b.countAllocation(&a)
		}
	}
	b.uncounted(users)
}

func (b *builder) allocation(id device.ID, h device.Holder, claim *resourcev1.ResourceClaim) allocation {
	a := allocation{ID: id, claim: h.Claim, class: classOf(claim, h.Request), amount: 1, known: true}
	resource, mapped := b.conf.Lookup(a.class)
	switch {
	case mapped:
		a.resource = resource
	case claim.Annotations[resourcev1.ExtendedResourceClaimAnnotation] != "":
		// A class that is not mapped leaves the extended resource under its own name.
		if class := cluster.As[*resourcev1.DeviceClass](b.snap.Get(cluster.DeviceClass, "", a.class)); class != nil {
			a.resource = corev1.ResourceName(ptr.Deref(class.Spec.ExtendedResourceName, ""))
		}
	}
	if sources := append(b.conf.Counters(a.class), b.conf.Capacities(a.class)...); len(sources) > 0 {
		a.resource = sources[0].Resource
		a.amount, a.known = b.amountOf(sources, id, h)
	}
	return a
}

// classOf is the device class of a request, or of the alternative of it that was taken.
func classOf(claim *resourcev1.ResourceClaim, request string) string {
	name, alternative, _ := strings.Cut(request, "/")
	for _, r := range claim.Spec.Devices.Requests {
		if r.Name != name {
			continue
		}
		if r.Exactly != nil {
			return r.Exactly.DeviceClassName
		}
		for _, f := range r.FirstAvailable {
			if f.Name == alternative {
				return f.DeviceClassName
			}
		}
	}
	return ""
}

// amountOf is what a device takes of the counters and capacities that its class is charged by: for a counter what the
// device itself consumes, which may be less than what was charged.
func (b *builder) amountOf(sources []config.Source, id device.ID, h device.Holder) (quota.Amount, bool) {
	u := b.stock.Unit(id)
	if u == nil {
		return 0, false
	}
	var out quota.Amount
	for _, s := range sources {
		if s.Driver != id.Driver || s.Resource != sources[0].Resource {
			continue
		}
		if s.Capacity {
			name := resourcev1.QualifiedName(s.Name)
			taken, shared := h.Consumed[name]
			if !shared {
				taken = u.Device().Capacity[name].Value
			}
			out = out.Add(quota.Amount(charge.Units(s.Resource, taken)))
			continue
		}
		for _, set := range u.Device().ConsumesCounters {
			if c, ok := set.Counters[s.Name]; ok {
				out = out.Add(quota.Amount(charge.Units(s.Resource, c.Value)))
			}
		}
	}
	return out, true
}

// countAllocation adds an allocation to the queue of the workload it is for. What no quota counts is not in the ledger.
func (b *builder) countAllocation(a *allocation) {
	r := b.held[a.user.charge]
	if r == nil || a.uncounted() != "" {
		return
	}
	fr := quota.FlavorResource{Resource: a.resource}
	for _, ps := range r.PodSets {
		if f := ps.Flavors[a.resource]; f != "" {
			fr.Flavor = f
			break
		}
	}
	n := b.nodes[r.ClusterQueue]
	if !a.known {
		b.lacks(ColumnAllocated, n.Ref.String(), "devices that claims hold are in no slice", cluster.ResourceSlice.Kind)
	}
	for ; n != nil; n = n.Parent {
		s := b.sums[n]
		s.allocated[fr] = s.allocated[fr].Add(a.amount)
		s.vague = s.vague || !a.known
	}
}

// uncounted says why a claim of a workload with quota is not charged; empty when it is.
func (a *allocation) uncounted() string {
	switch {
	case a.user.byName(a.claim.Ref.Name):
		return "the pod names the claim itself: Kueue charges only claims that are made from templates"
	case a.resource == "":
		return fmt.Sprintf("device class %s is mapped to no quota resource", a.class)
	}
	return ""
}

// attributed tells that it is known which workload every claim is for.
func (b *builder) attributed() bool {
	return b.snap.Coverage.Has(cluster.ResourceClaim) && b.snap.Coverage.Has(cluster.Pod)
}
