package audit

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Input is what is audited. It is only read.
type Input struct {
	// Computed are the charges of all workloads of the snapshot, and what they rest on.
	*pipeline.Layers
	// Findings of lint; nil for none.
	Findings *lint.Result
	// AllResources takes cpu, memory and what every pod has into the ledger, too.
	AllResources bool
}

// New audits a snapshot.
func New(in Input) *Report {
	b := &builder{
		Input: in, snap: in.Snapshot, conf: in.Config,
		nodes: map[string]*admission.TreeNode{}, sums: map[*admission.TreeNode]*sums{}, unknown: map[Column]*gap{},
		held: map[*charge.Charge]*admission.Reservation{}, reaches: map[string]*reach{},
		out: &Report{Config: in.Config, Findings: in.Findings},
	}
	b.format = charge.Formatter{Binary: b.conf.BinaryResource}
	b.trees = b.Decider().Trees()
	b.out.Usage = b.trees.Usage
	for _, root := range b.trees.Roots {
		b.index(root)
	}
	b.reservations = b.Decider().Reservations()
	for i := range b.reservations {
		b.held[b.reservations[i].Charge] = &b.reservations[i]
	}
	held := device.NewAllocations(b.snap)
	b.stock = device.NewStock(in.Inventory(), held)
	b.recompute()
	b.allocate(held)
	b.ledger()
	b.totals()
	b.devices()
	b.issues()
	b.holders()
	b.pending()
	b.gaps()
	return b.out
}

// builder puts a report together.
type builder struct {
	Input
	snap         *cluster.Snapshot
	conf         *config.Config
	format       charge.Formatter
	trees        *admission.Trees
	reservations []admission.Reservation
	held         map[*charge.Charge]*admission.Reservation
	out          *Report

	nodes   map[string]*admission.TreeNode // queues by name
	sums    map[*admission.TreeNode]*sums
	unknown map[Column]*gap

	stock   *device.Stock
	claims  []allocation      // what is held, by claim
	reaches map[string]*reach // by flavor
}

// sums are what the ledger has beyond the account of a tree.
type sums struct {
	recomputed, allocated quota.Usage
	// unsure: what some workload would be charged now is not known.
	unsure bool
	// vague: how much some claim holds is not known.
	vague bool
}

// gap collects what a column lacks.
type gap struct {
	all     bool
	in      map[string]bool
	missing map[string]bool
	why     map[string]bool
}

// lacks records that cells of a column are not known: in one row group, or everywhere when it is empty.
func (b *builder) lacks(column Column, in, why string, missing ...string) {
	g := b.unknown[column]
	if g == nil {
		g = &gap{in: map[string]bool{}, missing: map[string]bool{}, why: map[string]bool{}}
		b.unknown[column] = g
	}
	if in == "" {
		g.all = true
	} else {
		g.in[in] = true
	}
	if why != "" {
		g.why[why] = true
	}
	for _, kind := range missing {
		g.missing[kind] = true
	}
}

// columns in the order in which gaps are told.
var columns = []Column{ColumnPublished, ColumnAllocatable, ColumnReserved, ColumnRecomputed, ColumnAllocated,
	ColumnUncounted, ColumnPending}

func (b *builder) gaps() {
	for _, column := range columns {
		g := b.unknown[column]
		if g == nil {
			continue
		}
		u := Unknown{Column: column, Missing: sorted(g.missing), Why: strings.Join(sorted(g.why), "; ")}
		if !g.all {
			u.In = sorted(g.in)
		}
		b.out.Unknown = append(b.out.Unknown, u)
	}
}

// usable tells that a device can be given out: the scheduler takes devices of its pool, and no taint keeps claims away.
func usable(u *device.Unit) bool { return u.Group().Pool().Problem == "" && len(u.Taints()) == 0 }

func sorted(set map[string]bool) []string {
	var out []string
	for name := range set {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (b *builder) index(n *admission.TreeNode) {
	b.sums[n] = &sums{recomputed: quota.Usage{}, allocated: quota.Usage{}}
	if n.Queue {
		b.nodes[n.Name] = n
	}
	for _, c := range n.Children {
		b.index(c)
	}
}

// shown tells that a resource is in the ledger.
func (b *builder) shown(name corev1.ResourceName) bool { return b.AllResources || OfDevices(name) }

// OfDevices tells that a resource is not one that every pod has: cpu, memory, storage, huge pages or its place on a
// node.
func OfDevices(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourceStorage,
		corev1.ResourcePods:
		return false
	}
	return !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// compareRows orders the accounts of one node: by resource, then by flavor, what is of no flavor last.
func compareRows(a, b quota.FlavorResource) int {
	none := func(fr quota.FlavorResource) int {
		if fr.Flavor == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(none(a), none(b)), cmp.Compare(a.Flavor, b.Flavor))
}

func (b *builder) amount(name corev1.ResourceName, v quota.Amount) string {
	if v == quota.Unlimited {
		return "unlimited"
	}
	return b.format.Format(name, int64(v))
}
