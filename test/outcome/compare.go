package outcome

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Difference is one thing about which Kueue and the program disagree.
type Difference struct {
	// About is a Workload, a ClusterQueue or "timeline"; Aspect says what of it.
	About, Aspect  string
	Kueue, Program string
}

// String puts the two answers below each other.
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s\n    kueue   %s\n    program %s", d.About, d.Aspect, d.Kueue, d.Program)
}

// CompareAny compares the program's result with all that Kueue was seen to decide. Where chance decides in
// Kueue, one of the answers must be the program's; the differences are those from the closest.
func CompareAny(kueue []*Result, program *Result) []Difference {
	var closest []Difference
	for i, answer := range kueue {
		differences := Compare(answer, program)
		if len(differences) == 0 {
			return nil
		}
		if i == 0 || len(differences) < len(closest) {
			closest = differences
		}
	}
	return closest
}

// Compare compares the end state of Workloads and queues, the order of admissions and preemptions, and the
// decisions about single Workloads, where both sides have them.
func Compare(kueue, program *Result) []Difference {
	c := &comparison{}
	if kueue.Unsettled || program.Unsettled {
		c.same("run", "settles", fmt.Sprint(!kueue.Unsettled), fmt.Sprint(!program.Unsettled))
		return c.found
	}
	if circling(kueue.Timeline) &&
		slices.ContainsFunc(program.Workloads,
			func(w Workload) bool { return strings.Contains(w.Message, "round in circles") }) {
		return nil // both say that there is no end: where one stops looking is not a result
	}
	c.workloads(kueue.Workloads, program.Workloads)
	c.queues(kueue.ClusterQueues, program.ClusterQueues)
	c.same("timeline", "admissions and preemptions, cycle by cycle", Moves(kueue.Timeline), Moves(program.Timeline))
	if program.Next != nil {
		c.next(kueue.Next, program.Next)
	}
	return c.found
}

type comparison struct{ found []Difference }

func (c *comparison) same(about, aspect, kueue, program string) {
	if kueue != program {
		c.found = append(c.found, Difference{About: about, Aspect: aspect, Kueue: kueue, Program: program})
	}
}

func (c *comparison) workloads(kueue, program []Workload) {
	byName := map[Reference]Workload{}
	for _, wl := range program {
		byName[wl.Workload] = wl
	}
	for _, want := range kueue {
		about := want.Workload.String()
		got, ok := byName[want.Workload]
		if !ok {
			c.same(about, "is in the result", "yes", "no")
			continue
		}
		c.same(about, "state", want.standing(), got.standing())
		c.same(about, "pod sets", DescribePodSets(want.PodSets), DescribePodSets(got.PodSets))
		c.same(about, "reason", want.Reason, got.Reason)
		c.message(about, "message", want.messages(), got.messages())
	}
}

// standing does not tell Pending from Inadmissible: the reason and the message say more about a Workload that waits.
func (w Workload) standing() string {
	if w.State == "Inadmissible" {
		return "Pending"
	}
	return w.State
}

// messages are all that the Workload may be left with.
func (w Workload) messages() []string {
	if len(w.PossibleMessages) > 0 {
		return w.PossibleMessages
	}
	return []string{w.Message}
}

// message holds the program to every message that Kueue was seen to write. It may name more.
func (c *comparison) message(about, aspect string, kueue, program []string) {
	for _, message := range kueue {
		if !slices.Contains(program, message) {
			c.same(about, aspect, message, strings.Join(program, "\n         or ")+" ")
		}
	}
}

func (c *comparison) queues(kueue, program []ClusterQueue) {
	byName := map[string]ClusterQueue{}
	for _, queue := range program {
		byName[queue.Name] = queue
	}
	for _, want := range kueue {
		got := byName[want.Name]
		about := "ClusterQueue " + want.Name
		c.same(about, "usage", describeUsage(want.Usage), describeUsage(got.Usage))
		c.same(about, "pending", fmt.Sprint(want.Pending), fmt.Sprint(got.Pending))
		c.same(about, "admitted", fmt.Sprint(want.Admitted), fmt.Sprint(got.Admitted))
	}
}

func (c *comparison) next(kueue, program []Decision) {
	byName := map[Reference]Decision{}
	for _, decision := range program {
		byName[decision.Workload] = decision
	}
	for _, want := range kueue {
		about := want.Workload.String()
		got, ok := byName[want.Workload]
		if !ok {
			c.same(about, "is decided about alone", "yes", "no")
			continue
		}
		if want.Endless {
			continue
		}
		last, other := want.Last(), got.Last()
		c.same(about, "alone: outcome", last.outcome(), other.outcome())
		if last.outcome() == waits {
			c.message(about, "alone: message", last.messages(), other.messages())
			continue
		}
		c.same(about, "alone: borrows", fmt.Sprint(last.Borrowing > 0), fmt.Sprint(other.Borrowing > 0))
		c.same(about, "alone: flavors", describeFlavors(last.PodSets), describeFlavors(other.PodSets))
		c.same(about, "alone: preempts", describeVictims(last.Preempts), describeVictims(other.Preempts))
		if last.outcome() == preempts {
			c.message(about, "alone: message", last.messages(), other.messages())
		}
	}
}

