package audit

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Report is an audit of one snapshot. Amounts are in the units of their resource (milli for cpu).
type Report struct {
	Config *config.Config
	// Usage tells what the reserved amounts were added up from.
	Usage admission.UsageSource
	// Counts of the workloads in all queues; meaningless unless Counted: all that hold quota or wait are in the input.
	Counts  admission.Counts
	Counted bool
	// Totals are the sums over the cluster, by resource and flavor.
	Totals []Total
	// Ledger are the rows of cohorts and queues, each before what is below it.
	Ledger []Row
	// Queues count the workloads of the nodes of the ledger, in its order.
	Queues []Queue
	// Devices are what drivers and device plugins publish.
	Devices []Devices
	// Differences name every workload whose published charge is not the recomputed one.
	Differences []Difference
	// Uncounted are devices in use that no quota counts.
	Uncounted []Uncounted
	// Issues are what else does not add up.
	Issues []Issue
	// Holders have the most of each flavor and resource.
	Holders []Holder
	// Pending are the workloads that wait longest, by queue.
	Pending  []Pending
	Findings *lint.Result
	// Unknown says which cells are not known and what would tell them.
	Unknown []Unknown
}

// Cell is an amount, or unknown.
type Cell struct {
	Amount quota.Amount
	Known  bool
}

// Of is a cell that is known.
func Of(v quota.Amount) Cell { return Cell{v, true} }

// Plus is the sum; it is known where both are.
func (c Cell) Plus(o Cell) Cell { return Cell{c.Amount.Add(o.Amount), c.Known && o.Known} }

// Minus is the difference; it is known where both are.
func (c Cell) Minus(o Cell) Cell { return Cell{c.Amount.Sub(o.Amount), c.Known && o.Known} }

// Row is the account of a cohort or queue for one flavor and resource. An empty flavor is for what is of no flavor yet:
// what waiting workloads ask for, and what would be charged to a resource that got no flavor at admission.
type Row struct {
	Node *admission.TreeNode
	quota.FlavorResource
	// Sets tells that the node itself has a quota entry; its amount is Nominal.
	Sets    bool
	Nominal quota.Amount
	// Total is the nominal quota with all below.
	Total quota.Amount
	// Reserved by workloads, as their status says, and Admitted of it.
	Reserved, Admitted Cell
	// Recomputed is what the workloads with quota would be charged now, and Difference is Reserved less Recomputed.
	Recomputed, Difference Cell
	// Allocated to pods of these workloads by ResourceClaims, in what the devices really have.
	Allocated Cell
	// Borrowed, Lent and LentAtMost are those of [admission.TreeLine].
	Borrowed, Lent, LentAtMost Cell
	// Pending is what waiting workloads ask for. It stands in the row without flavor.
	Pending Cell
}

// Total is a row of the whole cluster, with the hardware there is.
type Total struct {
	quota.FlavorResource
	// Published by drivers in ResourceSlices, and Healthy of it: in complete pools, and not tainted.
	Published, Healthy Cell
	// AtMost tells that the devices counted share hardware, so that not all can be given out at once.
	AtMost bool
	// Allocatable on nodes, by device plugins.
	Allocatable Cell
	// Counted tells what Published counts, in a few words; empty when no driver publishes the resource.
	Counted string
	// Offerable tells that there is hardware to be seen: a device class leads to the resource, or it has the name of an
	// extended resource that nothing but device plugins makes.
	Offerable bool

	Nominal                                   quota.Amount
	Reserved, Recomputed, Difference, Pending Cell
	// Allocated to workloads with quota.
	Allocated Cell
}

// Queue is a node of the ledger with its workloads.
type Queue struct {
	Node *admission.TreeNode
	// Says are sentences about what the status of the ClusterQueue says otherwise than its Workloads.
	Says []string
}

// Devices are published devices of one kind.
type Devices struct {
	// Kind has no driver for what device plugins publish; Resource then is their resource.
	device.Kind
	Resource corev1.ResourceName
	// Published counts the devices of the newest generation of their pools. Of these Healthy can be given out. Tainted
	// can't, nor those in pools that are Incomplete, or that the scheduler takes for invalid.
	Published, Healthy, Tainted, Incomplete int64
	// Allocated to claims, or to running pods. Free is the most that can be given out together.
	Allocated, Free Cell
	// Classes that match them, and Charged the quota resources they are charged to; both empty when none does.
	Classes []string
	Charged []corev1.ResourceName
}

// Reason is why a published charge is not the recomputed one. It is stable and machine readable.
type Reason string

