package report

import "github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"

// ExplanationList is the result of `explain`. Items are sorted as in a [ChargeList].
type ExplanationList struct {
	TypeMeta
	Kueue Kueue         `json:"kueue"`
	Items []Explanation `json:"items"`
}

// Explanation says where a workload stands and why.
type Explanation struct {
	Workload     *cluster.Ref `json:"workload" jsonschema:"nullable"`
	Owner        *cluster.Ref `json:"owner" jsonschema:"nullable"`
	LocalQueue   string       `json:"localQueue"`
	ClusterQueue string       `json:"clusterQueue"`
	Charge       Charge       `json:"charge"`
	Reported     Reported     `json:"reported"`
	Predicted    Predicted    `json:"predicted"`
	// Agrees tells whether Reported is what is predicted, or was right before later reservations (then Inconsistencies
	// say so); null when one of the two is missing.
	Agrees *bool `json:"agrees" jsonschema:"nullable"`
	// QueuePosition is null when the workload does not wait or its place is not known.
	QueuePosition *QueuePosition `json:"queuePosition" jsonschema:"nullable"`
	Steps         []Step         `json:"steps"`
	// Binding are the constraints that keep the workload waiting.
	Binding []Constraint `json:"binding"`
	// Quota compares every requested resource with the queue's quota, flavor by flavor.
	Quota   []QuotaLine `json:"quota"`
	Holders []Holder    `json:"holders"`
	// PreemptedBy tells who took its quota.
	PreemptedBy []PreemptedBy `json:"preemptedBy"`
	Remedies    []Remedy      `json:"remedies"`
	// RemediesUntried tells that not all changes were tried, because very many workloads are explained at once.
	RemediesUntried bool `json:"remediesUntried,omitempty"`
	// Fit tells whether the pods can get their devices now; only with --fit.
	Fit *Fit `json:"fit,omitempty"`
	// Inconsistencies are places where the objects contradict each other or what Kueue reported.
	Inconsistencies []string `json:"inconsistencies,omitempty"`
}

