package message

// Reasons for which a pod set gets no flavor.
const (
	AboveMaximumAlone Code = "AboveMaximumAlone" // read only: as AboveMaximum, and no pod set was before it
	AboveMaximum      Code = "AboveMaximum"
	NotEnoughUnused   Code = "NotEnoughUnused"
	NotCovered        Code = "NotCovered"
	UntoleratedTaint  Code = "UntoleratedTaint"
	NodeAffinity      Code = "NodeAffinity"
	FlavorNotFound    Code = "FlavorNotFound"
	NotNominated      Code = "NotNominated"
	NotAllowed        Code = "NotAllowed"
	OtherThanReplaced Code = "OtherThanReplaced"
	TopologyFull      Code = "TopologyFull"
	TopologyShort     Code = "TopologyShort"
	NoTopology        Code = "NoTopology"
	OnlyTopology      Code = "OnlyTopology"
	NoTopologyLevel   Code = "NoTopologyLevel"
	PendingPreemption Code = "PendingPreemption"
	PreemptionFailed  Code = "PreemptionFailed"
	PendingMigration  Code = "PendingMigration"
)

// flavorParts mirrors Kueue's flavorassigner (fitsResourceQuota, checkFlavorForPodSets, findFlavorForPodSets) and what
// its scheduler appends. They are searched for, never split at commas: the reasons hold commas themselves.
var flavorParts = []form{
	{AboveMaximumAlone, `insufficient quota for {resource} in flavor {flavor:[^,]+}, previously considered podsets requests (0) + ` +
		`current podset request ({asked:[^)]*}) > maximum capacity ({most:[^)]*})`,
		`{resource}: asks for {asked}, but flavor {flavor} can never give this queue more than {most}`},
	{AboveMaximum, `insufficient quota for {resource} in flavor {flavor:[^,]+}, previously considered podsets requests ({before:[^)]*}) + ` +
		`current podset request ({asked:[^)]*}) > maximum capacity ({most:[^)]*})`,
		`{resource}: asks for {asked} on top of {before} for the pod sets before it, but flavor {flavor} can never give this queue more than {most}`},
	{NotEnoughUnused, `insufficient unused quota for {resource} in flavor {flavor:[^,]+}, {short} more needed`,
		`{resource}: flavor {flavor} was short by {short}`},
	{NotCovered, `resource {resource} unavailable in ClusterQueue`,
		`{resource}: no resource group of the ClusterQueue covers it`},
	{UntoleratedTaint, `untolerated taint {taint:\x7b[^\x7d]*\x7d} in flavor {flavor:[^,;]+}`,
		`flavor {flavor} has the taint {taint}, which the pods do not tolerate`},
	{NodeAffinity, `flavor {flavor:[^ ]+} doesn't match node affinity`,
		`flavor {flavor}: its node labels do not match the pods' node selector or affinity`},
	{FlavorNotFound, `flavor {flavor:[^ ]+} not found`, `ResourceFlavor {flavor} does not exist`},
	{NotNominated, `skipping flavor {flavor} as it is not found in the nomination mapping for resource {resource}`,
		`flavor {flavor} was not nominated for {resource}`},
	{NotAllowed, `skipping flavor {flavor} due to WorkloadAllowedResourceFlavorAnnotation annotation`,
		`flavor {flavor} is not among the flavors this workload's annotation allows`},
	{OtherThanReplaced, `could not assign {flavor} flavor since the original workload is assigned: {other:\S*}`,
		`flavor {flavor} differs from {other}, which the workload it replaces holds`},
	{TopologyFull, `topology "{topology:[^"]+}" doesn't allow to fit any of {count:\d+} {what:pod|slice}(s)`,
		`topology {topology} has no room for any of the {count} {what}s`},
	{TopologyShort, `topology "{topology:[^"]+}" allows to fit only {fit:\d+} out of {count:\d+} {what:pod|slice}(s)`,
		`topology {topology} has room for {fit} of the {count} {what}s`},
	{NoTopology, `Flavor "{flavor:[^"]+}" does not support TopologyAwareScheduling`,
		`flavor {flavor} has no topology, which the pods ask for`},
	{OnlyTopology, `Flavor "{flavor:[^"]+}" supports only TopologyAwareScheduling`,
		`flavor {flavor} is only for workloads placed by topology`},
	{NoTopologyLevel, `Flavor "{flavor:[^"]+}" does not contain the requested level`,
		`the topology of flavor {flavor} does not have the level the pods ask for`},
	{PendingPreemption, `. Pending the preemption of {count:\d+} workload(s)`,
		`it waits for {count} preempted workload(s) to go`},
	{PreemptionFailed, `. Preempting {count:\d+} workload(s) failed, will retry.`,
		`preempting {count} workload(s) failed; Kueue tries again`},
	{PendingMigration, `. Pending the migration of {count:\d+} workload(s)`,
		`it waits for {count} workload(s) to migrate to another flavor`},
}
