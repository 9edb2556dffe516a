// Texts and reasons. Mirrors pkg/scheduler/flavorassigner (Status, Message) and pkg/workload (reasons of conditions).

package admission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

const jobUIDLabel = "kueue.x-k8s.io/job-uid"

// MostPossible bounds the texts listed for an attempt where a version leaves the choice to chance: as many are not all.
const MostPossible = 512

// choice is one place in a message that may read in several ways: each a set of reasons.
type choice [][]string

// certain is a choice that reads in one way only.
func certain(reasons ...string) choice { return choice{reasons} }

// text is the reasons of one pod set: of each choice one reading, sorted and joined.
type text []choice

// status is what an assignment says of a pod set: one of several texts, of which the first is the fullest.
type status []text

func (s status) empty() bool {
	for _, t := range s {
		for _, c := range t {
			for _, reasons := range c {
				if len(reasons) > 0 {
					return false
				}
			}
		}
	}
	return true
}

// readings lists every way the status may read, the fullest first, each once.
func (s status) readings() []string {
	var out []string
	for _, t := range s {
		all := [][]string{nil}
		for _, c := range t {
			var next [][]string
			for _, sofar := range all {
				for _, reasons := range c {
					if len(next) < MostPossible {
						next = append(next, append(slices.Clone(sofar), reasons...))
					}
				}
			}
			all = next
		}
		for _, reasons := range all {
			slices.Sort(reasons)
			if joined := strings.Join(reasons, ", "); !slices.Contains(out, joined) && len(out) < MostPossible {
				out = append(out, joined)
			}
		}
	}
	return out
}

// messages lists every message the assignment may leave behind, the fullest first.
func (a *assignment) messages() []string {
	all := []string{""}
	for i := range a.sets {
		ps := &a.sets[i]
		if ps.status.empty() {
			continue
		}
		var next []string
		for _, sofar := range all {
			if sofar != "" {
				sofar += "; "
			}
			for _, reading := range ps.status.readings() {
				if len(next) < MostPossible {
					next = append(next, sofar+message.NoFlavors(ps.name, reading))
				}
			}
		}
		all = next
	}
	return all
}

// Granular reasons of the QuotaReserved condition.
const (
	reasonNoMatchingFlavor  = "NoMatchingFlavor"
	reasonExceedsMaxQuota   = "ExceedsMaxQuota"
	reasonWaitingForQuota   = "WaitingForQuota"
	reasonWaitingForVictims = "WaitingForPreemptedWorkloads"
	reasonMisconfigured     = "Misconfigured"
	reasonSuspended         = "Suspended"
	reasonPendingEvaluation = "PendingEvaluation"
	reasonWaitingForPods    = "WaitingForPodsReady"
	reasonDeactivated       = "Deactivated"
	reasonAdmissionGated    = "AdmissionGated"
	reasonOnHold            = "OnHold"
	reasonPending           = "Pending"
	reasonInadmissible      = "Inadmissible"
	reasonWaiting           = "Waiting"
	reasonQuotaReserved     = "QuotaReserved"
)

// severity orders granular reasons of NoFit.
var severity = map[string]int{reasonWaitingForQuota: 2, reasonExceedsMaxQuota: 3, reasonNoMatchingFlavor: 4}

func moreSevere(a, b string) string {
	if severity[a] >= severity[b] {
		return a
	}
	return b
}

// granular picks the reason the version writes: the fine one, or the coarse one of versions and gates before it.
func (s *scheduler) granular(fine, coarse string) string {
	if s.behavior.GranularReasons && fine != "" {
		return fine
	}
	return coarse
}

// noFitReason rolls the reasons of all flavors up: of alternatives the least severe counts, of what is needed together
// the most severe. In an arbitrary order a resource that is not covered may be met first; then nothing was tried.
func (a *assignment) noFitReason(anyOrder bool) string {
	overall := ""
	for i := range a.sets {
		ps := &a.sets[i]
		if ps.mode() != NoFit {
			continue
		}
		if len(ps.attempts) == 0 || ps.uncovered && len(ps.status) > 0 && anyOrder {
			overall = moreSevere(overall, reasonNoMatchingFlavor)
			continue
		}
		least := map[int]string{}
		for _, at := range ps.attempts {
			if at.Mode != NoFit {
				continue
			}
			if old, ok := least[at.group]; !ok || severity[at.reason] < severity[old] {
				least[at.group] = at.reason
			}
		}
		for _, r := range least {
			overall = moreSevere(overall, r)
		}
	}
	return overall
}

// tooMuch says that a pod set asks for more than a flavor can ever give.
func (s *scheduler) tooMuch(fr quota.FlavorResource, before, asked, most quota.Amount) string {
	return message.Of(message.AboveMaximum, string(fr.Resource), fr.Flavor,
		s.amount(fr, before), s.format.Format(fr.Resource, int64(asked)), s.amount(fr, most)).Text()
}

// preemptionWords are Kueue's words for the reasons of the Preempted condition.
var preemptionWords = map[string]string{
	inClusterQueue:      "prioritization in the ClusterQueue",
	inCohort:            "reclamation within the cohort",
	inCohortFairly:      "Fair Sharing within the cohort",
	inCohortByBorrowing: "reclamation within the cohort while borrowing",
}

// preemptionMessage is what the conditions of a victim say.
func preemptionMessage(preemptor *schedulerWorkload, t target) string {
	w := preemptor.charge.Workload
	job := ""
	if w.Record != nil {
		job = w.Record.Meta.Labels[jobUIDLabel]
	}
	paths := fmt.Sprintf(
		"; preemptor path: %s; preemptee path: %s",
		path(preemptor.queue.node),
		path(t.workload.held.queue.node),
	)
	uid := cmp.Or(preemptor.uid, "UNKNOWN")
	return message.Of(message.Preempted, uid, cmp.Or(job, "UNKNOWN"), preemptionWords[t.reason], paths).
		Text()
}

// path of a queue in its tree: /root/…/queue.
func path(n *quota.Node) string {
	out := "/" + n.Name
	for a := range n.Ancestors() {
		out = "/" + a.Name + out
	}
	return out
}

// flavorsUsed says which flavor serves which resources.
func flavorsUsed(sets []PodSet) string {
	var out []string
	for _, ps := range sets {
		by := map[string][]string{}
		for _, name := range sortedKeys(ps.Flavors) {
			by[ps.Flavors[name]] = append(by[ps.Flavors[name]], string(name))
		}
		for _, f := range slices.Sorted(maps.Keys(by)) {
			out = append(out, fmt.Sprintf("%s: %s in %s", ps.Name, strings.Join(by[f], ", "), f))
		}
	}
	return strings.Join(out, "; ")
}
