// The trees of queues and cohorts, and who lends to whom.

package admission

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// UsageSource is what the usage of queues was added up from.
type UsageSource string

const (
	// FromWorkloads: from what Workloads have reserved.
	FromWorkloads UsageSource = "Workloads"
	// FromStatus: from the status of ClusterQueues, for want of Workloads.
	FromStatus UsageSource = "Status"
	// FromNothing: the input says nothing of usage.
	FromNothing UsageSource = "None"
)

// Trees is every ClusterQueue and cohort with its quota and what is made of it, as things stand.
type Trees struct {
	// Roots are the nodes without parent: cohorts first, then queues without cohort, each by name.
	Roots []*TreeNode
	Usage UsageSource
	// FairSharing reports whether preemption and order go by shares.
	FairSharing bool
}

// TreeNode is a ClusterQueue or a cohort.
type TreeNode struct {
	*quota.Node
	Parent *TreeNode
	// Children are the cohorts and then the queues directly below, each by name.
	Children []*TreeNode
	// Object is the ClusterQueue; nil for a cohort.
	Object *kueue.ClusterQueue
	// Ref is the object; an implicit cohort has none.
	Ref cluster.Ref
	// Inactive says why the queue takes no workloads; empty when it does.
	Inactive string
	// Known reports whether the usage of the node, and of all below it, is known.
	Known bool
	Lines []TreeLine
	// Share is the dominant resource share.
	Share quota.Share
	// Counts of the node's workloads, for a cohort of all below it.
	Counts Counts
	// Demand is what workloads that wait ask for, whichever flavor they would get. What workloads with an unknown
	// charge ask for is in it as far as it is known.
	Demand charge.Amounts
	// Differences are where the status of the ClusterQueue contradicts its Workloads.
	Differences []Difference
}

// Counts are numbers of workloads.
type Counts struct {
	// Reserved have quota; Admitted are those of them with no admission check outstanding.
	Reserved, Admitted int
	// Waiting stand in the queue; Refused are kept out of it until something changes.
	Waiting, Refused int
	// Unknown are those that wait with a charge that can't be known.
	Unknown int
}

// Add adds the numbers of other workloads.
func (c *Counts) Add(o Counts) {
	c.Reserved += o.Reserved
	c.Admitted += o.Admitted
	c.Waiting += o.Waiting
	c.Refused += o.Refused
	c.Unknown += o.Unknown
}

// TreeLine is a node's account of one flavor and resource.
type TreeLine struct {
	quota.FlavorResource
	quota.Limits
	// Sets reports whether the node itself has a quota entry.
	Sets bool
	// Total is the nominal quota of the node and all below it.
	Total quota.Amount
	// Reserved by workloads of the node and all below it; Admitted by those of them that are admitted.
	Reserved, Admitted quota.Amount
	// Borrowed from others, beyond what the node owns and is lent from below.
	Borrowed quota.Amount
	// Lent is what others certainly have of the node's quota. Where several nodes have quota to spare nothing says
	// whose is used; LentAtMost is the most that can be this node's.
	Lent, LentAtMost quota.Amount
	// Spare is what the node leaves unused and its cohort may use, what is lent included.
	Spare quota.Amount
	// Available to the node now, borrowing included, and Maximum were nothing used.
	Available, Maximum quota.Amount
}

// Difference is one amount or number in the status of a ClusterQueue that its Workloads contradict.
type Difference struct {
	// Path of the field, such as status.flavorsReservation.
	Path string
	// FlavorResource the amounts are of; zero where they are numbers of workloads.
	FlavorResource quota.FlavorResource
	Says, Sum      quota.Amount
}

// Trees builds the trees of the present state.
func (e *Engine) Trees() *Trees {
	s, _ := e.state(false)
	t := &treeBuilder{s: s, out: &Trees{FairSharing: s.fair, Usage: FromWorkloads}, nodes: map[*quota.Node]*TreeNode{}}
	if !e.snap.Coverage.Has(cluster.Workload) {
		t.takeStatus()
	}
	for _, root := range s.forest.Roots() {
		t.out.Roots = append(t.out.Roots, t.node(e, root, nil))
	}
	t.count()
	for _, root := range t.out.Roots {
		t.account(root)
		for i := range root.Lines {
			t.lend(root, root.Lines[i].FlavorResource, span{})
		}
	}
	return t.out
}

type treeBuilder struct {
	s     *scheduler
	out   *Trees
	nodes map[*quota.Node]*TreeNode
	// admitted is the part of the usage of queues that is of admitted workloads.
	admitted map[*quota.Node]quota.Usage
}

