// Flavors for all pod sets of a workload. Mirrors assignFlavors of pkg/scheduler/flavorassigner.

package admission

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// flavorAssignment is the flavor assigned for one resource.
type flavorAssignment struct {
	flavor string
	mode   Mode
	borrow int
	tried  int // index of the last flavor tried, -1 after the last one
}

// podSetAssignment is what one pod set gets.
type podSetAssignment struct {
	name     string
	count    int32
	requests []request
	flavors  map[corev1.ResourceName]flavorAssignment
	status   status
	attempts []Attempt
	// uncovered: the queue does not cover something it asks for.
	uncovered bool
}

// mode is the worst of the flavors assigned; without any flavor it is NoFit, unless there is nothing to say against it.
func (p *podSetAssignment) mode() Mode {
	if p.status.empty() {
		return Fit
	}
	if len(p.flavors) == 0 {
		return NoFit
	}
	m := Fit
	for _, c := range p.flavors {
		m = min(m, c.mode)
	}
	return m
}

// assignment is what a whole workload gets.
type assignment struct {
	sets   []podSetAssignment
	usage  quota.Usage
	borrow int
	last   *scanPosition
	forced *Mode
	// undecided says why its placement is not decided here; empty when it is.
	undecided string
}

func (a *assignment) mode() Mode {
	if a.forced != nil {
		return *a.forced
	}
	if len(a.sets) == 0 {
		return NoFit
	}
	m := Fit
	for i := range a.sets {
		m = min(m, a.sets[i].mode())
	}
	return m
}

// needsPreemption lists the flavors and resources that somebody has to give way in.
func (a *assignment) needsPreemption() []quota.FlavorResource {
	set := quota.Usage{}
	for i := range a.sets {
		for name, c := range a.sets[i].flavors {
			if c.mode == NeedsPreemption {
				set[quota.FlavorResource{Flavor: c.flavor, Resource: name}] = 0
			}
		}
	}
	return set.Sorted()
}

// demand is what the workload asks for in its flavors, the resource `pods` left out as Kueue does.
func (a *assignment) demand(wl *schedulerWorkload) quota.Usage {
	out := quota.Usage{}
	for i := range a.sets {
		for _, r := range wl.sets[i].scaled(a.sets[i].count) {
			if c, ok := a.sets[i].flavors[r.name]; ok && r.total != 0 {
				fr := quota.FlavorResource{Flavor: c.flavor, Resource: r.name}
				out[fr] = out[fr].Add(quota.Amount(r.total))
			}
		}
	}
	return out
}

// podSets are the pod sets with their flavors, as the admission records them.
func (a *assignment) podSets() []PodSet {
	out := make([]PodSet, 0, len(a.sets))
	for i := range a.sets {
		s := &a.sets[i]
		ps := PodSet{Name: s.name, Count: s.count, Flavors: map[corev1.ResourceName]string{}, Usage: charge.Amounts{}}
		for _, r := range s.requests {
			if c, ok := s.flavors[r.name]; ok {
				ps.Flavors[r.name], ps.Usage[r.name] = c.flavor, r.total
			}
		}
		out = append(out, ps)
	}
	return out
}

// assign gives every pod set flavors, with as many pods as counts say; nil counts mean all.
func (s *scheduler) assign(wl *schedulerWorkload, counts []int32, only nominated) *assignment {
	a := &assignment{
		usage: quota.Usage{},
		last:  &scanPosition{generation: wl.queue.allocatable(), cycle: s.cycle, shape: wl.schedulingHash()},
	}
	for _, members := range wl.groups() {
		if !s.assignGroup(wl, a, members, counts, only) {
			return a
		}
	}
	if a.mode() != NoFit {
		a.undecided = s.undecided(placement, wl, nil)
	}
	return a
}

// lacks reports whether the queue does not cover something asked for.
func (s *scheduler) lacks(q *queue, requests []request) bool {
	for _, r := range requests {
		if r.total != 0 && q.covers(r.name) == nil && !s.ignoreUndeclared {
			return true
		}
	}
	return false
}

// groups joins pod sets that must share their flavors; each of the others is a group of its own.
func (wl *schedulerWorkload) groups() [][]int {
	var out [][]int
	at := map[string]int{}
	for i := range wl.sets {
		key := wl.sets[i].group
		if key == "" {
			key = strconv.Itoa(i)
		}
		if n, ok := at[key]; ok {
			out[n] = append(out[n], i)
			continue
		}
		at[key] = len(out)
		out = append(out, []int{i})
	}
	return out
}

