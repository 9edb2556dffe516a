// One flavor of a resource group. Mirrors findFlavorForPodSets and fitsResourceQuota of pkg/scheduler/flavorassigner.

package admission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// nominated restricts a repeated assignment to the flavors of the first one; nil does not restrict.
type nominated map[string]map[corev1.ResourceName]string

// findFlavor finds one flavor of a resource group for all that a group of pod sets asks of it. Flavors are tried in
// order, from where the last attempt left off.
func (s *scheduler) findFlavor(
	wl *schedulerWorkload, a *assignment, members []int,
	g *group, first corev1.ResourceName, requests []request, only nominated,
) (map[corev1.ResourceName]flavorAssignment, text, []Attempt) {
	fungible := wl.queue.fungible
	scan := s.gate(release.FlavorFungibility)
	start, last := 0, -1
	if scan {
		start = wl.position.next(members[0], first)
	}
	var found map[corev1.ResourceName]flavorAssignment
	bestScore := worst
	winner := -1
	var reasons text
	var attempts []Attempt
	for i := start; i < len(g.flavors); i++ {
		last = i
		f := g.flavors[i]
		if only != nil && !only.has(wl, members, first, f.name) {
			reasons = append(reasons, certain(message.Of(message.NotNominated, f.name, string(first)).Text()))
			continue
		}
		at := Attempt{PodSet: wl.sets[members[0]].name, Flavor: f.name, group: g.index}
		if why := s.refusesAny(wl, members, f, g); why != "" {
			at.Reasons, at.reason = []string{why}, reasonNoMatchingFlavor
			reasons, attempts = append(reasons, certain(why)), append(attempts, at)
			continue
		}
		picks, r, said := s.tryFlavor(wl, a, f, g, requests, &at)
		attempts, reasons = append(attempts, at), append(reasons, said)
		if !scan {
			if r.mode > bestScore.mode {
				found, bestScore, winner = picks, r, len(attempts)-1
				if r.mode == fit {
					break
				}
			}
			continue
		}
		if !tryNext(r, fungible) {
			found, bestScore, winner = picks, r, len(attempts)-1
			break
		}
		if s.preferred(r, bestScore, fungible) {
			found, bestScore, winner = picks, r, len(attempts)-1
		}
	}
	if winner >= 0 && bestScore.mode != noFit {
		attempts[winner].Chosen = true
	}
	if scan {
		remember(found, last, g)
	}
	if bestScore.mode == fit {
		reasons = nil
	}
	return found, reasons, attempts
}

// remember notes in what was found the last flavor of the group that was tried; -1 says that it was the last there is.
func remember(found map[corev1.ResourceName]flavorAssignment, last int, g *group) {
	if last == len(g.flavors)-1 {
		last = -1
	}
	for name, c := range found {
		c.tried = last
		found[name] = c
	}
}

func (n nominated) has(wl *schedulerWorkload, members []int, name corev1.ResourceName, flavor string) bool {
	for _, i := range members {
		if n[wl.sets[i].name][name] == flavor {
			return true
		}
	}
	return false
}

func (s *scheduler) refusesAny(wl *schedulerWorkload, members []int, f *flavor, g *group) string {
	for _, i := range members {
		if why := s.refuses(wl, i, f, g); why != "" {
			return why
		}
	}
	return ""
}

// resourceFit is what one resource of a flavor came to.
type resourceFit struct {
	score          flavorScore
	reason         string // empty when it fits
	granularReason string
}