// takeStatus counts what ClusterQueues report instead of Workloads: some of these are not in the input.
func (t *treeBuilder) takeStatus() {
	t.out.Usage = FromNothing
	for _, name := range t.s.names {
		q := t.s.queues[name]
		for len(q.holders) > 0 {
			q.holders[0].release()
		}
		if !reports(q) {
			continue
		}
		t.out.Usage = FromStatus
		u, _ := reported(recorded.Reserved(q.object))
		q.node.Add(q.node.Delta(u))
	}
}

// reports reports whether the status of a queue says something of its usage.
func reports(q *queue) bool { return recorded.Reports(q.record, q.object) }

func reported(in iter.Seq2[recorded.FlavorResource, resource.Quantity]) (quota.Usage, []quota.FlavorResource) {
	out := quota.Usage{}
	for fr, total := range in {
		out[quota.FlavorResource(fr)] = quota.Amount(charge.Units(fr.Resource, total))
	}
	return out, out.Sorted()
}

func (t *treeBuilder) node(e *Engine, n *quota.Node, parent *TreeNode) *TreeNode {
	out := &TreeNode{Node: n, Parent: parent, Known: true, Demand: charge.Amounts{}}
	t.nodes[n] = out
	if n.Queue {
		q := t.s.queues[n.Name]
		out.Object, out.Inactive, out.Ref = q.object, q.inactive, q.record.Ref
		out.Known = t.out.Usage == FromWorkloads || reports(q)
		return out
	}
	if o := e.snap.Get(cluster.Cohort, "", n.Name); o != nil {
		out.Ref = o.Ref
	}
	for _, children := range [][]*quota.Node{n.Cohorts(), n.Queues()} {
		for _, c := range children {
			child := t.node(e, c, out)
			out.Children = append(out.Children, child)
			out.Known = out.Known && child.Known
		}
	}
	return out
}

// count adds the workloads up for their queues.
func (t *treeBuilder) count() {
	t.admitted = map[*quota.Node]quota.Usage{}
	for _, wl := range t.s.workloads {
		switch {
		case wl.held != nil:
			n := t.nodes[wl.held.queue.node]
			n.Counts.Reserved++
			if conditionTrue(wl.charge.Workload.Object, kueue.WorkloadAdmitted) {
				n.Counts.Admitted++
				t.admit(wl)
			}
		case wl.queue == nil || wl.state != Pending:
		case wl.refused != nil:
			t.nodes[wl.queue.node].Counts.Refused++
		default:
			t.wait(wl)
		}
	}
	if t.out.Usage != FromStatus {
		return
	}
	for _, name := range t.s.names {
		q := t.s.queues[name]
		t.admitted[q.node], _ = reported(recorded.Admitted(q.object))
		st := q.object.Status
		t.nodes[q.node].Counts = Counts{
			Reserved: int(st.ReservingWorkloads),
			Admitted: int(st.AdmittedWorkloads),
			Waiting:  int(st.PendingWorkloads),
		}
	}
}

func (t *treeBuilder) admit(wl *schedulerWorkload) {
	node := wl.held.queue.node
	if t.admitted[node] == nil {
		t.admitted[node] = quota.Usage{}
	}
	for fr, v := range wl.held.usage {
		t.admitted[node][fr] = t.admitted[node][fr].Add(v)
	}
}

func (t *treeBuilder) wait(wl *schedulerWorkload) {
	n := t.nodes[wl.queue.node]
	n.Counts.Waiting++
	if wl.charge.Verdict == charge.Unknown {
		n.Counts.Unknown++
	}
	for i := range wl.sets {
		for _, r := range t.s.requestsOf(wl, i, wl.sets[i].count) {
			if r.total != 0 {
				n.Demand[r.name] = charge.Add(n.Demand[r.name], r.total)
			}
		}
	}
}

// account fills the lines of a node and all below it.
func (t *treeBuilder) account(n *TreeNode) {
	n.Share = n.Node.Share()
	keys := quota.Usage{}
	for _, fr := range n.Keys() {
		keys[fr] = 0
	}
	if n.Queue {
		for _, wl := range t.s.queues[n.Name].holders {
			for fr := range wl.held.usage {
				keys[fr] = 0
			}
		}
	}
	for _, c := range n.Children {
		t.account(c)
		n.Counts.Add(c.Counts)
		for name, v := range c.Demand {
			n.Demand[name] = charge.Add(n.Demand[name], v)
		}
		for i := range c.Lines {
			keys[c.Lines[i].FlavorResource] = 0
		}
	}
	for _, fr := range keys.Sorted() {
		n.Lines = append(n.Lines, t.line(n, fr))
	}
	if n.Queue && t.out.Usage == FromWorkloads {
		n.compare(t.s.queues[n.Name], t.admitted[n.Node])
	}
}