// assignGroup assigns the pod sets of one group; false ends the assignment, as a group without flavors does.
func (s *scheduler) assignGroup(
	wl *schedulerWorkload,
	a *assignment,
	members []int,
	counts []int32,
	only nominated,
) bool {
	own := make([][]request, len(members))
	asked := make([]int32, len(members))
	var sum []request
	for n, i := range members {
		asked[n] = wl.sets[i].count
		if counts != nil {
			asked[n] = counts[i]
		}
		own[n] = s.requestsOf(wl, i, asked[n])
		sum = s.merge(sum, own[n])
	}
	flavors, st, attempts := s.findFlavors(wl, a, members, sum, only)
	uncovered := flavors == nil && s.lacks(wl.queue, sum)
	complete := true
	for n, i := range members {
		set := podSetAssignment{
			name:      wl.sets[i].name,
			count:     asked[n],
			requests:  own[n],
			status:    st,
			attempts:  attempts,
			uncovered: uncovered,
			flavors:   map[corev1.ResourceName]flavorAssignment{},
		}
		for _, r := range own[n] {
			if c, ok := flavors[r.name]; ok {
				set.flavors[r.name] = c
			}
		}
		a.append(set)
		if len(own[n]) > 0 && len(set.flavors) == 0 {
			complete = false
		}
	}
	return complete
}

// requestsOf are the requests of a pod set with the given number of pods; a queue that covers `pods` is asked for
// their number as well.
func (s *scheduler) requestsOf(wl *schedulerWorkload, set int, count int32) []request {
	requests := wl.sets[set].scaled(count)
	if wl.queue.covers(corev1.ResourcePods) != nil {
		requests = s.merge(requests, []request{{corev1.ResourcePods, int64(count)}})
	}
	return requests
}

// merge adds up two lists of requests, in the version's order.
func (s *scheduler) merge(a, b []request) []request {
	if len(a) == 0 {
		return b
	}
	sum := map[corev1.ResourceName]int64{}
	for _, list := range [][]request{a, b} {
		for _, r := range list {
			sum[r.name] = charge.Add(sum[r.name], r.total)
		}
	}
	return s.ordered(sum)
}

func (a *assignment) append(set podSetAssignment) {
	tried := map[corev1.ResourceName]int{}
	for _, r := range set.requests {
		c, ok := set.flavors[r.name]
		if !ok {
			continue
		}
		a.borrow = max(a.borrow, c.borrow)
		fr := quota.FlavorResource{Flavor: c.flavor, Resource: r.name}
		a.usage[fr] = a.usage[fr].Add(quota.Amount(r.total))
		tried[r.name] = c.tried
	}
	a.sets = append(a.sets, set)
	a.last.tried = append(a.last.tried, tried)
}

// findFlavors finds flavors for all requests of a group of pod sets. No flavors at all means failure; where the order
// of resources is left to chance, so is which failure is written.
func (s *scheduler) findFlavors(
	wl *schedulerWorkload,
	a *assignment,
	members []int,
	requests []request,
	only nominated,
) (map[corev1.ResourceName]flavorAssignment, status, []Attempt) {
	flavors := map[corev1.ResourceName]flavorAssignment{}
	done := map[*group]bool{}
	var passed text
	var failures status
	var attempts []Attempt
	for _, r := range requests {
		g := wl.queue.covers(r.name)
		if g == nil {
			if r.total != 0 && !s.ignoreUndeclared {
				failures = append(failures, text{certain(message.Of(message.NotCovered, string(r.name)).Text())})
			}
		} else if !done[g] {
			done[g] = true
			found, reasons, tried := s.findFlavor(wl, a, members, g, r.name, requests, only)
			attempts = append(attempts, tried...)
			if len(found) == 0 {
				failures = append(failures, reasons)
			}
			passed = append(passed, reasons...)
			for name, c := range found {
				flavors[name] = c
			}
		}
		if len(failures) > 0 && s.behavior.ResourceOrder == release.FNV64a {
			break
		}
	}
	if len(failures) > 0 {
		return nil, failures, attempts
	}
	return flavors, status{passed}, attempts
}
