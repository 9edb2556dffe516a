package explain

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// phrase is one form of message and what it means. Groups of the pattern are available as $1, $2 ….
type phrase struct {
	pattern *regexp.Regexp
	means   string
}

func phrases(pairs ...string) []phrase {
	out := make([]phrase, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, phrase{regexp.MustCompile(pairs[i]), pairs[i+1]})
	}
	return out
}

// parts are the forms found inside the scheduler's message about one pod set. They are searched for,
// never split at commas: the reasons hold commas themselves.
var parts = onceFor(
	`insufficient quota for (\S+) in flavor ([^,]+), previously considered podsets requests \(0\) \+ current podset request \(([^)]*)\) > maximum capacity \(([^)]*)\)`,
	`$1: asks for $3, but flavor $2 can never give this queue more than $4`,
	`insufficient quota for (\S+) in flavor ([^,]+), previously considered podsets requests \(([^)]*)\) \+ current podset request \(([^)]*)\) > maximum capacity \(([^)]*)\)`,
	`$1: asks for $4 on top of $3 for the pod sets before it, but flavor $2 can never give this queue more than $5`,
	`insufficient unused quota for (\S+) in flavor ([^,]+), (\S+) more needed`,
	`$1: flavor $2 was short by $3`,
	`resource (\S+) unavailable in ClusterQueue`,
	`$1: no resource group of the ClusterQueue covers it`,
	`untolerated taint (\{[^}]*\}) in flavor ([^,;]+)`,
	`flavor $2 has the taint $1, which the pods do not tolerate`,
	`flavor ([^ ]+) doesn't match node affinity`,
	`flavor $1: its node labels do not match the pods' node selector or affinity`,
	`flavor ([^ ]+) not found`,
	`ResourceFlavor $1 does not exist`,
	`skipping flavor (\S+) as it is not found in the nomination mapping for resource (\S+)`,
	`flavor $1 was not nominated for $2`,
	`skipping flavor (\S+) due to WorkloadAllowedResourceFlavorAnnotation annotation`,
	`flavor $1 is not among the flavors this workload's annotation allows`,
	`could not assign (\S+) flavor since the original workload is assigned: (\S*)`,
	`flavor $1 differs from $2, which the workload it replaces holds`,
	`topology "([^"]+)" doesn't allow to fit any of (\d+) (pod|slice)\(s\)`,
	`topology $1 has no room for any of the $2 ${3}s`,
	`topology "([^"]+)" allows to fit only (\d+) out of (\d+) (pod|slice)\(s\)`,
	`topology $1 has room for $2 of the $3 ${4}s`,
	`Flavor "([^"]+)" does not support TopologyAwareScheduling`,
	`flavor $1 has no topology, which the pods ask for`,
	`Flavor "([^"]+)" supports only TopologyAwareScheduling`,
	`flavor $1 is only for workloads placed by topology`,
	`Flavor "([^"]+)" does not contain the requested level`,
	`the topology of flavor $1 does not have the level the pods ask for`,
	`\. Pending the preemption of (\d+) workload\(s\)$`,
	`it waits for $1 preempted workload(s) to go`,
	`\. Preempting (\d+) workload\(s\) failed, will retry\.$`,
	`preempting $1 workload(s) failed; Kueue tries again`,
	`\. Pending the migration of (\d+) workload\(s\)$`,
	`it waits for $1 workload(s) to migrate to another flavor`,
)