func (t *treeBuilder) line(n *TreeNode, fr quota.FlavorResource) TreeLine {
	l := TreeLine{
		FlavorResource: fr, Limits: n.Limits(fr), Sets: n.Sets(fr), Borrowed: n.Borrowed(fr), Spare: spare(n.Node, fr),
		Available: n.Available(fr), Maximum: n.PotentialAvailable(fr),
	}
	l.Total = l.Nominal
	if n.Queue {
		l.Reserved, l.Admitted = n.Used(fr), t.admitted[n.Node][fr]
	}
	for _, c := range n.Children {
		if from := c.Line(fr); from != nil {
			l.Total, l.Reserved, l.Admitted = l.Total.Add(
				from.Total,
			), l.Reserved.Add(
				from.Reserved,
			), l.Admitted.Add(
				from.Admitted,
			)
		}
	}
	return l
}

// Line is the node's account of a flavor and resource; nil when it has none.
func (n *TreeNode) Line(fr quota.FlavorResource) *TreeLine {
	i, ok := slices.BinarySearchFunc(
		n.Lines,
		fr,
		func(l TreeLine, fr quota.FlavorResource) int { return l.FlavorResource.Compare(fr) },
	)
	if !ok {
		return nil
	}
	return &n.Lines[i]
}

// spare is what a node below a cohort leaves unused of the quota that it does not keep for itself.
func spare(n *quota.Node, fr quota.FlavorResource) quota.Amount {
	if n.Parent() == nil {
		return 0
	}
	kept := n.Guaranteed(fr)
	return max(0, n.SubtreeQuota(fr).Sub(kept).Sub(max(0, n.Used(fr).Sub(kept))))
}

// span is the least and the most that an amount can be.
type span struct{ least, most quota.Amount }

// lend says of the nodes below a cohort how much of their spare quota others use: their siblings borrow it, and outside
// is what nodes beyond the cohort have of it. The cohort's own quota and what it borrows itself serve first or last,
// nobody can know.
func (t *treeBuilder) lend(cohort *TreeNode, fr quota.FlavorResource, outside span) {
	var borrowed quota.Amount
	supply := cohort.Limits(fr).Nominal
	for _, c := range cohort.Children {
		borrowed = borrowed.Add(c.Borrowed(fr))
		supply = supply.Add(spare(c.Node, fr))
	}
	fromAbove := cohort.Borrowed(fr)
	need := span{max(0, borrowed.Sub(fromAbove)).Add(outside.least), max(0, borrowed.Sub(fromAbove)).Add(outside.most)}
	for _, c := range cohort.Children {
		l := c.Line(fr)
		if l == nil {
			continue
		}
		l.Lent = min(l.Spare, max(0, need.least.Sub(supply.Sub(l.Spare))))
		l.LentAtMost = min(l.Spare, need.most)
		t.lend(c, fr, span{l.Lent, l.LentAtMost})
	}
}

// compare looks for what the status says otherwise. A status that was never written says nothing.
func (n *TreeNode) compare(q *queue, admitted quota.Usage) {
	if !reports(q) {
		return
	}
	st := &q.object.Status
	for _, of := range []struct {
		path string
		says iter.Seq2[recorded.FlavorResource, resource.Quantity]
		sum  func(quota.FlavorResource) quota.Amount
	}{
		{"status.flavorsReservation", recorded.Reserved(q.object), n.Used},
		{
			"status.flavorsUsage", recorded.Admitted(q.object),
			func(fr quota.FlavorResource) quota.Amount { return admitted[fr] },
		},
	} {
		says, keys := reported(of.says)
		for _, fr := range keys {
			if sum := of.sum(fr); says[fr] != sum {
				n.Differences = append(n.Differences, Difference{of.path, fr, says[fr], sum})
			}
		}
	}
	for _, of := range []struct {
		path string
		says int32
		sum  int
	}{
		{"status.reservingWorkloads", st.ReservingWorkloads, n.Counts.Reserved},
		{"status.admittedWorkloads", st.AdmittedWorkloads, n.Counts.Admitted},
	} {
		if int(of.says) != of.sum {
			n.Differences = append(
				n.Differences,
				Difference{Path: of.path, Says: quota.Amount(of.says), Sum: quota.Amount(of.sum)},
			)
		}
	}
}
