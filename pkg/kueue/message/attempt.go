package message

// Messages of a scheduling attempt about a whole workload.
const (
	NamespaceNotFound   Code = "NamespaceNotFound"
	NamespaceUnreadable Code = "NamespaceUnreadable"
	RequestsAboveLimits Code = "RequestsAboveLimits"
	OutsideLimitRange   Code = "OutsideLimitRange"
	NoLongerFits        Code = "NoLongerFits"
	OverlappingTargets  Code = "OverlappingTargets"
	FitsAfterOverlap    Code = "FitsAfterOverlap"
	PreemptionGated     Code = "PreemptionGated"
	FailedChecks        Code = "FailedChecks"
	FailedToAdmit       Code = "FailedToAdmit"
	AdmissionGated      Code = "AdmissionGated"
	GatesCleared        Code = "GatesCleared"
	OnHold              Code = "OnHold"
	PendingEvaluation   Code = "PendingEvaluation"
	Bypassed            Code = "Bypassed"
	WaitingForPodsReady Code = "WaitingForPodsReady"
)

// ofAttempts mirrors nominate, ValidateAdmissibility and schedule of Kueue's scheduler.
var ofAttempts = []form{
	{NamespaceNotFound, `workload namespace "{namespace:[^"]*}" does not exist{rest:.*}`,
		`its namespace {namespace} does not exist`},
	{NamespaceUnreadable, `Could not obtain workload namespace{rest:.*}`, `Kueue could not read its namespace`},
	{RequestsAboveLimits, `resources validation failed: {detail:.*}`, `a container requests more than its limit`},
	{OutsideLimitRange, `resources didn't satisfy LimitRange constraints: {detail:.*}`,
		`the requests break a LimitRange of the namespace`},
	{NoLongerFits, `Workload no longer fits after processing another workload`,
		`it would have fitted, but a workload admitted just before it took the quota; it is tried again`},
	{OverlappingTargets, `Workload has overlapping preemption targets with another workload`,
		`it would preempt workloads that another one preempts too; it is tried again`},
	{FitsAfterOverlap, `Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete`,
		`it fits once workloads being preempted for another one are gone`},
	{PreemptionGated, `Workload requires preemption, but it's gated`,
		`it would have to preempt, which a preemption gate forbids for now`},
	{FailedChecks, `The workload has failed admission checks`, `an admission check failed`},
	{FailedToAdmit, `Failed to admit workload: {detail:.*}`, `Kueue could not write the admission; it is tried again`},
	{AdmissionGated, `Admission is gated by: {gates:.+}`,
		`it waits for {gates} to be taken off the annotation kueue.x-k8s.io/admission-gated-by`},
	{GatesCleared, `AdmissionGatedBy cleared, waiting for quota reservation`,
		`its gates are open; it waits for its turn`},
	{OnHold, `Job is on hold`, `the job is on hold`},
	{PendingEvaluation, `Workload is pending evaluation in the scheduling queue`, `it was not evaluated yet`},
	{Bypassed, `Bypassed scheduling evaluation because an equivalent workload recently failed`,
		`it was not evaluated: an equal workload failed, so it would too`},
	{WaitingForPodsReady, `waiting for all admitted workloads to be in PodsReady condition`,
		`Kueue admits nothing until the pods of every admitted workload are ready (waitForPodsReady.blockAdmission)`},
}