const (
	fits     = "fits"
	preempts = "preempts"
	waits    = "waits"
)

// outcome is what the attempt comes to. Kueue's modes tell whether preemption was thought of; without a victim it
// makes no difference to the Workload.
func (a Attempt) outcome() string {
	switch {
	case a.Mode == "Fit":
		return fits
	case len(a.Preempts) > 0:
		return preempts
	default:
		return waits
	}
}

func (a Attempt) messages() []string {
	if len(a.PossibleMessages) > 0 {
		return a.PossibleMessages
	}
	return []string{a.Message}
}

// DescribePodSets puts pod sets on one line.
func DescribePodSets(sets []PodSet) string {
	var parts []string
	for _, set := range sets {
		text := fmt.Sprintf("%s×%d", set.Name, set.Count)
		for _, resource := range slices.Sorted(maps.Keys(set.Flavors)) {
			text += fmt.Sprintf(" %s=%s@%s", resource, set.Usage[resource], set.Flavors[resource])
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func describeFlavors(sets []PodSet) string {
	var parts []string
	for _, set := range sets {
		text := fmt.Sprintf("%s×%d", set.Name, set.Count)
		for _, resource := range slices.Sorted(maps.Keys(set.Flavors)) {
			text += fmt.Sprintf(" %s@%s", resource, set.Flavors[resource])
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func describeVictims(victims []Victim) string {
	var parts []string
	for _, victim := range victims {
		parts = append(parts, victim.Workload.String()+" "+victim.Reason)
	}
	return strings.Join(parts, ", ")
}

// describeUsage leaves zeros out: it makes no difference whether they are told.
func describeUsage(usage map[string]map[string]string) string {
	var parts []string
	for _, flavor := range slices.Sorted(maps.Keys(usage)) {
		for _, resource := range slices.Sorted(maps.Keys(usage[flavor])) {
			if amount := usage[flavor][resource]; amount != "0" {
				parts = append(parts, fmt.Sprintf("%s/%s=%s", flavor, resource, amount))
			}
		}
	}
	return strings.Join(parts, " ")
}

// Moves are the cycles in which quota was given or asked back, in order, without their numbers: the two sides
// need not agree on how many cycles change nothing, nor how often a victim is asked that does not go.
func Moves(timeline []Cycle) string {
	var cycles []string
	for _, cycle := range timeline {
		var parts []string
		for _, decision := range cycle.Decisions {
			switch decision.Decision {
			case "Admit", "Preempt":
				parts = append(parts, decision.Decision+" "+decision.Workload.String())
			}
		}
		if len(parts) > 0 {
			slices.Sort(parts)
			// How often a preemption is repeated whose victims stay is a matter of when one stops looking.
			if line := strings.Join(parts, ", "); len(cycles) == 0 || cycles[len(cycles)-1] != line {
				cycles = append(cycles, line)
			}
		}
	}
	return strings.Join(slices.Compact(cycles), " | ")
}

// circling tells that a Workload is admitted again.
func circling(timeline []Cycle) bool {
	admitted := map[Reference]int{}
	for _, cycle := range timeline {
		for _, decision := range cycle.Decisions {
			if decision.Decision == "Admit" {
				admitted[decision.Workload]++
			}
		}
	}
	for _, n := range admitted {
		if n >= 2 {
			return true
		}
	}
	return false
}

// MergeMessages adds the messages of another answer that is equal otherwise.
func (r *Result) MergeMessages(other *Result) {
	for i := range r.Workloads {
		wl := &r.Workloads[i]
		wl.PossibleMessages = union(wl.messages(), other.Workloads[i].messages())
	}
	for i := range min(len(r.Next), len(other.Next)) {
		last, also := r.Next[i].Last(), other.Next[i].Last()
		last.PossibleMessages = union(last.messages(), also.messages())
		r.Next[i].Endless = r.Next[i].Endless || other.Next[i].Endless
	}
}

// Last is the attempt that ends the decision.
func (d *Decision) Last() *Attempt { return &d.Attempts[len(d.Attempts)-1] }

// union is nil for one message alone.
func union(messages, others []string) []string {
	all := slices.Concat(messages, others)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 1 {
		return nil
	}
	return all
}
