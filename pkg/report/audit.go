package report

import (
	"iter"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/audit"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// AuditReport is the result of `audit`. Amounts that are not known are null, and unknown says why.
type AuditReport struct {
	AuditHead
	// Findings of lint, as in a FindingList.
	Findings []Finding `json:"findings"`
}

// AuditHead is an AuditReport before its findings.
type AuditHead struct {
	TypeMeta
	Kueue Kueue `json:"kueue"`
	// UsageSource says what reserved amounts were added up from.
	UsageSource string       `json:"usageSource" jsonschema:"enum=Workloads,enum=Status,enum=None"`
	Summary     AuditSummary `json:"summary"`
	// Totals are the sums over the whole cluster, sorted by resource and flavor.
	Totals []AuditTotal `json:"totals"`
	// Ledger are the rows of cohorts and queues: each cohort before its cohorts and queues, each by name, and in each
	// the rows by resource and flavor.
	Ledger  []LedgerRow    `json:"ledger"`
	Devices []AuditDevices `json:"devices"`
	// Differences name every workload whose published charge is not the recomputed one. They add up to the differences
	// of the ledger.
	Differences []ChargeDifference `json:"differences"`
	// Uncounted are devices in use that no quota counts.
	Uncounted []UncountedDevices `json:"uncounted"`
	// Issues are what else does not add up.
	Issues []AuditIssue `json:"issues"`
	// Holders have the most of each resource and flavor: up to five, the largest first.
	Holders []AuditHolder `json:"holders"`
	// Pending are the workloads that wait longest: up to three of each queue.
	Pending []AuditPending `json:"pending"`
	// Changes since the older input of --compare; missing without it.
	Changes *AuditChanges `json:"changes,omitempty"`
	// Unknown says which columns are not known, or not everywhere, and what would tell them.
	Unknown []UnknownColumn `json:"unknown"`
	// UnknownRules had something to check and could not.
	UnknownRules []UnknownRule `json:"unknownRules"`
}

// AuditSummary counts what the report names.
type AuditSummary struct {
	// Admitted workloads, those that hold quota (Reserving), that wait (Pending), and that are kept out of the queue;
	// null when some may not be in the input.
	Admitted     *int `json:"admitted" jsonschema:"nullable"`
	Reserving    *int `json:"reserving" jsonschema:"nullable"`
	Pending      *int `json:"pending" jsonschema:"nullable"`
	Inadmissible *int `json:"inadmissible" jsonschema:"nullable"`
	// Differences counts the workloads whose charge differs.
	Differences int `json:"differences"`
	Uncounted   int `json:"uncounted"`
	Issues      int `json:"issues"`
	// Findings of lint by severity.
	Findings FindingSummary `json:"findings"`
}

// AuditTotal is one resource and flavor in the whole cluster.
type AuditTotal struct {
	// Flavor is empty for what is of no flavor yet.
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	// Published by drivers in ResourceSlices, and Healthy of it: in complete pools and not tainted. Where the resource
	// is charged by a counter it is the sum of that counter, not the number of devices. It is not looked up for cpu,
	// memory and the like.
	Published *string `json:"published" jsonschema:"nullable"`
	Healthy   *string `json:"healthy" jsonschema:"nullable"`
	// AtMost: the devices counted share hardware, so that not all can be given out at once.
	AtMost bool `json:"atMost,omitempty"`
	// Counted says what Published counts; empty when no device class leads to the resource.
	Counted string `json:"counted,omitempty"`
	// Allocatable on nodes, from device plugins.
	Allocatable *string `json:"allocatable" jsonschema:"nullable"`
	// Nominal quota of all cohorts and queues.
	Nominal string `json:"nominal"`
	Sums
}

// Sums are columns that add up: those of a cohort are the sums of what is below it.
type Sums struct {
	// Reserved by workloads with quota, as their status says.
	Reserved *string `json:"reserved" jsonschema:"nullable"`
	// Recomputed is what these workloads would be charged now.
	Recomputed *string `json:"recomputed" jsonschema:"nullable"`
	// Difference is reserved less recomputed.
	Difference *string `json:"difference" jsonschema:"nullable"`
	// Allocated by ResourceClaims to pods of these workloads, in what the devices really have.
	Allocated *string `json:"allocated" jsonschema:"nullable"`
	// Pending is what waiting workloads ask for. It stands in rows without flavor, since they have none yet.
	Pending *string `json:"pending" jsonschema:"nullable"`
}

// LedgerRow is the account of a cohort or queue for one resource and flavor.
type LedgerRow struct {
	Kind string `json:"kind" jsonschema:"enum=Cohort,enum=ClusterQueue"`
	Name string `json:"name"`
	// Cohort it is in; empty for a root.
	Cohort string `json:"cohort"`
	// Flavor is empty for what is of no flavor: pending demand, and what would be charged to a resource that got no
	// flavor.
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	// Nominal is the node's own quota; empty when it sets none.
	Nominal string `json:"nominal"`
	// Total is the nominal quota with all below.
	Total string `json:"total"`
	Sums
	// Admitted is the part of reserved that is of admitted workloads.
	Admitted *string `json:"admitted" jsonschema:"nullable"`
	// Borrowed beyond what the node owns; Lent to others for certain, and LentAtMost at the most.
	Borrowed   *string `json:"borrowed" jsonschema:"nullable"`
	Lent       *string `json:"lent" jsonschema:"nullable"`
	LentAtMost *string `json:"lentAtMost" jsonschema:"nullable"`

	// row is what the strings were made from.
	row *audit.Row
}

// AuditDevices are published devices of one kind.
type AuditDevices struct {
	// Driver of Dynamic Resource Allocation; empty for what a device plugin offers as Resource.
	Driver   string `json:"driver,omitempty"`
	Resource string `json:"resource,omitempty"`
	Model    string `json:"model,omitempty"`
	Type     string `json:"type,omitempty"`
	// Profile of a partition.
	Profile   string `json:"profile,omitempty"`
	Published int64  `json:"published"`
	// Healthy can be given out. Of DRA devices, Tainted ones can't, nor those in Incomplete pools.
	Healthy    int64 `json:"healthy"`
	Tainted    int64 `json:"tainted"`
	Incomplete int64 `json:"incomplete"`
	// Allocated to claims, or to running pods of a device plugin.
	Allocated *string `json:"allocated" jsonschema:"nullable"`
	// Free is how many can be given out together, were nothing of another kind; null where claims are not known.
	Free *string `json:"free" jsonschema:"nullable"`
	// Classes that match them, and the quota resources these are charged to.
	Classes   []string `json:"classes"`
	ChargedTo []string `json:"chargedTo"`
}

// ChargeDifference is one workload's part of the difference of a row.
type ChargeDifference struct {
	Workload     *cluster.Ref `json:"workload" jsonschema:"nullable"`
	Owner        *cluster.Ref `json:"owner" jsonschema:"nullable"`
	ClusterQueue string       `json:"clusterQueue"`
	Flavor       string       `json:"flavor"`
	Resource     string       `json:"resource"`
	Reserved     string       `json:"reserved"`
	Recomputed   string       `json:"recomputed"`
	Difference   string       `json:"difference"`
	Reason       string       `json:"reason" jsonschema:"enum=Refused,enum=PodCount,enum=TemplateReplaced,enum=MappingChanged,enum=OtherVersion,enum=DevicesChanged,enum=NotTold"`
	Message      string       `json:"message"`

	charge *charge.Charge
}

// UncountedDevices are devices in use that no quota counts.
type UncountedDevices struct {
	Object cluster.Ref `json:"object"`
	// Via is ResourceClaim or DevicePlugin.
	Via string `json:"via" jsonschema:"enum=ResourceClaim,enum=DevicePlugin"`
	// Class of the claim, and the extended resource, or what the class is charged to.
	Class    string `json:"class,omitempty"`
	Resource string `json:"resource,omitempty"`
	Devices  int64  `json:"devices"`
	Why      string `json:"why"`
}

// AuditIssue is one thing that does not add up.
type AuditIssue struct {
	Kind     string       `json:"kind" jsonschema:"enum=QuotaAboveHardware,enum=AllocatedAboveReserved,enum=StrandedPartitions,enum=NoClass,enum=IdleQueue,enum=AdmittedPiecewise,enum=StatusDiffers,enum=QueueGone"`
	Severity string       `json:"severity" jsonschema:"enum=error,enum=warning,enum=info"`
	Object   *cluster.Ref `json:"object" jsonschema:"nullable"`
	Flavor   string       `json:"flavor,omitempty"`
	Resource string       `json:"resource,omitempty"`
	Message  string       `json:"message"`
}

// AuditHolder is a workload with quota.
type AuditHolder struct {
	Workload     *cluster.Ref `json:"workload" jsonschema:"nullable"`
	Owner        *cluster.Ref `json:"owner" jsonschema:"nullable"`
	ClusterQueue string       `json:"clusterQueue"`
	Flavor       string       `json:"flavor"`
	Resource     string       `json:"resource"`
	Amount       string       `json:"amount"`
	Priority     int64        `json:"priority"`
	// Since is when its quota was reserved.
	Since string `json:"since,omitempty"`

	charge *charge.Charge
}

// AuditPending is a workload that waits.
type AuditPending struct {
	Workload     *cluster.Ref `json:"workload" jsonschema:"nullable"`
	Owner        *cluster.Ref `json:"owner" jsonschema:"nullable"`
	ClusterQueue string       `json:"clusterQueue"`
	Created      string       `json:"created,omitempty"`
	// Position in the queue, from 1; 0 for one that is kept out of it.
	Position int `json:"position"`
	// Predicted is what the next attempt would lead to, as in an ExplanationList.
	Predicted string `json:"predicted"`
	Why       string `json:"why"`

	charge *charge.Charge
}

// UnknownColumn is a column that is not known, or not everywhere.
type UnknownColumn struct {
	Column string `json:"column"`
	// In names the rows; empty for all.
	In []string `json:"in,omitempty"`
	// Missing are the kinds that are not in the input, and Get a command that gets them.
	Missing []string `json:"missing"`
	Get     string   `json:"get,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// AuditChanges are what differs from an older report.
type AuditChanges struct {
	// Since names the older input.
	Since string `json:"since"`
	// Ledger are amounts that changed, in the order of the ledger, those of rows that are gone last.
	Ledger []LedgerChange `json:"ledger"`
	// Devices are numbers of devices that changed.
	Devices []DevicesChange `json:"devices"`
	// New and Gone are what only one of the reports names: differences, devices that no quota counts, issues and
	// findings.
	New  []NamedThing `json:"new"`
	Gone []NamedThing `json:"gone"`
}

// Amounts are a number before and after; null when it is not known, or when the row is not there.
type Amounts struct {
	// Change tells whether the row is in both reports.
	Change string  `json:"change" jsonschema:"enum=changed,enum=new,enum=gone"`
	Column string  `json:"column"`
	Before *string `json:"before" jsonschema:"nullable"`
	After  *string `json:"after" jsonschema:"nullable"`
}

// LedgerChange is one amount of the ledger that changed.
type LedgerChange struct {
	Kind     string `json:"kind" jsonschema:"enum=Cohort,enum=ClusterQueue"`
	Name     string `json:"name"`
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	Amounts
}

// DevicesChange is one number of a kind of devices that changed.
type DevicesChange struct {
	Driver   string `json:"driver,omitempty"`
	Resource string `json:"resource,omitempty"`
	Model    string `json:"model,omitempty"`
	Type     string `json:"type,omitempty"`
	Profile  string `json:"profile,omitempty"`
	Amounts
}

// NamedThing is something that a report names.
type NamedThing struct {
	// Kind is the reason of a difference, the kind of an issue, Uncounted, or the ID of a rule.
	Kind     string `json:"kind"`
	Severity string `json:"severity" jsonschema:"enum=error,enum=warning,enum=info"`
	// Subject is the object it is about, and the field.
	Subject string `json:"subject,omitempty"`
	Message string `json:"message"`
}

// Audit is the document of `audit`.
type Audit struct {
	report   *audit.Report
	value    AuditHead
	findings *Findings
	units    Units
}

// NewAudit returns the document of a report. Rules and tool are those of [NewFindings].
func NewAudit(r *audit.Report, rules []*lint.Rule, tool string) *Audit {
	d := &Audit{report: r, findings: NewFindings(r.Config, r.Findings, rules, tool),
		units: Units{charge.Formatter{Binary: r.Config.BinaryResource}}}
	d.value = newAuditHead(r, d.findings, d.units)
	return d
}

// Since adds what has changed since an older report, which was made of what since names.
func (d *Audit) Since(since string, changes *audit.Changes) {
	d.value.Changes = newAuditChanges(since, changes, d.units)
}

func (d *Audit) listName() string { return "findings" }

// Head implements [Document].
func (d *Audit) Head() any { return d.value }

// Items implements [Document].
func (d *Audit) Items() iter.Seq[any] { return d.findings.Items() }

// Names implements [Document]: the queues audited.
func (d *Audit) Names() iter.Seq[cluster.Ref] {
	return func(yield func(cluster.Ref) bool) {
		for _, q := range d.report.Queues {
			if q.Node.Queue && !yield(q.Node.Ref) {
				return
			}
		}
	}
}