// wholes are the messages that are one sentence.
var wholes = onceFor(
	`^Quota reserved in ClusterQueue (.+)$`, `ClusterQueue $1 holds its quota`,
	`^The workload is admitted$`, `its pods may run`,
	`^LocalQueue  doesn't exist$`, `it names no LocalQueue; set the label kueue.x-k8s.io/queue-name on the job`,
	`^LocalQueue (\S+) doesn't exist$`, `its namespace has no LocalQueue $1`,
	`^LocalQueue (\S+) is inactive$`, `LocalQueue $1 is stopped, or its ClusterQueue cannot admit`,
	`^LocalQueue (\S+) is stopped$`, `LocalQueue $1 was stopped (spec.stopPolicy)`,
	`^LocalQueue (\S+) is terminating or missing$`, `LocalQueue $1 is being deleted or is gone`,
	`^ClusterQueue (\S+) (?:doesn't exist|not found)$`, `there is no ClusterQueue $1`,
	`^ClusterQueue (\S+) is inactive$`, `ClusterQueue $1 admits nothing now: it is stopped, or a flavor or admission check it names is missing`,
	`^ClusterQueue (\S+) is stopped$`, `ClusterQueue $1 was stopped (spec.stopPolicy)`,
	`^ClusterQueue (\S+) is terminating or missing$`, `ClusterQueue $1 is being deleted or is gone`,
	`^The ClusterQueue is stopped$`, `its ClusterQueue was stopped and drained (spec.stopPolicy)`,
	`^The LocalQueue is stopped$`, `its LocalQueue was stopped and drained (spec.stopPolicy)`,
	`^(?i:workload) namespace doesn't match ClusterQueue selector$`, `the ClusterQueue's namespaceSelector does not select its namespace`,
	`^workload namespace "([^"]*)" does not exist`, `its namespace $1 does not exist`,
	`^Could not obtain workload namespace`, `Kueue could not read its namespace`,
	`^resources validation failed: `, `a container requests more than its limit`,
	`^resources didn't satisfy LimitRange constraints: `, `the requests break a LimitRange of the namespace`,
	`^Workload no longer fits after processing another workload$`, `it would have fitted, but a workload admitted just before it took the quota; it is tried again`,
	`^Workload has overlapping preemption targets with another workload$`, `it would preempt workloads that another one preempts too; it is tried again`,
	`^Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete$`, `it fits once workloads being preempted for another one are gone`,
	`^Workload requires preemption, but it's gated$`, `it would have to preempt, which a preemption gate forbids for now`,
	`^The workload has failed admission checks$`, `an admission check failed`,
	`^Failed to admit workload: `, `Kueue could not write the admission; it is tried again`,
	`^Admission is gated by: (.+)$`, `it waits for $1 to be taken off the annotation kueue.x-k8s.io/admission-gated-by`,
	`^AdmissionGatedBy cleared, waiting for quota reservation$`, `its gates are open; it waits for its turn`,
	`^Job is on hold$`, `the job is on hold`,
	`^Workload is pending evaluation in the scheduling queue$`, `it was not evaluated yet`,
	`^Bypassed scheduling evaluation because an equivalent workload recently failed$`, `it was not evaluated: an equal workload failed, so it would too`,
	`^waiting for all admitted workloads to be in PodsReady condition$`, `Kueue admits nothing until the pods of every admitted workload are ready (waitForPodsReady.blockAdmission)`,
	`^The workload is deactivated$`, `spec.active was set to false: it is not queued until it is true again`,
	`^The workload is deactivated due to AdmissionCheck in Rejected state: (.*)$`, `an admission check rejected it for good: $1`,
	`^Evicted due to AdmissionCheck\(s\) in Retry state: (.*)$`, `an admission check asked to try again later: $1`,
	`^Preempted to accommodate a workload \(.*\) due to ([^;]+)(?:;|$)`, `it was preempted for another workload, by $1`,
	`^The prebuilt workload is out of sync with its user job$`, `the job no longer matches the Workload it was to use`,
	`^Replaced to accommodate a new workload slice$`, `a larger slice of the same job replaced it`,
	`^KueueDRAIntegration feature does not support use of resource claims$`, `it uses a ResourceClaim directly; Kueue charges claim templates only`,
	`^DynamicResourceAllocation feature does not support use of resource claims$`, `it uses a ResourceClaim directly; Kueue charges claim templates only`,
	`^Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled$`, `it uses resource claims, which this Kueue is configured not to handle`,
)

