package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// issues finds what does not add up, kind after kind.
func (b *builder) issues() {
	b.quotaAboveHardware()
	b.allocatedAboveReserved()
	b.stranded()
	b.withoutClass()
	b.idle()
	b.piecewise()
	b.statusDiffers()
	b.queuesGone()
}

func (b *builder) issue(kind Kind, severity lint.Severity, object cluster.Ref, fr quota.FlavorResource, format string,
	values ...any) {
	b.out.Issues = append(b.out.Issues, Issue{kind, severity, object, fr, fmt.Sprintf(format, values...)})
}

// quotaAboveHardware compares the quotas of a flavor and resource with what there is of it. Only what drivers or device
// plugins can publish is compared: for a resource that transformations make there is no hardware to be seen.
func (b *builder) quotaAboveHardware() {
	for _, t := range b.out.Totals {
		there, fit := t.Published.Plus(t.Allocatable), t.Healthy.Plus(t.Allocatable)
		if !there.Known || !t.Offerable || t.Nominal == quota.Unlimited {
			continue
		}
		flavor := cluster.Ref{APIVersion: kueue.SchemeGroupVersion.String(), Kind: cluster.ResourceFlavor.Kind,
			Name: t.Flavor}
		v := func(a quota.Amount) string { return b.amount(t.Resource, a) }
		switch {
		case t.Nominal > there.Amount:
			b.issue(QuotaAboveHardware, lint.Warning, flavor, t.FlavorResource,
				"quotas for %s add up to %s, and there is %s", t.Resource, v(t.Nominal), v(there.Amount))
		case t.Nominal > fit.Amount:
			b.issue(QuotaAboveHardware, lint.Info, flavor, t.FlavorResource,
				"quotas for %s add up to %s, and %s of the %s there is can be given out: the rest is tainted, or in "+
					"incomplete pools",
				t.Resource, v(t.Nominal), v(fit.Amount), v(there.Amount))
		}
	}
}

// allocatedAboveReserved finds queues whose workloads hold more hardware than they are charged for.
func (b *builder) allocatedAboveReserved() {
	for _, r := range b.out.Ledger {
		if r.Node.Queue && r.Allocated.Known && r.Reserved.Known && r.Allocated.Amount > r.Reserved.Amount {
			b.issue(AllocatedAboveReserved, lint.Warning, r.Node.Ref, r.FlavorResource,
				"claims of its workloads hold %s of %s, and %s is reserved",
				b.amount(r.Resource, r.Allocated.Amount), r.Resource, b.amount(r.Resource, r.Reserved.Amount))
		}
	}
}

// withoutClass finds devices that nobody can ask for through a quota.
func (b *builder) withoutClass() {
	if !b.snap.Coverage.Has(cluster.DeviceClass) || !b.conf.Found {
		return
	}
	for _, d := range b.out.Devices {
		what := strings.Join(slices.DeleteFunc([]string{d.Model, d.Type, d.Profile},
			func(s string) bool { return s == "" }), " ")
		if what == "" {
			what = "devices"
		}
		switch {
		case d.Driver == "" || len(d.Charged) > 0:
		case len(d.Classes) == 0:
			b.issue(NoClass, lint.Info, cluster.Ref{}, quota.FlavorResource{},
				"%d × %s of %s: no DeviceClass matches them", d.Published, what, d.Driver)
		default:
			b.issue(NoClass, lint.Info, cluster.Ref{}, quota.FlavorResource{},
				"%d × %s of %s: %s is mapped to no quota resource", d.Published, what, d.Driver, "DeviceClass "+
					strings.Join(d.Classes, ", "))
		}
	}
}

// idle finds queues that use nothing of a quota and wait for nothing, while another queue waits for the same.
func (b *builder) idle() {
	queues := slices.SortedFunc(maps.Values(b.nodes),
		func(x, y *admission.TreeNode) int { return cmp.Compare(x.Name, y.Name) })
	waiting := map[quota.FlavorResource][]*admission.TreeNode{}
	for _, n := range queues {
		for i := range n.Lines {
			if fr := n.Lines[i].FlavorResource; b.shown(fr.Resource) && n.Demand[fr.Resource] > 0 {
				waiting[fr] = append(waiting[fr], n)
			}
		}
	}
	for _, n := range queues {
		if !n.Known || n.Counts.Reserved+n.Counts.Waiting+n.Counts.Refused > 0 {
			continue
		}
		for i := range n.Lines {
			l := &n.Lines[i]
			if others := waiting[l.FlavorResource]; len(others) > 0 && l.Nominal > l.Lent {
				b.issue(IdleQueue, lint.Info, n.Ref, l.FlavorResource,
					"it uses none of its %s of %s in flavor %s%s, and %s: %s", b.amount(l.Resource,
						l.Nominal), l.Resource, l.Flavor,
					b.lent(l), waitFor(others), whyNotLent(n, l, others))
			}
		}
	}
}

// lent says how much of a queue's quota others use.
func (b *builder) lent(l *admission.TreeLine) string {
	switch {
	case l.LentAtMost == 0:
		return ""
	case l.Lent == l.LentAtMost:
		return ", of which others have borrowed " + b.amount(l.Resource, l.Lent)
	case l.Lent == 0:
		return ", of which others have borrowed " + b.amount(l.Resource, l.LentAtMost) + " at most"
	}
	return ", of which others have borrowed " + b.amount(l.Resource, l.Lent) + " to " +
		b.amount(l.Resource, l.LentAtMost)
}

