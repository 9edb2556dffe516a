package message

import (
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// noFlavors is how the scheduler's message about a pod set begins, in Kueue's older words and its newer ones.
const noFlavors = "couldn't assign flavors to pod set "

// NoFlavors is the scheduler's message about one pod set, with the reasons of its flavors.
func NoFlavors(podSet, reasons string) string { return noFlavors + podSet + ": " + reasons }

var podSetPattern = regexp.MustCompile(`(?:` + noFlavors + `|failed to assign flavors to pod set )([^:]+): `)

// Meaning puts a condition into plain words; it is empty when the message has no known form.
func Meaning(c *metav1.Condition) []string {
	if c.Type == kueue.WorkloadEvicted && c.Status == metav1.ConditionTrue {
		return []string{Eviction(c)}
	}
	if all := wholes().scan(c.Message); len(all) > 0 {
		return []string{all[0].form.mean(all[0].Message)}
	}
	if out := perPodSet(c.Message); len(out) > 0 {
		return out
	}
	return ofDevices().means(c.Message)
}

// perPodSet reads the scheduler's message: a section per pod set, each with the reasons of its flavors.
func perPodSet(message string) []string {
	starts := podSetPattern.FindAllStringSubmatchIndex(message, -1)
	var out []string
	for i, s := range starts {
		end := len(message)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		name, section := message[s[2]:s[3]], message[s[1]:end]
		reasons := ofFlavors().means(section)
		if len(reasons) == 0 {
			reasons = []string{strings.TrimRight(section, "; ")}
		}
		for _, r := range reasons {
			if len(starts) > 1 || name != string(kueue.DefaultPodSetName) {
				r = "pod set " + name + ": " + r
			}
			out = append(out, r)
		}
	}
	return out
}

// means puts the parts of a text into plain words.
func (t *table) means(text string) []string {
	var out []string
	for _, f := range t.scan(text) {
		out = append(out, f.form.mean(f.Message))
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

// Eviction puts the condition Evicted into plain words.
func Eviction(c *metav1.Condition) string {
	if all := wholes().scan(c.Message); len(all) > 0 {
		return all[0].form.mean(all[0].Message)
	}
	if text, ok := evictions[c.Reason]; ok {
		return text
	}
	if c.Message != "" {
		return c.Message
	}
	return c.Reason
}
