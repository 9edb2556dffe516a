package report

import (
	"iter"
	"strings"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
)

// QueueExplanationList is the result of `explain` for queues. Items are in the order of kind, namespace and name.
type QueueExplanationList struct {
	TypeMeta
	Kueue Kueue `json:"kueue"`
	// UsageSource says what usage was added up from, as in a [QueueList].
	UsageSource string             `json:"usageSource" jsonschema:"enum=Workloads,enum=Status,enum=None"`
	Items       []QueueExplanation `json:"items"`
}

// queueExplanationsHead is a QueueExplanationList before its items.
type queueExplanationsHead struct {
	TypeMeta
	Kueue       Kueue  `json:"kueue"`
	UsageSource string `json:"usageSource"`
}

// QueueExplanation says how a ClusterQueue or a LocalQueue stands: whether it takes workloads, what it uses, who waits
// in it, and what the first of these waits for.
type QueueExplanation struct {
	// Queue is what was asked for; ClusterQueue is its own name, or where the LocalQueue leads.
	Queue        cluster.Ref `json:"queue"`
	ClusterQueue string      `json:"clusterQueue"`
	Verdict      string      `json:"verdict" jsonschema:"enum=Active,enum=Inactive,enum=Unknown"`
	// Why says why the queue is not active, or why that is not known.
	Why string `json:"why,omitempty"`
	// Reported is the condition Active of the queue; null when the input holds none.
	Reported *ActiveCondition `json:"reported" jsonschema:"nullable"`
	// Predicted is that condition as Kueue would write it for the objects in the input.
	Predicted ActiveCondition `json:"predicted"`
	// Agrees tells whether the two are the same; null when one of them is not known.
	Agrees *bool `json:"agrees" jsonschema:"nullable"`
	// StopPolicy of the queue itself, and ClusterQueueStopPolicy of the one that workloads go to.
	StopPolicy             string `json:"stopPolicy" jsonschema:"enum=None,enum=Hold,enum=HoldAndDrain"`
	ClusterQueueStopPolicy string `json:"clusterQueueStopPolicy" jsonschema:"enum=,enum=None,enum=Hold,enum=HoldAndDrain"`
	// Account is the ClusterQueue with its quota and numbers of workloads; null when it is not in the input.
	Account *Queue `json:"account" jsonschema:"nullable"`
	// LocalUsage is what workloads of the LocalQueue hold; null for a ClusterQueue, and when the Workloads are not in
	// the input.
	LocalUsage *LocalQueueUsage `json:"localUsage" jsonschema:"nullable"`
	// PendingTotal counts the workloads that stand in the queue; null when the input does not tell who they are.
	PendingTotal *int `json:"pendingTotal" jsonschema:"nullable"`
	// ReportedPending is their number by the status of the queue; null when it has none.
	ReportedPending *int `json:"reportedPending" jsonschema:"nullable"`
	// Pending are the first of them, in the order of the queue. Where PendingTotal is null they may as well be
	// admitted.
	Pending []PendingWorkload `json:"pending"`
	// OutsideTotal counts the workloads that wait without standing in the queue: they are refused, held back, or the
	// queue takes none. Outside are the first of them, in the order in which they would stand.
	OutsideTotal int               `json:"outsideTotal"`
	Outside      []PendingWorkload `json:"outside"`
	// Leaving lose the quota they hold because a queue is stopped.
	Leaving []cluster.Ref `json:"leaving"`
	// Remedies are changes after which an inactive queue is active, each tried.
	Remedies []Remedy `json:"remedies"`
	// Head explains the first workload that stands in the queue; null when none does.
	Head *Explanation `json:"head" jsonschema:"nullable"`
	// Inconsistencies are places where the objects contradict each other or what Kueue reported.
	Inconsistencies []string `json:"inconsistencies,omitempty"`
}

