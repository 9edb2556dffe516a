package report

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// verdict is the first line of an explanation: `Job team-a/train is PENDING in …`.
type verdict struct {
	verb, word string
	role       role
	rest       string
}

// stateLooks are the words for what Kueue reported.
var stateLooks = map[explain.State]struct {
	word  string
	role  role
	since string
}{
	explain.Admitted:      {"ADMITTED", good, "since"},
	explain.QuotaReserved: {"RESERVED", waiting, "since"},
	explain.Pending:       {"PENDING", waiting, "waiting"},
	explain.Inadmissible:  {"INADMISSIBLE", bad, "for"},
	explain.Evicted:       {"EVICTED", waiting, "for"},
	explain.Finished:      {"FINISHED", faint, "since"},
	explain.Deactivated:   {"DEACTIVATED", bad, "for"},
}

// unmadeLooks are the words for a job without a Workload object.
var unmadeLooks = map[workload.State]verdict{
	workload.Unmanaged:  {"is", "NOT MANAGED", faint, " by Kueue: it runs outside of quota and is charged nothing"},
	workload.Stuck:      {"is", "STUCK", bad, ": it is held back, but Kueue never makes a Workload for it"},
	workload.Incomplete: {"is", "INCOMPLETE", waiting, ": Kueue waits for more before it makes a Workload"},
	workload.Elsewhere: {"is", "CHARGED ELSEWHERE", normal, ": its pods are charged through the Workload of another " +
		"object"},
	workload.Rejected: {"would be", "REJECTED", bad, ": a webhook of Kueue refuses the object at its creation"},
}

func headline(x *explain.Explanation, now time.Time) verdict {
	c := x.Charge
	if c.Workload != nil && x.Reported.State == explain.None {
		if v, ok := unmadeLooks[c.Workload.State]; ok {
			return v
		}
	}
	if c.Verdict == charge.Unknown {
		return verdict{"", "UNKNOWN", faint, " — its charge cannot be told from this input" + reportedAs(x, now)}
	}
	if x.Reported.State == explain.None {
		return expected(x)
	}
	shown := stateLooks[x.Reported.State]
	extra := age(x.Reported.Since, now, shown.since)
	if p := x.Position; p != nil && p.Certain {
		extra = strings.TrimSuffix(fmt.Sprintf("position %d, %s", p.ClusterQueue, extra), ", ")
	}
	v := verdict{"is", shown.word, shown.role, inQueue(c, extra)}
	if c.Verdict == charge.Inadmissible &&
		(x.Reported.State == explain.Pending || x.Reported.State == explain.Inadmissible) {
		v.word, v.role = "INADMISSIBLE", bad
		v.rest += retried(c)
		return v
	}
	if x.Reported.State == explain.Pending || x.Reported.State == explain.Inadmissible {
		v.rest += wouldNext[x.Predicted.State]
	}
	return v
}

// wouldNext is added where a waiting workload would get its quota as things stand now.
var wouldNext = map[explain.State]string{
	explain.Admitted:      "; its next attempt would admit it",
	explain.QuotaReserved: "; its next attempt would reserve its quota",
	explain.Preempts:      "; its next attempt would preempt others for it",
}

// expectedLooks are the words for what the next scheduling attempt would decide.
var expectedLooks = map[explain.State]verdict{
	explain.Admitted:      {"would be", "ADMITTED", good, ""},
	explain.QuotaReserved: {"would get its quota", "RESERVED", good, " and wait for admission checks"},
	explain.Preempts:      {"would be", "ADMITTED AFTER PREEMPTION", waiting, ""},
	explain.Pending:       {"would be", "PENDING", waiting, ""},
	explain.Inadmissible:  {"would be", "INADMISSIBLE", bad, ""},
	explain.Deactivated:   {"is", "DEACTIVATED", bad, ""},
}

// expected is the first line for a job that has no Workload yet.
func expected(x *explain.Explanation) verdict {
	c := x.Charge
	if c.Verdict == charge.Inadmissible {
		return verdict{"would be", "INADMISSIBLE", bad, inQueue(c, "") + retried(c)}
	}
	v, ok := expectedLooks[x.Predicted.State]
	if !ok {
		return verdict{"would be", "CHARGED", normal, inQueue(c, "") +
			" as follows; whether it is admitted cannot be told" + lacking(x)}
	}
	extra := ""
	if p := x.Position; p != nil && p.Certain {
		extra = fmt.Sprintf("position %d", p.ClusterQueue)
	}
	v.rest = inQueue(c, extra) + v.rest
	if x.Predicted.Borrows && (x.Predicted.State == explain.Admitted || x.Predicted.State == explain.Preempts) {
		v.rest += ", by borrowing from its cohort"
	}
	return v
}

func lacking(x *explain.Explanation) string {
	if len(x.Predicted.Missing) == 0 {
		return ""
	}
	return " (not in the input: " + strings.Join(x.Predicted.Missing, ", ") + ")"
}

func retried(c *charge.Charge) string {
	for _, p := range c.Problems {
		if !p.Retryable {
			return " and will not be retried until something changes"
		}
	}
	return "; Kueue tries again by itself"
}

// inQueue is ` in ClusterQueue a (LocalQueue b, waiting 14m)`.
func inQueue(c *charge.Charge, extra string) string {
	var inside []string
	if c.Workload != nil && c.Workload.Queue != "" {
		inside = append(inside, "LocalQueue "+c.Workload.Queue)
	}
	if extra != "" {
		inside = append(inside, extra)
	}
	text := ""
	if c.ClusterQueue != "" {
		text = " in ClusterQueue " + c.ClusterQueue
	}
	if len(inside) > 0 {
		text += " (" + strings.Join(inside, ", ") + ")"
	}
	return text
}

func reportedAs(x *explain.Explanation, now time.Time) string {
	shown, ok := stateLooks[x.Reported.State]
	if !ok {
		return ""
	}
	return fmt.Sprintf("; Kueue reported it %s%s", strings.ToLower(shown.word), ago(x.Reported.Since, now))
}

// age is `waiting 14m`; empty when there is no clock, or one that runs behind. The time itself is told
// with Kueue's words.
func age(since, now time.Time, word string) string {
	switch {
	case since.IsZero() || now.IsZero() || since.After(now):
		return ""
	case word == "since":
		return "since " + duration.HumanDuration(now.Sub(since)) + " ago"
	}
	return word + " " + duration.HumanDuration(now.Sub(since))
}

// ago is ` 14m ago`, or the time itself.
func ago(since, now time.Time) string {
	switch {
	case since.IsZero():
		return ""
	case now.IsZero() || since.After(now):
		return " at " + since.UTC().Format(time.RFC3339)
	}
	return " " + duration.HumanDuration(now.Sub(since)) + " ago"
}
