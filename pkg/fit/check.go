package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// podSet is a pod set and what its pods ask for.
type podSet struct {
	*workload.PodSet
	asks    asks
	placing placing
	// count of pods that need devices, holding of them have theirs.
	count, holding int
}

// asksNothing tells that the pods need no devices.
func (ps *podSet) asksNothing() bool {
	return ps.count == 0 || len(ps.asks.list) == 0 && ps.asks.refused == nil && len(ps.asks.missing) == 0
}

// Assignment is what Kueue gives a pod set, or would.
type Assignment struct {
	// Flavors by name: their labels and tolerations are added to those of the pods. None leaves the nodes open.
	Flavors []string
	// Count of pods admitted; nil stands for all.
	Count *int32
}

// Check tells whether the pods of a workload can get their devices now. The assignments are by name of the pod set.
func (c *Checker) Check(ctx context.Context, w *workload.Workload, assigned map[string]Assignment) *Result {
	ctx, cancel := c.limited(ctx)
	defer cancel()
	if w.Object != nil && meta.IsStatusConditionTrue(w.Object.Status.Conditions, kueue.WorkloadFinished) {
		return &Result{Verdict: NotNeeded, Why: "the workload has finished"}
	}
	k := &check{Checker: c, w: w}
	for i := range w.PodSets {
		ps := &w.PodSets[i]
		count, of := ps.Count, assigned[ps.Name]
		if of.Count != nil {
			count = *of.Count
		}
		k.sets = append(k.sets, &podSet{
			PodSet: ps, asks: c.asksOf(w, ps), placing: c.placingOf(ps, of.Flavors), count: max(0,
				int(count-ps.Reclaimable)),
		})
	}
	if !slices.ContainsFunc(k.sets, func(ps *podSet) bool { return !ps.asksNothing() }) {
		return &Result{Verdict: NotNeeded, Why: "no pod claims devices"}
	}
	if k.own() {
		k.try(ctx)
	}
	return k.conclude()
}

// check is the state of one Check.
type check struct {
	*Checker
	w    *workload.Workload
	sets []*podSet

	missing []string
	why     string
	// first is the attempt that is shown; fits tells that some attempt found devices for all, certain that none can
	// where not.
	first         *attempt
	fits, certain bool
	plugin        bool
	// err is why an attempt ended before its time.
	err error
}

// attempt is one try to place the pods of some pod sets in an order.
type attempt struct {
	sets []*podSet
	out  []PodSet
	all  bool
}

func (k *check) lacks(kinds ...string) {
	for _, kind := range kinds {
		if !slices.Contains(k.missing, kind) {
			k.missing = append(k.missing, kind)
		}
	}
}

// try places the pods. That they can't be placed is certain when one pod set alone can't, or when the order makes no
// difference.
func (k *check) try(ctx context.Context) {
	for _, ps := range k.sets {
		if !ps.asksNothing() {
			k.lacks(ps.asks.missing...)
		}
	}
	if len(k.missing) > 0 {
		return
	}
	k.first = k.place(ctx, k.sets)
	if k.fits = k.first.all; k.fits || k.err != nil {
		return
	}
	var asking []*podSet
	for _, ps := range k.sets {
		if !ps.asksNothing() {
			asking = append(asking, ps)
		}
	}
	if len(asking) == 1 || alike(asking) {
		k.certain = !k.usesShared(asking) || !k.first.any()
		return
	}
	for _, ps := range asking {
		alone := k.place(ctx, []*podSet{ps})
		if k.err != nil {
			return
		}
		if !alone.all && (!k.usesShared(asking) || !alone.any()) {
			k.certain = true
			return
		}
	}
	reversed := slices.Clone(k.sets)
	slices.Reverse(reversed)
	if other := k.place(ctx, reversed); other.all {
		slices.Reverse(other.out)
		k.first, k.fits = other, true
	}
}

// any tells that some pod was placed.
func (a *attempt) any() bool {
	return slices.ContainsFunc(a.out, func(p PodSet) bool { return len(p.Placements) > 0 })
}