func waitFor(queues []*admission.TreeNode) string {
	if len(queues) == 1 {
		return "ClusterQueue " + queues[0].Name + " waits for it"
	}
	return fmt.Sprintf("ClusterQueue %s and %d more wait for it", queues[0].Name, len(queues)-1)
}

// whyNotLent says what keeps idle quota from those who wait.
func whyNotLent(n *admission.TreeNode, l *admission.TreeLine, waiting []*admission.TreeNode) string {
	together := slices.DeleteFunc(slices.Clone(waiting), func(o *admission.TreeNode) bool { return top(o) != top(n) })
	switch {
	case len(together) == 0:
		return "they are in no common cohort"
	case l.Spare == l.Lent:
		return "its lendingLimit keeps it"
	case !slices.ContainsFunc(together,
		func(o *admission.TreeNode) bool { return mayBorrow(o.Line(l.FlavorResource)) }):
		return "it can't be borrowed now"
	}
	return "it can be borrowed"
}

// mayBorrow tells that a queue can have something now, and may have more than its own quota.
func mayBorrow(l *admission.TreeLine) bool { return l.Available > 0 && l.Maximum > l.Nominal }

func top(n *admission.TreeNode) *admission.TreeNode {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// piecewise finds objects of which some workloads hold quota while others wait.
func (b *builder) piecewise() {
	type group struct{ held, waiting int }
	groups := map[cluster.Ref]*group{}
	for _, c := range b.Charges() {
		held, waits := b.held[c] != nil, b.waits(c)
		if !held && !waits {
			continue
		}
		of := c.Workload.OwnerRef
		if c.Workload.Index < 0 {
			if of = b.controller(c.Workload.Owner); of.IsZero() {
				continue
			}
		}
		if groups[of] == nil {
			groups[of] = &group{}
		}
		if held {
			groups[of].held++
		} else {
			groups[of].waiting++
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(groups), cluster.Ref.Compare) {
		if g := groups[of]; g.held > 0 && g.waiting > 0 {
			b.issue(AdmittedPiecewise, lint.Warning, of, quota.FlavorResource{},
				"it is admitted piece by piece: %d of its %d workloads have quota, and the rest waits", g.held, g.held+
					g.waiting)
		}
	}
}

// controller is the topmost controller of a pod; zero when it has none.
func (b *builder) controller(o *cluster.Object) cluster.Ref {
	var out cluster.Ref
	for seen := map[*cluster.Object]bool{}; o != nil && !seen[o]; {
		seen[o] = true
		ref := metav1.GetControllerOfNoCopy(o.Meta)
		if ref == nil {
			break
		}
		out = cluster.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: o.Ref.Namespace, Name: ref.Name}
		o = b.snap.Get(out.GroupKind(), out.Namespace, out.Name)
	}
	return out
}

// says are sentences about what the status of a queue says otherwise than its Workloads.
func (b *builder) says(n *admission.TreeNode) []string {
	var out []string
	for _, x := range n.Differences {
		fr := x.FlavorResource
		switch {
		case fr.Flavor == "":
			out = append(out, fmt.Sprintf("%s says %d; by the Workloads it is %d", x.Path, x.Says, x.Sum))
		case b.shown(fr.Resource):
			out = append(out,
				fmt.Sprintf("%s says %s of %s in flavor %s; the Workloads add up to %s", x.Path,
					b.amount(fr.Resource, x.Says), fr.Resource, fr.Flavor, b.amount(fr.Resource, x.Sum)))
		}
	}
	return out
}

func (b *builder) statusDiffers() {
	for _, q := range b.out.Queues {
		for _, text := range q.Says {
			b.issue(StatusDiffers, lint.Warning, q.Node.Ref, quota.FlavorResource{}, "%s", text)
		}
	}
}

// queuesGone finds quota that counts nowhere: its queue is not in the input.
func (b *builder) queuesGone() {
	of := map[string]int{}
	for _, c := range b.Charges() {
		w := c.Workload.Object
		if w == nil || b.held[c] != nil || w.Status.Admission == nil {
			continue
		}
		if name := string(w.Status.Admission.ClusterQueue); b.nodes[name] == nil {
			of[name]++
		}
	}
	b.out.Counted = b.trees.Usage == admission.FromWorkloads && len(of) == 0 &&
		b.snap.Coverage.Has(cluster.ClusterQueue)
	for _, root := range b.trees.Roots {
		b.out.Counts.Add(root.Counts)
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		ref := cluster.Ref{APIVersion: kueue.SchemeGroupVersion.String(), Kind: cluster.ClusterQueue.Kind, Name: name}
		b.issue(QueueGone, lint.Warning, ref, quota.FlavorResource{}, "it is not in the input, and quota is held in "+
			"it (by %s): the ledger does not have that", workloads(of[name]))
	}
}

func workloads(n int) string {
	if n == 1 {
		return "1 Workload"
	}
	return fmt.Sprintf("%d Workloads", n)
}
