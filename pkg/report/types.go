package report

import "github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"

// APIVersion of every result.
const APIVersion = "gpuquota.dev/v1alpha1"

// TypeMeta heads every result.
type TypeMeta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// ChargeList is the result of `charge`. Items are sorted by namespace, kind and name of the job.
type ChargeList struct {
	TypeMeta
	Kueue Kueue    `json:"kueue"`
	Items []Charge `json:"items"`
}

// Kueue says for which Kueue the result holds.
type Kueue struct {
	// Version is the full version with a leading v, or "main".
	Version string `json:"version"`
	// VersionSource says what told the version.
	VersionSource string `json:"versionSource" jsonschema:"enum=flag,enum=image,enum=config,enum=default"`
	// FeatureGates that a charge depends on, and those that are not at the version's default, at their effective
	// values.
	FeatureGates map[string]bool `json:"featureGates"`
	// Configuration names where the configuration was read; empty when none was found.
	Configuration string `json:"configuration,omitempty"`
	// Assumptions are sentences about what was assumed and why.
	Assumptions []string `json:"assumptions,omitempty"`
	// Refusal is the whole message with which this Kueue refuses to start with the configuration; empty when it starts.
	Refusal string `json:"refusal,omitempty"`
	// Problems are the reasons for the refusal one by one.
	Problems []ConfigProblem `json:"problems,omitempty"`
}

// ConfigProblem is one reason for which Kueue refuses its configuration.
type ConfigProblem struct {
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// Charge is what one workload costs.
type Charge struct {
	// Workload is the Workload object; null when the input holds none.
	Workload *cluster.Ref `json:"workload" jsonschema:"nullable"`
	// Owner is the job; null for a Workload without owner.
	Owner *cluster.Ref `json:"owner" jsonschema:"nullable"`
	// Index is the replica the workload stands for, where a job has one workload per replica.
	Index        *int   `json:"index,omitempty"`
	LocalQueue   string `json:"localQueue"`
	ClusterQueue string `json:"clusterQueue"`
	// Verdict says what can be said about the charge.
	Verdict string   `json:"verdict" jsonschema:"enum=Charged,enum=Inadmissible,enum=Unmanaged,enum=Unknown"`
	PodSets []PodSet `json:"podSets"`
	// Total is what Kueue would charge now, from the spec, per resource.
	Total map[string]string `json:"total"`
	// Published is the sum of status.admission.podSetAssignments[].resourceUsage; null without admission.
	Published map[string]string `json:"published" jsonschema:"nullable"`
	Problems  []Problem         `json:"problems"`
	// Missing are the kinds whose absence from the input keeps the verdict Unknown.
	Missing []string `json:"missing"`
	// Reasons say why the job is not managed, stuck or incomplete.
	Reasons []Reason `json:"reasons,omitempty"`
	// Notes are remarks that do not change the verdict.
	Notes []string `json:"notes,omitempty"`
}

// PodSet is the charge of one pod set.
type PodSet struct {
	Name string `json:"name"`
	// Count of pods that are charged.
	Count int64 `json:"count"`
	// Reclaimable pods of Count have ended and free their share of the quota in use.
	Reclaimable int64  `json:"reclaimable,omitempty"`
	Charges     []Line `json:"charges"`
}

// Line is one addend of a pod set's charge.
type Line struct {
	Resource string `json:"resource"`
	PerPod   string `json:"perPod"`
	Total    string `json:"total"`
	// Method is the path by which the resource is charged.
	Method string `json:"method" jsonschema:"enum=Requests,enum=DeviceCount,enum=ExtendedResource,enum=Counter,enum=Capacity,enum=Transformation"`
	// Derivation reads as a path: each step is one hop from the request to the number.
	Derivation []string   `json:"derivation"`
	Evidence   []Evidence `json:"evidence"`
}

// Evidence is one fact: a field of an object, its value and where it was read.
type Evidence struct {
	Object cluster.Ref `json:"object"`
	Path   string      `json:"path,omitempty"`
	Value  string      `json:"value,omitempty"`
	File   string      `json:"file,omitempty"`
	Line   int         `json:"line,omitempty"`
}

// Problem is a reason for which Kueue refuses a workload or its charge is unknown.
type Problem struct {
	// Code is stable and machine readable.
	Code string `json:"code"`
	// Retryable tells whether Kueue tries again by itself.
	Retryable bool   `json:"retryable"`
	Message   string `json:"message"`
	// KueueMessage is the QuotaReserved condition's message, character for character; empty when Kueue writes none.
	KueueMessage string `json:"kueueMessage"`
	// PossibleKueueMessages lists every text the version may write where it leaves the choice to chance.
	PossibleKueueMessages []string   `json:"possibleKueueMessages,omitempty"`
	Evidence              []Evidence `json:"evidence,omitempty"`
}

// Reason is one stated fact about how Kueue treats a job.
type Reason struct {
	Code     string     `json:"code"`
	Message  string     `json:"message"`
	Evidence []Evidence `json:"evidence,omitempty"`
}
