package outcome

import (
	"cmp"
	"strings"
)

// Reference names a Workload.
type Reference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Result is the end state of a scheduling run and the way to it.
type Result struct {
	Kind string `json:"kind"`
	// Mode is "pending" (the present state goes on) or "replay" (everything arrives anew).
	Mode          string         `json:"mode"`
	Workloads     []Workload     `json:"workloads"`
	Timeline      []Cycle        `json:"timeline,omitempty"`
	ClusterQueues []ClusterQueue `json:"clusterQueues,omitempty"`
	// Unsettled says that the run went on without end, and was cut off.
	Unsettled bool `json:"unsettled,omitempty"`
	// Beyond says why what comes of it can't be told: Kueue crashed, or decided what an API server would not take.
	Beyond string `json:"beyond,omitempty"`
	// Next holds, for each pending Workload, what a scheduling attempt of it alone decides in the present state.
	Next []Decision `json:"next,omitempty"`
}

// Workload is the state in which a run leaves a Workload.
type Workload struct {
	Workload Reference `json:"workload"`
	// State is Admitted, QuotaReserved, Pending, Inadmissible, Evicted, Deactivated or Finished.
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// PossibleMessages holds every message the Workload may be left with, where chance or time decides.
	PossibleMessages []string `json:"possibleMessages,omitempty"`
	PodSets          []PodSet `json:"podSets,omitempty"`
	AdmittedInCycle  int      `json:"admittedInCycle,omitempty"`
}

// PodSet is what one pod set is charged.
type PodSet struct {
	Name    string            `json:"name"`
	Count   int32             `json:"count"`
	Flavors map[string]string `json:"flavors,omitempty"`
	Usage   map[string]string `json:"usage,omitempty"`
}

// Cycle is one scheduling cycle in which something was decided.
type Cycle struct {
	Cycle     int             `json:"cycle"`
	Decisions []CycleDecision `json:"decisions"`
}

// CycleDecision is what one cycle decided about one Workload: Admit, Preempt, NoFit or Skip.
type CycleDecision struct {
	Workload     Reference `json:"workload"`
	ClusterQueue string    `json:"clusterQueue,omitempty"`
	Decision     string    `json:"decision"`
	Detail       string    `json:"detail,omitempty"`
}

// ClusterQueue is the end state of a ClusterQueue: what its Workloads reserve, by flavor and resource.
type ClusterQueue struct {
	Name     string                       `json:"name"`
	Usage    map[string]map[string]string `json:"usage,omitempty"`
	Pending  int                          `json:"pending"`
	Admitted int                          `json:"admitted"`
}

// Decision is the result of attempts to schedule one Workload alone, in the present state.
type Decision struct {
	Workload     Reference `json:"workload"`
	ClusterQueue string    `json:"clusterQueue"`
	// Attempts has more than one entry when Kueue tries again at once with the flavors it has not tried.
	Attempts []Attempt `json:"attempts"`
	// Endless says that the attempts repeat themselves: the pod sets take flavors in turns, and Kueue goes on trying.
	Endless bool `json:"endless,omitempty"`
}

// Attempt is one nomination.
type Attempt struct {
	// Mode is Fit, Preempt or NoFit; NotNominated when the attempt ended before flavors were assigned.
	Mode string `json:"mode"`
	// Borrowing is the height of the smallest cohort that has room; 0 means no borrowing.
	Borrowing        int      `json:"borrowing"`
	Message          string   `json:"message,omitempty"`
	PossibleMessages []string `json:"possibleMessages,omitempty"`
	PodSets          []PodSet `json:"podSets,omitempty"`
	Preempts         []Victim `json:"preempts,omitempty"`
}

// Victim is a Workload to be preempted, and why.
type Victim struct {
	Workload Reference `json:"workload"`
	Reason   string    `json:"reason"`
}

// Compare orders references by namespace and name.
func (r Reference) Compare(other Reference) int {
	return cmp.Or(cmp.Compare(r.Namespace, other.Namespace), cmp.Compare(r.Name, other.Name))
}

// String is the reference as kubectl prints it.
func (r Reference) String() string { return r.Namespace + "/" + r.Name }

// ParseReference takes namespace/name apart.
func ParseReference(text string) Reference {
	namespace, name, _ := strings.Cut(text, "/")
	return Reference{Namespace: namespace, Name: name}
}
