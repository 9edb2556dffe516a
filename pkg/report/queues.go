package report

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
)

// QueueList is the result of `queues`: ClusterQueues with their quota and what is made of it.
type QueueList struct {
	QueueListHead
	// Items are sorted by name.
	Items []Queue `json:"items"`
}

// QueueListHead is a QueueList before its ClusterQueues.
type QueueListHead struct {
	TypeMeta
	Kueue Kueue `json:"kueue"`
	// UsageSource says what usage was added up from: the Workloads, the status of ClusterQueues for want of Workloads,
	// or nothing in the input.
	UsageSource string `json:"usageSource" jsonschema:"enum=Workloads,enum=Status,enum=None"`
	// FairSharing tells that preemption and order go by shares.
	FairSharing bool `json:"fairSharing"`
	// Cohorts are sorted by name.
	Cohorts []Cohort `json:"cohorts"`
}

// Queue is one ClusterQueue.
type Queue struct {
	Name string `json:"name"`
	// Cohort is empty for a queue that is in none.
	Cohort string `json:"cohort"`
	// Active tells that the queue takes workloads; Inactive says why it does not.
	Active   bool   `json:"active"`
	Inactive string `json:"inactive,omitempty"`
	Strategy string `json:"strategy"`
	QueueTotals
	// Inconsistencies are places where the status of the queue contradicts its Workloads.
	Inconsistencies []string `json:"inconsistencies,omitempty"`
}

// Cohort is one cohort, with what is below it.
type Cohort struct {
	Name string `json:"name"`
	// Parent is empty for a root.
	Parent string `json:"parent"`
	// Implicit: queues or cohorts name it, but there is no Cohort object.
	Implicit bool `json:"implicit,omitempty"`
	// Cyclic: it is its own ancestor, or below one that is. Queues below it take no workloads.
	Cyclic bool `json:"cyclic,omitempty"`
	QueueTotals
}

// QueueTotals are the numbers of a queue or a cohort; those of a cohort include all below it.
type QueueTotals struct {
	// Weight of fair sharing.
	Weight float64 `json:"weight"`
	// WeightedShare is the dominant resource share as status.fairSharing reports it; null without fair sharing, or when
	// usage is not known.
	WeightedShare *int64 `json:"weightedShare" jsonschema:"nullable"`
	// Reserving workloads hold quota; Admitted ones of these have no admission check outstanding.
	Reserving int `json:"reserving"`
	Admitted  int `json:"admitted"`
	// Pending workloads wait; Inadmissible ones are kept out of the queue until something changes.
	Pending      int `json:"pending"`
	Inadmissible int `json:"inadmissible"`
	// UnknownCharges counts pending workloads whose charge can't be told; of these Demand holds what is known.
	UnknownCharges int `json:"unknownCharges"`
	// Demand is what pending workloads ask for by resource, whichever flavor they would get.
	Demand map[string]string `json:"demand"`
	Quota  []QuotaAccount    `json:"quota"`
}

// QuotaAccount is the account of one flavor and resource. What depends on usage that is not known is empty.
type QuotaAccount struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	// Nominal is the queue's or cohort's own quota; empty when it sets none.
	Nominal        string `json:"nominal"`
	BorrowingLimit string `json:"borrowingLimit,omitempty"`
	LendingLimit   string `json:"lendingLimit,omitempty"`
	// Total is the nominal quota of a cohort and all below it; of a queue it is Nominal.
	Total string `json:"total"`
	// Reserved by workloads that hold quota; Admitted by those of them that are admitted.
	Reserved string `json:"reserved"`
	Admitted string `json:"admitted"`
	// Borrowed beyond what the queue or cohort owns.
	Borrowed string `json:"borrowed"`
	// Spare is the unused part of the quota that the cohort may use. Lent is what others certainly use of it,
	// LentAtMost the most they can: where several have quota to spare, nothing tells whose is used.
	Spare      string `json:"spare"`
	Lent       string `json:"lent"`
	LentAtMost string `json:"lentAtMost"`
	// Available now without preempting anybody, borrowing included; Maximum is that were nothing used.
	Available string `json:"available"`
	Maximum   string `json:"maximum"`
}

// Queues is the document of `queues`.
type Queues struct {
	conf  *config.Config
	trees *admission.Trees
	units Units
	keeps func(*admission.TreeNode) bool
}

// NewQueues returns the document of trees of queues. Nodes are left out that keeps says no to; nil keeps all.
func NewQueues(conf *config.Config, trees *admission.Trees, keeps func(*admission.TreeNode) bool) *Queues {
	if keeps == nil {
		keeps = func(*admission.TreeNode) bool { return true }
	}
	return &Queues{conf: conf, trees: trees, units: Units{charge.Formatter{Binary: conf.BinaryResource}}, keeps: keeps}
}