// ActiveCondition is the condition Active of a queue.
type ActiveCondition struct {
	Status  string `json:"status" jsonschema:"enum=True,enum=False,enum=Unknown"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Since is the last transition, in RFC 3339; empty when it is not told.
	Since string `json:"since,omitempty"`
	// Missing lists what the input lacks to tell the status or the whole message.
	Missing []string `json:"missing,omitempty"`
}

// LocalQueueUsage is what the workloads of one LocalQueue hold.
type LocalQueueUsage struct {
	Reserving int           `json:"reserving"`
	Admitted  int           `json:"admitted"`
	Usage     []LocalAmount `json:"usage"`
}

// LocalAmount is an amount of one resource in one flavor.
type LocalAmount struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	Quantity string `json:"quantity"`
}

// PendingWorkload is one workload that waits.
type PendingWorkload struct {
	// Position is null for a workload that does not stand in the queue, and where the order is not known.
	Position   *QueuePosition `json:"position" jsonschema:"nullable"`
	Workload   *cluster.Ref   `json:"workload" jsonschema:"nullable"`
	Owner      *cluster.Ref   `json:"owner" jsonschema:"nullable"`
	LocalQueue string         `json:"localQueue"`
	Priority   int32          `json:"priority"`
	// Total is its charge; Verdict says whether that is known.
	Total   map[string]string `json:"total"`
	Verdict string            `json:"verdict" jsonschema:"enum=Charged,enum=Inadmissible,enum=Unmanaged,enum=Unknown"`
	// State, Reason and Message are what the next scheduling attempt would decide about it, and Summary that in a few
	// words.
	State   string `json:"state" jsonschema:"enum=Admitted,enum=QuotaReserved,enum=Preempts,enum=Pending,enum=Inadmissible,enum=Evicted,enum=Finished,enum=Deactivated,enum=None,enum=Unknown"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Summary string `json:"summary"`
}

// QueueExplanations is the document of `explain` for queues.
type QueueExplanations struct {
	conf  *config.Config
	trees *admission.Trees
	items []*explain.Queue
	units Units
}

// NewQueueExplanations returns the result for queues in the order they are to be printed.
func NewQueueExplanations(conf *config.Config, trees *admission.Trees, items []*explain.Queue) *QueueExplanations {
	return &QueueExplanations{conf: conf, trees: trees, items: items,
		units: Units{charge.Formatter{Binary: conf.BinaryResource}}}
}

// Head implements [Document].
func (d *QueueExplanations) Head() any {
	return queueExplanationsHead{TypeMeta{APIVersion, "QueueExplanationList"}, kueueOf(d.conf), string(d.trees.Usage)}
}

// Items implements [Document].
func (d *QueueExplanations) Items() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, q := range d.items {
			item := d.item(q)
			if !yield(&item) {
				return
			}
		}
	}
}

// Names implements [Document].
func (d *QueueExplanations) Names() iter.Seq[cluster.Ref] {
	return func(yield func(cluster.Ref) bool) {
		for _, q := range d.items {
			if !yield(q.Ref) {
				return
			}
		}
	}
}