// Reported is what the Workload's conditions say.
type Reported struct {
	State   string `json:"state" jsonschema:"enum=Admitted,enum=QuotaReserved,enum=Pending,enum=Inadmissible,enum=Evicted,enum=Finished,enum=Deactivated,enum=None"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Since is the condition's last transition, in RFC 3339; empty when no condition tells.
	Since string `json:"since"`
	// ObservedGenerationStale tells that the object changed after the condition was written.
	ObservedGenerationStale bool `json:"observedGenerationStale"`
	// Meaning puts reason and message into plain words, one sentence per fact.
	Meaning []string `json:"meaning,omitempty"`
}

// Predicted is what the next scheduling attempt of the workload would decide.
type Predicted struct {
	State  string `json:"state" jsonschema:"enum=Admitted,enum=QuotaReserved,enum=Preempts,enum=Pending,enum=Inadmissible,enum=Evicted,enum=Finished,enum=Deactivated,enum=None,enum=Unknown"`
	Reason string `json:"reason"`
	// Message is what Kueue would write; "" when it would write nothing.
	Message string `json:"message"`
	// PossibleMessages lists every text the condition may hold where that is left to chance, Message included. For a
	// workload that is parked it includes the text of the earlier attempt, which stays until the next one.
	PossibleMessages []string        `json:"possibleMessages"`
	PodSets          []PodSetFlavors `json:"podSets"`
	Borrows          bool            `json:"borrows"`
	Preempts         []Preemption    `json:"preempts"`
	// Attempts are the flavors tried, in order.
	Attempts []FlavorAttempt `json:"attempts,omitempty"`
	// Why says in a sentence what the message does not; Missing lists the kinds an Unknown state lacks.
	Why     string   `json:"why,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

// FlavorAttempt is one flavor tried for one pod set.
type FlavorAttempt struct {
	PodSet string `json:"podSet"`
	Flavor string `json:"flavor"`
	// Mode is how it would serve: Fit, Preempt (others would have to give way) or NoFit.
	Mode    string   `json:"mode" jsonschema:"enum=Fit,enum=Preempt,enum=DeferredFit,enum=NoFit"`
	Borrows bool     `json:"borrows"`
	Chosen  bool     `json:"chosen"`
	Reasons []string `json:"reasons"`
}

// PreemptedBy is the workload that took another one's quota.
type PreemptedBy struct {
	Reason string `json:"reason"`
	// Workload is null when it is not in the input; UID is then all that is known of it.
	Workload *cluster.Ref `json:"workload" jsonschema:"nullable"`
	UID      string       `json:"uid,omitempty"`
	Note     string       `json:"note,omitempty"`
	Evidence []Evidence   `json:"evidence"`
}

// PodSetFlavors is the assignment of one pod set.
type PodSetFlavors struct {
	Name    string            `json:"name"`
	Count   int64             `json:"count"`
	Flavors map[string]string `json:"flavors"`
	Usage   map[string]string `json:"usage"`
}

// Preemption is one workload that would be preempted.
type Preemption struct {
	Workload cluster.Ref `json:"workload"`
	Reason   string      `json:"reason"`
}

// QueuePosition counts from 1.
type QueuePosition struct {
	ClusterQueue int `json:"clusterQueue"`
	LocalQueue   int `json:"localQueue"`
}

// Step is one check on the way to admission.
type Step struct {
	Check    string     `json:"check"`
	Result   string     `json:"result" jsonschema:"enum=pass,enum=fail,enum=unknown,enum=info"`
	Detail   string     `json:"detail"`
	Evidence []Evidence `json:"evidence"`
}

// Constraint is a quota that is too small for a pod set.
type Constraint struct {
	PodSet    string `json:"podSet"`
	Resource  string `json:"resource"`
	Flavor    string `json:"flavor"`
	Requested string `json:"requested"`
	Used      string `json:"used"`
	Available string `json:"available"`
	Short     string `json:"short"`
	Nominal   string `json:"nominal"`
	Maximum   string `json:"maximum"`
}

// QuotaLine is a resource requested, against one flavor of the queue.
type QuotaLine struct {
	Resource string `json:"resource"`
	// Flavor is empty when the queue does not cover the resource.
	Flavor    string `json:"flavor"`
	Requested string `json:"requested"`
	Nominal   string `json:"nominal"`
	// Used is what is reserved, this workload included; empty when that is not known.
	Used string `json:"used"`
	// Free is what is left of the nominal quota; empty when Used is.
	Free string `json:"free"`
	// Available is what the queue could take now, borrowing included, and Maximum the most it could ever take; empty
	// when the Workloads that hold quota are not in the input.
	Available string `json:"available,omitempty"`
	Maximum   string `json:"maximum,omitempty"`
	// Short is what is lacking; "0" when nothing is, empty when that is not known.
	Short          string `json:"short"`
	BorrowingLimit string `json:"borrowingLimit,omitempty"`
	LendingLimit   string `json:"lendingLimit,omitempty"`
}

// Holder is a workload that holds quota another one needs.
type Holder struct {
	Workload     cluster.Ref `json:"workload"`
	ClusterQueue string      `json:"clusterQueue"`
	Resource     string      `json:"resource"`
	Flavor       string      `json:"flavor"`
	Quantity     string      `json:"quantity"`
	Priority     int32       `json:"priority"`
	Preemptible  bool        `json:"preemptible"`
	// WhyNot says what keeps it from being preempted.
	WhyNot string `json:"whyNot,omitempty"`
	// Since is when its quota was reserved, in RFC 3339.
	Since string `json:"since,omitempty"`
}

// Remedy is a change after which the workload would be admitted.
type Remedy struct {
	Action string `json:"action"`
	Effect string `json:"effect"`
	Patch  string `json:"patch,omitempty"`
}
