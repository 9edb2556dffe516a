package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
)

// agreement compares what Kueue reported last with what it would say now. A message is of the last attempt: for a
// workload that is parked it may be of a time when others did not hold their quota yet, and it stays until the next
// attempt. Where that explains the difference the two agree, and the text is among those the condition may hold.
func (e *Explainer) agreement(x *Explanation) {
	r, d := x.Reported, x.Predicted
	if r.State == None || d.State == Unknown || d.State == None {
		return
	}
	agrees := true
	switch {
	case d.State == Admitted || d.State == QuotaReserved:
		agrees = r.State == d.State
		if !agrees && waits(x) {
			x.Inconsistencies = append(x.Inconsistencies, fitsByNow(x))
		}
	case !waits(x) && r.State != Inadmissible:
		agrees = r.State == d.State
	case r.Condition != kueue.WorkloadQuotaReserved || r.Message == "" || d.Message == "":
		return // nothing was said yet, or it is not known what would be
	case !says(r.Message)(d) && len(d.Possible) >= admission.MostPossible:
		return // not all that may be said is listed
	case !says(r.Message)(d):
		agrees = e.explained(x)
	}
	x.Agrees = &agrees
}

func waits(x *Explanation) bool {
	return x.Reported.State == Pending || x.Reported.State == None || x.Reported.State == Evicted
}

func fitsByNow(x *Explanation) string {
	if p := x.Position; p != nil && p.ClusterQueue > 1 {
		return fmt.Sprintf("it would fit now, but %d workload(s) wait before it", p.ClusterQueue-1)
	}
	return "it would fit now: Kueue's message is of an earlier attempt"
}

// uid is what a message names objects by; it differs where an object was made again.
var uid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// says tells of a decision whether it leaves a message.
func says(text string) func(*admission.Decision) bool {
	want := uid.ReplaceAllString(text, "*")
	return func(d *admission.Decision) bool {
		return uid.ReplaceAllString(d.Message, "*") == want ||
			slices.ContainsFunc(d.Possible, func(m string) bool { return uid.ReplaceAllString(m, "*") == want })
	}
}

// leftBehind are messages of moments that leave no trace in the objects: a parked workload may keep them.
var leftBehind = []message.Code{
	message.Preempted, message.NoLongerFits, message.OverlappingTargets, message.FitsAfterOverlap, message.Bypassed,
}

// explained tells why a message that is not what would be written now may stand there nonetheless.
func (e *Explainer) explained(x *Explanation) bool {
	text := x.Reported.Message
	said := message.Parse(text)
	if said.Is(message.PendingEvaluation) {
		x.keep(text, "it was not evaluated yet; an attempt now would say: "+x.Predicted.Message)
		return true
	}
	if said.Is(leftBehind...) {
		x.keep(text, "Kueue's message is of a moment that has passed; it stays until the workload is tried again")
		return true
	}
	before, known := x.common.earlier[text]
	if !known {
		before.later, before.found = e.engine.Earlier(x.Charge, says(text))
		x.common.earlier[text] = before
	}
	if !before.found {
		x.Inconsistencies = append(x.Inconsistencies, "Kueue's message is not what it would write for these objects "+
			"now: "+x.Predicted.Message)
		return false
	}
	x.keep(text, fmt.Sprintf("Kueue's message is of an attempt before %s got quota; now it would say: %s",
		named(before.later), x.Predicted.Message))
	return true
}

// keep adds a message that stands until the next attempt to those that may be read.
func (x *Explanation) keep(text, note string) {
	x.Inconsistencies = append(x.Inconsistencies, note)
	d := *x.Predicted
	if len(d.Possible) == 0 {
		d.Possible = []string{d.Message}
	}
	d.Possible = append(slices.Clone(d.Possible), text)
	x.Predicted = &d
}

func named(charges []*charge.Charge) string {
	const most = 3
	var out []string
	for i, c := range charges {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(charges)-most))
			break
		}
		out = append(out, c.Workload.Namespace+"/"+DisplayName(c))
	}
	return strings.Join(out, ", ")
}

// DisplayName is the name people know a workload by: its job's, where it has one.
func DisplayName(c *charge.Charge) string {
	if !c.Workload.OwnerRef.IsZero() {
		return c.Workload.OwnerRef.Name
	}
	return c.Workload.Name
}