func (d *QueueExplanations) item(q *explain.Queue) QueueExplanation {
	out := QueueExplanation{
		Queue: q.Ref, ClusterQueue: q.ClusterQueue, Verdict: string(q.Verdict), Why: q.Why, Agrees: q.Agrees,
		Predicted: ActiveCondition{Status: string(q.Predicted.Status), Reason: q.Predicted.Reason,
			Message: q.Predicted.Message, Missing: q.Predicted.Missing},
		StopPolicy: string(q.StopPolicy), ClusterQueueStopPolicy: string(q.ClusterQueueStopPolicy),
		Remedies: []Remedy{},
		Pending:  d.waiting(q.Pending), OutsideTotal: q.OutsideTotal, Outside: d.waiting(q.Outside),
		Leaving: []cluster.Ref{}, Inconsistencies: q.Inconsistencies,
	}
	if r := q.Reported; r != nil {
		out.ReportedPending = &q.ReportedPending
		out.Reported = &ActiveCondition{Status: string(r.Status), Reason: r.Reason, Message: r.Message}
		if !r.LastTransitionTime.IsZero() {
			out.Reported.Since = r.LastTransitionTime.UTC().Format(time.RFC3339)
		}
	}
	if q.Tree != nil {
		account := d.queues().item(q.Tree)
		out.Account = &account
	}
	if q.Known {
		out.PendingTotal = &q.PendingTotal
		if q.Local != nil {
			out.LocalUsage = d.localUsage(q.Local)
		}
	}
	for _, c := range q.Leaving {
		out.Leaving = append(out.Leaving, c.Workload.Ref())
	}
	for _, r := range q.Opening {
		out.Remedies = append(out.Remedies, Remedy{r.Action, r.Effect, r.Patch})
	}
	if q.Head != nil {
		head := newConverter(d.units).explanation(q.Head)
		out.Head = &head
	}
	return out
}

// queues is the document that knows how to tell of the quota of queues.
func (d *QueueExplanations) queues() *Queues { return NewQueues(d.conf, d.trees, nil) }

func (d *QueueExplanations) localUsage(l *explain.LocalUsage) *LocalQueueUsage {
	out := &LocalQueueUsage{Reserving: l.Reserving, Admitted: l.Admitted, Usage: []LocalAmount{}}
	for _, fr := range l.Usage.Sorted() {
		out.Usage = append(out.Usage,
			LocalAmount{Flavor: fr.Flavor, Resource: string(fr.Resource),
				Quantity: d.units.Format(fr.Resource, int64(l.Usage[fr]))})
	}
	return out
}

func (d *QueueExplanations) waiting(in []explain.Waiting) []PendingWorkload {
	out := make([]PendingWorkload, 0, len(in))
	for _, w := range in {
		c := newCharge(w.Charge, d.units)
		p := PendingWorkload{
			Workload: c.Workload, Owner: c.Owner, LocalQueue: c.LocalQueue, Priority: w.Charge.Workload.Priority,
			Total: c.Total, Verdict: c.Verdict,
			State: string(w.Decision.State), Reason: w.Decision.Reason, Message: w.Decision.Message,
			Summary: d.summary(w),
		}
		if at := w.Position; at != nil && at.Certain {
			p.Position = &QueuePosition{at.ClusterQueue, at.LocalQueue}
		}
		out = append(out, p)
	}
	return out
}

// summary says in a few words what the next attempt would decide.
func (d *QueueExplanations) summary(w explain.Waiting) string {
	x := w.Decision
	switch x.State {
	case explain.Admitted, explain.QuotaReserved:
		text := "fits now"
		if x.Borrows {
			text += " by borrowing"
		}
		if x.State == explain.QuotaReserved {
			text += ", then waits for admission checks"
		}
		return text
	case explain.Preempts:
		return "would preempt " + plural(len(x.Targets), "workload")
	case explain.Unknown:
		return "unknown: " + firstOf(lackingKinds(x.Missing), x.Why, "the input does not tell")
	}
	if len(w.Short) > 0 {
		b := w.Short[0]
		if b.Over {
			return string(b.Resource) + ": more than flavor " + b.Flavor + " can ever give it"
		}
		return string(b.Resource) + ": " + d.units.quota(b.Resource, b.Short) + " short in flavor " + b.Flavor
	}
	for _, at := range x.Attempts {
		if len(at.Reasons) > 0 {
			return at.Reasons[0]
		}
	}
	// what to do about it is the workload's own explanation
	text, _, _ := strings.Cut(firstOf(x.Why, x.Message, string(x.State)), "; ")
	return text
}

func lackingKinds(kinds []string) string {
	if len(kinds) == 0 {
		return ""
	}
	return "not in the input: " + joined(kinds)
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