// alike tells that the pods of all pod sets want the same on the same nodes, so that their order does not matter.
func alike(sets []*podSet) bool {
	for _, ps := range sets[1:] {
		a, b := sets[0], ps
		if len(a.asks.list) != len(b.asks.list) || !slices.Equal(a.placing.flavors, b.placing.flavors) ||
			!equality.Semantic.DeepEqual(a.placing.spec.NodeSelector, b.placing.spec.NodeSelector) ||
			!equality.Semantic.DeepEqual(a.placing.spec.Affinity, b.placing.spec.Affinity) ||
			!equality.Semantic.DeepEqual(a.placing.spec.Tolerations, b.placing.spec.Tolerations) {
			return false
		}
		for i := range a.asks.list {
			if !equality.Semantic.DeepEqual(a.asks.list[i].claim.Spec, b.asks.list[i].claim.Spec) {
				return false
			}
		}
	}
	return true
}

// usesShared tells that devices which several nodes can use, or claims that several pods use, matter: then it matters,
// too, which pod goes to which node.
func (k *check) usesShared(sets []*podSet) bool {
	for _, ps := range sets {
		for _, a := range ps.asks.list {
			if a.shared {
				return true
			}
			for _, p := range k.shared {
				for r := range requestsOf(a.claim) {
					if k.anyMatch(p, r) {
						return true
					}
				}
			}
		}
	}
	return false
}

func (k *check) place(ctx context.Context, sets []*podSet) *attempt {
	a, w := &attempt{sets: sets, all: true}, k.newWorld()
	for _, ps := range sets {
		out, err := w.place(ctx, ps)
		if err != nil {
			k.err = err
		}
		a.all = a.all && out.Holding+out.Placed >= out.Count && err == nil
		a.out = append(a.out, out)
	}
	k.plugin = k.plugin || w.plugin
	return a
}

// conclude makes the result of what was found. What claims that are not in the input hold can only make it worse; nodes
// that are not in the input may make it better or worse.
func (k *check) conclude() *Result {
	r := &Result{Verdict: Unknown, Missing: k.missing, Why: k.why, Supposed: k.inv.Assumptions()}
	if k.first != nil {
		r.PodSets = k.first.out
	}
	switch {
	case k.why != "":
	case len(k.missing) > 0:
		r.Why = "what the pods claim is not known"
	case errors.Is(k.err, context.DeadlineExceeded):
		r.Why = fmt.Sprintf("the time limit of %s is over", k.limit)
	case k.err != nil:
		r.Why = k.err.Error()
	case k.fits:
		r.Verdict = Fits
		if !k.stock.Known {
			k.lacks(cluster.ResourceClaim.Kind)
			r.Why = "the devices would do, but claims that are not in the input may hold them"
		}
		if !k.nodesKnown {
			k.lacks(cluster.Node.Kind)
			r.Why = "the devices would do, but whether the pods may use the nodes is not known"
		}
		if len(k.missing) > 0 {
			r.Verdict, r.Missing = Unknown, k.missing
		}
	case !k.nodesKnown && k.nodesMatter():
		k.lacks(cluster.Node.Kind)
		r.Why, r.Missing = "which nodes there are, and with which labels, is not known", k.missing
	case k.disagrees() != "":
		r.Why = "the slices of pool " + k.disagrees() + " state different numbers of slices, so whether it is " +
			"complete depends on their order"
	case k.plugin:
		r.Why = "a device plugin serves some nodes, and what is free there is not looked at"
	case !k.certain:
		r.Why = "placed in this order not all pods get devices; another choice of nodes might do"
	default:
		r.Verdict = DoesNotFit
	}
	return r
}

// nodesMatter tells that nodes which are not in the input could help: by their labels, or by reaching shared devices.
func (k *check) nodesMatter() bool {
	return len(k.shared) > 0 ||
		slices.ContainsFunc(k.sets, func(ps *podSet) bool { return !ps.asksNothing() && ps.placing.constrained() })
}

// disagrees names a pool of which it can't be told whether it is complete.
func (k *check) disagrees() string {
	for _, p := range k.stock.Pools {
		if p.Disagree {
			return p.Driver + "/" + p.Name
		}
	}
	return ""
}