// nodes are the queues or the cohorts that are kept, by name.
func (d *Queues) nodes(queues bool) []*admission.TreeNode {
	var out []*admission.TreeNode
	var walk func([]*admission.TreeNode)
	walk = func(nodes []*admission.TreeNode) {
		for _, n := range nodes {
			if n.Queue == queues && d.keeps(n) {
				out = append(out, n)
			}
			walk(n.Children)
		}
	}
	walk(d.trees.Roots)
	slices.SortStableFunc(out, func(a, b *admission.TreeNode) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Head implements [Document].
func (d *Queues) Head() any {
	head := QueueListHead{
		TypeMeta: TypeMeta{APIVersion, "QueueList"}, Kueue: kueueOf(d.conf), UsageSource: string(d.trees.Usage),
		FairSharing: d.trees.FairSharing, Cohorts: []Cohort{},
	}
	for _, n := range d.nodes(false) {
		head.Cohorts = append(head.Cohorts,
			Cohort{Name: n.Name, Parent: parentName(n), Implicit: n.Implicit, Cyclic: n.Cyclic,
				QueueTotals: d.totals(n)})
	}
	return head
}

// Items implements [Document].
func (d *Queues) Items() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, n := range d.nodes(true) {
			item := d.item(n)
			if !yield(&item) {
				return
			}
		}
	}
}

func (d *Queues) item(n *admission.TreeNode) Queue {
	return Queue{
		Name: n.Name, Cohort: string(n.Object.Spec.CohortName), Active: n.Inactive == "", Inactive: n.Inactive,
		Strategy: string(n.Object.Spec.QueueingStrategy), QueueTotals: d.totals(n), Inconsistencies: d.differences(n),
	}
}

// Names implements [Document].
func (d *Queues) Names() iter.Seq[cluster.Ref] {
	return func(yield func(cluster.Ref) bool) {
		for _, n := range d.nodes(true) {
			if !yield(n.Ref) {
				return
			}
		}
	}
}

func parentName(n *admission.TreeNode) string {
	if n.Parent == nil {
		return ""
	}
	return n.Parent.Name
}

func (d *Queues) totals(n *admission.TreeNode) QueueTotals {
	out := QueueTotals{
		Weight: n.Weight, Reserving: n.Counts.Reserved, Admitted: n.Counts.Admitted, Pending: n.Counts.Waiting,
		Inadmissible: n.Counts.Refused, UnknownCharges: n.Counts.Unknown, Demand: map[string]string{},
		Quota: []QuotaAccount{},
	}
	if d.trees.FairSharing && n.Known {
		share := weighted(n)
		out.WeightedShare = &share
	}
	for name, v := range n.Demand {
		out.Demand[string(name)] = d.units.Format(name, v)
	}
	for i := range n.Lines {
		out.Quota = append(out.Quota, d.account(n, &n.Lines[i]))
	}
	return out
}

// weighted is the share as Kueue reports it: rounded up, and the largest number there is for a borrower without weight.
func weighted(n *admission.TreeNode) int64 {
	v := math.Ceil(n.Share.Value())
	if v >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(v)
}

func (d *Queues) account(n *admission.TreeNode, l *admission.TreeLine) QuotaAccount {
	amount := func(v int64, known bool) string { return d.units.amount(l.Resource, v, known) }
	out := QuotaAccount{
		Flavor: l.Flavor, Resource: string(l.Resource), Nominal: amount(int64(l.Nominal),
			l.Sets), Total: amount(int64(l.Total), true),
		Reserved: amount(int64(l.Reserved), n.Known), Admitted: amount(int64(l.Admitted),
			n.Known), Maximum: amount(int64(l.Maximum), true),
	}
	if l.BorrowingLimit != nil {
		out.BorrowingLimit = amount(int64(*l.BorrowingLimit), true)
	}
	if l.LendingLimit != nil {
		out.LendingLimit = amount(int64(*l.LendingLimit), true)
	}
	// What is lent, and left to take, depends on the whole tree.
	whole := root(n).Known
	out.Borrowed, out.Spare = amount(int64(l.Borrowed), n.Known), amount(int64(l.Spare), n.Known)
	out.Lent, out.LentAtMost, out.Available = amount(int64(l.Lent), whole), amount(int64(l.LentAtMost),
		whole), amount(int64(l.Available), whole)
	return out
}

func root(n *admission.TreeNode) *admission.TreeNode {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// differences are sentences about what the status of a queue says otherwise.
func (d *Queues) differences(n *admission.TreeNode) []string {
	var out []string
	for _, x := range n.Differences {
		fr := x.FlavorResource
		if fr.Flavor == "" {
			out = append(out, fmt.Sprintf("%s says %d; by the Workloads it is %d", x.Path, x.Says, x.Sum))
			continue
		}
		out = append(out, fmt.Sprintf("%s says %s of %s in flavor %s; the Workloads add up to %s", x.Path,
			d.units.Format(fr.Resource, int64(x.Says)), fr.Resource, fr.Flavor, d.units.Format(fr.Resource,
				int64(x.Sum))))
	}
	return out
}
