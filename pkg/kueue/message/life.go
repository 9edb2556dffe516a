package message

// Messages about the life of a workload: admission, deactivation, eviction.
const (
	QuotaReserved   Code = "QuotaReserved"
	Admitted        Code = "Admitted"
	Deactivated     Code = "Deactivated"
	Rejected        Code = "Rejected"
	Retried         Code = "Retried"
	Preempted       Code = "Preempted"
	OutOfSync       Code = "OutOfSync"
	Replaced        Code = "Replaced"
	DirectClaim     Code = "DirectClaim"
	DevicesDisabled Code = "DevicesDisabled"
)

// ofLife mirrors Kueue's workload controller, and preemptionMessage of its preemption package.
var ofLife = []form{
	{QuotaReserved, `Quota reserved in ClusterQueue {queue:.+}`, `ClusterQueue {queue} holds its quota`},
	{Admitted, `The workload is admitted`, `its pods may run`},
	{Deactivated, `The workload is deactivated`,
		`spec.active was set to false: it is not queued until it is true again`},
	{Rejected, `The workload is deactivated due to AdmissionCheck in Rejected state: {check:.*}`,
		`an admission check rejected it for good: {check}`},
	{Retried, `Evicted due to AdmissionCheck(s) in Retry state: {checks:.*}`,
		`an admission check asked to try again later: {checks}`},
	{Preempted, `Preempted to accommodate a workload (UID: {uid:[^,]+}, JobUID: {job:[^)]+}) due to {why:[^;]+}{paths:(?:;.*)?}`,
		`it was preempted for another workload, by {why}`},
	{OutOfSync, `The prebuilt workload is out of sync with its user job`,
		`the job no longer matches the Workload it was to use`},
	{Replaced, `Replaced to accommodate a new workload slice`, `a larger slice of the same job replaced it`},
	{DirectClaim, `{gate:KueueDRAIntegration|DynamicResourceAllocation} feature does not support use of resource claims`,
		`it uses a ResourceClaim directly; Kueue charges claim templates only`},
	{DevicesDisabled, `Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled`,
		`it uses resource claims, which this Kueue is configured not to handle`},
}