// detailed are the messages about devices: field errors, of which the part that matters is searched for.
var detailed = onceFor(
	`DeviceClass (\S+) is not mapped in DRA configuration for podset (\S+?)"`, `DeviceClass $1 is not mapped to a quota resource (pod set $2)`,
	`insufficient matching devices for CEL selector in DeviceClass (\S+): (\d+) device\(s\) match in the cluster but (\d+) requested`, `DeviceClass $1: $2 devices match the selectors, $3 are requested`,
	`insufficient matching devices for (counter|capacity) driver: (\d+) device\(s\) match[^0-9]*(\d+) requested`, `$2 devices of the $1 source's driver match, $3 are requested`,
	`failed to get claim spec for ResourceClaimTemplate (\S+) in podset (\S+?):`, `ResourceClaimTemplate $1 of pod set $2 cannot be read`,
	`ResourceClaimTemplate (\S+): FirstAvailable device selection is not supported`, `ResourceClaimTemplate $1 uses firstAvailable, which Kueue cannot charge`,
	`ResourceClaimTemplate (\S+): AllocationMode 'All' is not supported`, `ResourceClaimTemplate $1 asks for all devices, which Kueue cannot charge`,
	`ResourceClaimTemplate (\S+): AdminAccess is not supported`, `ResourceClaimTemplate $1 asks for admin access, which this Kueue refuses`,
	`extended resource (\S+) resolves to DeviceClass (\S+) with (counters|capacity sources) configured`, `$1 resolves to DeviceClass $2, which is charged by sources; use a ResourceClaimTemplate instead`,
	`CEL evaluation failed for DeviceClass (\S+):`, `a selector for DeviceClass $1 fails on a device`,
	`CEL evaluation error in (deviceSelector|DeviceClass selector|request selector) for device (\S+?):`, `the $1 fails on device $2`,
	`CEL compilation failed`, `a CEL selector does not compile`,
	`failed to get DeviceClass (\S+)`, `DeviceClass $1 cannot be read`,
	`has invalid CEL selector`, `a DeviceClass has a CEL selector that does not compile`,
	`matched devices have no (?:consumesCounters entry for counter|capacity dimension) "([^"]+)"`, `the devices that match do not publish "$1"`,
	`capacity request cannot be satisfied by any matched device`, `no device that matches can give the capacity asked for`,
	`extended resource quantity must be an integer`, `an extended resource is asked for in a fraction`,
)

var podSetPattern = onceFor(`(?:couldn't|failed to) assign flavors to pod set ([^:]+): `, `$1`)

// meaning puts a condition into plain words; it is empty when the message has no known form.
func meaning(c *metav1.Condition) []string {
	if c.Type == kueue.WorkloadEvicted && c.Status == metav1.ConditionTrue {
		return []string{evictionMeaning(c)}
	}
	for _, p := range wholes() {
		if m := p.pattern.FindStringSubmatchIndex(c.Message); m != nil {
			return []string{string(p.pattern.ExpandString(nil, p.means, c.Message, m))}
		}
	}
	if out := perPodSet(c.Message); len(out) > 0 {
		return out
	}
	return scan(c.Message, detailed())
}

// perPodSet reads the scheduler's message: a section per pod set, each with the reasons of its flavors.
func perPodSet(message string) []string {
	head := podSetPattern()[0].pattern
	starts := head.FindAllStringSubmatchIndex(message, -1)
	var out []string
	for i, s := range starts {
		end := len(message)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		name, section := message[s[2]:s[3]], message[s[1]:end]
		found := scan(section, parts())
		if len(found) == 0 {
			found = []string{strings.TrimRight(section, "; ")}
		}
		for _, f := range found {
			if len(starts) > 1 || name != string(kueue.DefaultPodSetName) {
				f = "pod set " + name + ": " + f
			}
			out = append(out, f)
		}
	}
	return out
}

// scan finds every part of a text that a phrase matches, in the order of the text. Where matches
// overlap the first one counts, and of two at one place the earlier phrase of the table.
func scan(text string, table []phrase) []string {
	type found struct {
		at    []int
		order int
	}
	var all []found
	for order, p := range table {
		for _, at := range p.pattern.FindAllStringSubmatchIndex(text, -1) {
			all = append(all, found{at, order})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(a.at[0], b.at[0]), cmp.Compare(a.order, b.order)) })
	var out []string
	end := 0
	for _, f := range all {
		if f.at[0] < end {
			continue
		}
		p := table[f.order]
		out = append(out, string(p.pattern.ExpandString(nil, p.means, text, f.at)))
		end = f.at[1]
	}
	return out
}

// evictions maps the reason of Evicted=True to its meaning, for those whose message does not tell.
var evictions = map[string]string{
	"PodsReadyTimeout":        "its pods were not ready in time",
	"NodeFailures":            "nodes it ran on failed",
	"FlavorMigration":         "it moves to a flavor it prefers",
	"EvictedOnManagerCluster": "the manager cluster evicted it",
	"ClusterQueueStopped":     "its ClusterQueue was stopped and drained (spec.stopPolicy)",
	"LocalQueueStopped":       "its LocalQueue was stopped and drained (spec.stopPolicy)",
}

func evictionMeaning(c *metav1.Condition) string {
	for _, p := range wholes() {
		if m := p.pattern.FindStringSubmatchIndex(c.Message); m != nil {
			return string(p.pattern.ExpandString(nil, p.means, c.Message, m))
		}
	}
	if text, ok := evictions[c.Reason]; ok {
		return text
	}
	if c.Message != "" {
		return c.Message
	}
	return c.Reason
}