// tryFlavor weighs one flavor for all resources of its group. The flavor is as good as the worst of them.
func (s *scheduler) tryFlavor(
	wl *schedulerWorkload,
	a *assignment,
	f *flavor,
	g *group,
	requests []request,
	at *Attempt,
) (map[corev1.ResourceName]flavorAssignment, flavorScore, choice) {
	picks := map[corev1.ResourceName]flavorAssignment{}
	total := best
	var outcomes []resourceFit
	for _, r := range requests {
		if !g.covered[r.name] {
			continue
		}
		fr := quota.FlavorResource{Flavor: f.name, Resource: r.name}
		line, o := s.fitsQuota(wl, fr, a.usage[fr], quota.Amount(r.total))
		at.Lines = append(at.Lines, line)
		outcomes = append(outcomes, o)
		at.Borrow = max(at.Borrow, o.score.borrow)
		if s.preferred(total, o.score, wl.queue.fungible) {
			total = o.score
		}
		if o.reason != "" {
			at.reason = moreSevere(at.reason, o.granularReason)
			at.Reasons = append(at.Reasons, o.reason)
		}
		if total.mode == noFit {
			if s.behavior.StopAtFirstNoFitResource && s.behavior.ResourceOrder == release.FNV64a {
				break
			}
			continue
		}
		picks[r.name] = flavorAssignment{flavor: f.name, mode: o.score.mode.assignmentMode(), borrow: o.score.borrow}
	}
	slices.Sort(at.Reasons)
	at.Mode, at.NoCandidates = total.mode.assignmentMode(), total.mode == noCandidates
	return picks, total, s.readings(outcomes, total)
}

// readings lists what may be written about a flavor. Versions that stop at the first resource that can't fit, in an
// arbitrary order, write one of those and any of the others.
func (s *scheduler) readings(outcomes []resourceFit, total flavorScore) choice {
	var all, soft, hard []string
	for _, o := range outcomes {
		switch {
		case o.reason == "":
			continue
		case o.score.mode == noFit:
			hard = append(hard, o.reason)
		default:
			soft = append(soft, o.reason)
		}
		all = append(all, o.reason)
	}
	if !s.behavior.StopAtFirstNoFitResource || s.behavior.ResourceOrder != release.GoMap || total.mode != noFit ||
		len(all) < 2 {
		return certain(all...)
	}
	var out choice
	for most := len(soft); most >= 0; most-- {
		for _, h := range hard {
			for _, some := range subsets(soft, most) {
				out = append(out, append(slices.Clone(some), h))
			}
		}
	}
	return out
}

// subsets lists the subsets of n elements.
func subsets(of []string, n int) [][]string {
	if n == 0 {
		return [][]string{nil}
	}
	var out [][]string
	for i := range of {
		for _, rest := range subsets(of[i+1:], n-1) {
			out = append(out, append([]string{of[i]}, rest...))
		}
	}
	return out
}

// fitsQuota weighs one resource of a flavor, beside what earlier pod sets of the workload take of it.
func (s *scheduler) fitsQuota(
	wl *schedulerWorkload,
	fr quota.FlavorResource,
	before, asked quota.Amount,
) (Line, resourceFit) {
	node := wl.queue.node
	l := Line{
		FlavorResource: fr,
		Requested:      asked,
		Before:         before,
		Available:      node.Available(fr),
		Maximum:        node.PotentialAvailable(fr),
	}
	val := before.Add(asked)
	if val > l.Maximum {
		l.Over, l.Short = true, val.Sub(l.Maximum)
		return l, resourceFit{flavorScore{noFit, 0}, s.tooMuch(fr, before, asked, l.Maximum), reasonExceedsMaxQuota}
	}
	height, smaller := node.BorrowingHeight(fr, val)
	if val <= l.Available {
		l.Mode = Fit
		return l, resourceFit{score: flavorScore{fit, height}}
	}
	l.Short = val.Sub(l.Available)
	reason := message.Of(message.NotEnoughUnused, string(fr.Resource), fr.Flavor, s.amount(fr, l.Short)).Text()
	if node.Limits(fr).Nominal >= val || smaller || s.preemptsWhileBorrowing(wl.queue) {
		r := s.oracle.possible(wl, fr, val)
		l.Mode = r.mode.assignmentMode()
		return l, resourceFit{r, reason, ""}
	}
	return l, resourceFit{flavorScore{noFit, height}, reason, reasonWaitingForQuota}
}

func (s *scheduler) preemptsWhileBorrowing(q *queue) bool {
	b := q.preemption.BorrowWithinCohort
	return b != nil && b.Policy != kueue.BorrowWithinCohortPolicyNever ||
		s.fair && q.preemption.ReclaimWithinCohort != kueue.PreemptionPolicyNever
}

func (s *scheduler) amount(fr quota.FlavorResource, v quota.Amount) string {
	if v == quota.Unlimited {
		return "<unlimited>"
	}
	return s.format.Format(fr.Resource, int64(v))
}