const (
	// Refused: Kueue would refuse the workload now.
	Refused Reason = "Refused"
	// PodCount: the workload has another number of pods now.
	PodCount Reason = "PodCount"
	// TemplateReplaced: a ResourceClaimTemplate it uses was made after its admission.
	TemplateReplaced Reason = "TemplateReplaced"
	// MappingChanged: no device class is mapped to the resource it was charged in, or its class is mapped to another
	// one.
	MappingChanged Reason = "MappingChanged"
	// OtherVersion: another version of Kueue charges it as published.
	OtherVersion Reason = "OtherVersion"
	// DevicesChanged: ResourceSlices it is charged by were made after its admission.
	DevicesChanged Reason = "DevicesChanged"
	// NotTold: the input does not tell what has changed.
	NotTold Reason = "NotTold"
)

// Difference is one workload's part of the difference of a row.
type Difference struct {
	Charge       *charge.Charge
	ClusterQueue string
	quota.FlavorResource
	Reserved, Recomputed quota.Amount
	Reason               Reason
	// Text says it in a sentence, lower-case and without full stop.
	Text string
}

// Uncounted is a use of devices that no quota counts.
type Uncounted struct {
	// Object is the pod, claim or job.
	Object cluster.Ref
	// Claim tells that the devices are given by a ResourceClaim; else they are of a device plugin.
	Claim bool
	// Resource is the extended resource, or what the class of the claim is mapped to; Class the device class of the
	// claim.
	Resource corev1.ResourceName
	Class    string
	// Devices in use.
	Devices int64
	// Why no quota counts them, lower-case and without full stop.
	Why string
}

// Kind of an issue. It is stable and machine readable.
type Kind string

const (
	// QuotaAboveHardware: quotas add up to more than there is.
	QuotaAboveHardware Kind = "QuotaAboveHardware"
	// AllocatedAboveReserved: claims hold more than was reserved for them.
	AllocatedAboveReserved Kind = "AllocatedAboveReserved"
	// StrandedPartitions: free hardware out of which no published partition can be made any more.
	StrandedPartitions Kind = "StrandedPartitions"
	// NoClass: devices that no device class matches, or whose classes no quota resource is charged for.
	NoClass Kind = "NoClass"
	// IdleQueue: a queue uses nothing of its quota while others wait for the same.
	IdleQueue Kind = "IdleQueue"
	// AdmittedPiecewise: some workloads of one object hold quota while others of it wait.
	AdmittedPiecewise Kind = "AdmittedPiecewise"
	// StatusDiffers: the status of a ClusterQueue contradicts its Workloads.
	StatusDiffers Kind = "StatusDiffers"
	// QueueGone: Workloads hold quota in a ClusterQueue that is not in the input.
	QueueGone Kind = "QueueGone"
)

// Issue is one thing that does not add up.
type Issue struct {
	Kind     Kind
	Severity lint.Severity
	// Object it is about: a queue, cohort, flavor, workload or slice.
	Object cluster.Ref
	// FlavorResource it is about, where it is about one.
	quota.FlavorResource
	// Text is lower-case and without full stop.
	Text string
}

// Holder has quota.
type Holder struct {
	Charge       *charge.Charge
	ClusterQueue string
	quota.FlavorResource
	Amount   quota.Amount
	Priority int64
	Since    time.Time
}

// Pending is a workload that waits, with what the next attempt would decide.
type Pending struct {
	Charge       *charge.Charge
	ClusterQueue string
	// Created is zero when the input does not tell.
	Created time.Time
	// Position in the queue, from 1; 0 when it does not stand in one, because it is refused.
	Position int
	// State is what the next attempt would lead to.
	State admission.State
	// Why it waits, lower-case and without full stop.
	Why string
}

// Column of the ledger that may be unknown.
type Column string

const (
	ColumnReserved    Column = "reserved"
	ColumnRecomputed  Column = "recomputed"
	ColumnAllocated   Column = "allocated"
	ColumnPublished   Column = "published"
	ColumnAllocatable Column = "allocatable"
	ColumnUncounted   Column = "uncounted"
	ColumnPending     Column = "pending"
)

// Unknown is a column that is not known, or not everywhere.
type Unknown struct {
	Column Column
	// In names the queues, flavors or resources whose cells are not known; empty for all.
	In []string
	// Missing are the kinds that are not in the input.
	Missing []string
	// Why says in a sentence what is not known, where it is not for missing kinds alone.
	Why string
}

// Severities are those of everything that is named: a charge that differs and devices that no quota counts are
// warnings.
func (r *Report) Severities() []lint.Severity {
	var out []lint.Severity
	if len(r.Differences)+len(r.Uncounted) > 0 {
		out = append(out, lint.Warning)
	}
	for _, i := range r.Issues {
		out = append(out, i.Severity)
	}
	if r.Findings != nil {
		for _, f := range r.Findings.Findings {
			out = append(out, f.Severity)
		}
	}
	return out
}
