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
func (s *scheduler) findFlavor(it *item, a *assignment, members []int, g *group, first corev1.ResourceName, requests []request, only nominated) (map[corev1.ResourceName]chosen, text, []Attempt) {
	fungible := it.queue.fungible
	scan := s.gate(release.FlavorFungibility)
	start, last := 0, -1
	if scan {
		start = it.last.next(members[0], first)
	}
	var found map[corev1.ResourceName]chosen
	bestRank := worst
	winner := -1
	var reasons text
	var attempts []Attempt
	for i := start; i < len(g.flavors); i++ {
		last = i
		f := g.flavors[i]
		if only != nil && !only.has(it, members, first, f.name) {
			reasons = append(reasons, certain(message.Of(message.NotNominated, f.name, string(first)).Text()))
			continue
		}
		at := Attempt{PodSet: it.sets[members[0]].name, Flavor: f.name, group: g.index}
		if why := s.refusesAny(it, members, f, g); why != "" {
			at.Reasons, at.reason = []string{why}, reasonNoMatchingFlavor
			reasons, attempts = append(reasons, certain(why)), append(attempts, at)
			continue
		}
		picks, r, said := s.tryFlavor(it, a, f, g, requests, &at)
		attempts, reasons = append(attempts, at), append(reasons, said)
		if !scan {
			if r.chance > bestRank.chance {
				found, bestRank, winner = picks, r, len(attempts)-1
				if r.chance == fit {
					break
				}
			}
			continue
		}
		if !tryNext(r, fungible) {
			found, bestRank, winner = picks, r, len(attempts)-1
			break
		}
		if s.preferred(r, bestRank, fungible) {
			found, bestRank, winner = picks, r, len(attempts)-1
		}
	}
	if winner >= 0 && bestRank.chance != noFit {
		attempts[winner].Chosen = true
	}
	if scan {
		remember(found, last, g)
	}
	if bestRank.chance == fit {
		reasons = nil
	}
	return found, reasons, attempts
}

// remember notes in what was found the last flavor of the group that was tried; -1 says that it was the last there is.
func remember(found map[corev1.ResourceName]chosen, last int, g *group) {
	if last == len(g.flavors)-1 {
		last = -1
	}
	for name, c := range found {
		c.tried = last
		found[name] = c
	}
}

func (n nominated) has(it *item, members []int, name corev1.ResourceName, flavor string) bool {
	for _, i := range members {
		if n[it.sets[i].name][name] == flavor {
			return true
		}
	}
	return false
}

func (s *scheduler) refusesAny(it *item, members []int, f *flavor, g *group) string {
	for _, i := range members {
		if why := s.refuses(it, i, f, g); why != "" {
			return why
		}
	}
	return ""
}

// outcome is what one resource of a flavor came to.
type outcome struct {
	rank   rank
	reason string // empty when it fits
	fine   string // granular reason
}

// tryFlavor weighs one flavor for all resources of its group. The flavor is as good as the worst of them.
func (s *scheduler) tryFlavor(it *item, a *assignment, f *flavor, g *group, requests []request, at *Attempt) (map[corev1.ResourceName]chosen, rank, choice) {
	picks := map[corev1.ResourceName]chosen{}
	total := best
	var outcomes []outcome
	for _, r := range requests {
		if !g.covered[r.name] {
			continue
		}
		fr := quota.FlavorResource{Flavor: f.name, Resource: r.name}
		line, o := s.fitsQuota(it, fr, a.usage[fr], quota.Amount(r.total))
		at.Lines = append(at.Lines, line)
		outcomes = append(outcomes, o)
		at.Borrow = max(at.Borrow, o.rank.borrow)
		if s.preferred(total, o.rank, it.queue.fungible) {
			total = o.rank
		}
		if o.reason != "" {
			at.reason = moreSevere(at.reason, o.fine)
			at.Reasons = append(at.Reasons, o.reason)
		}
		if total.chance == noFit {
			if s.behavior.StopAtFirstNoFitResource && s.behavior.ResourceOrder == release.FNV64a {
				break
			}
			continue
		}
		picks[r.name] = chosen{flavor: f.name, mode: o.rank.chance.mode(), borrow: o.rank.borrow}
	}
	slices.Sort(at.Reasons)
	at.Mode, at.NoCandidates = total.chance.mode(), total.chance == noCandidates
	return picks, total, s.readings(outcomes, total)
}

// readings lists what may be told of a flavor. Versions that stop at the first resource that can't fit, in an
// arbitrary order, tell one of those and any of the others.
func (s *scheduler) readings(outcomes []outcome, total rank) choice {
	var all, soft, hard []string
	for _, o := range outcomes {
		switch {
		case o.reason == "":
			continue
		case o.rank.chance == noFit:
			hard = append(hard, o.reason)
		default:
			soft = append(soft, o.reason)
		}
		all = append(all, o.reason)
	}
	if !s.behavior.StopAtFirstNoFitResource || s.behavior.ResourceOrder != release.GoMap || total.chance != noFit || len(all) < 2 {
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
func (s *scheduler) fitsQuota(it *item, fr quota.FlavorResource, before, asked quota.Amount) (Line, outcome) {
	node := it.queue.node
	l := Line{FlavorResource: fr, Requested: asked, Before: before, Available: node.Available(fr), Maximum: node.PotentialAvailable(fr)}
	val := before.Add(asked)
	if val > l.Maximum {
		l.Over, l.Short = true, val.Sub(l.Maximum)
		return l, outcome{rank{noFit, 0}, s.tooMuch(fr, before, asked, l.Maximum), reasonExceedsMaxQuota}
	}
	height, smaller := node.BorrowingHeight(fr, val)
	if val <= l.Available {
		l.Mode = Fit
		return l, outcome{rank: rank{fit, height}}
	}
	l.Short = val.Sub(l.Available)
	reason := message.Of(message.NotEnoughUnused, string(fr.Resource), fr.Flavor, s.amount(fr, l.Short)).Text()
	if node.Limits(fr).Nominal >= val || smaller || s.preemptsWhileBorrowing(it.queue) {
		r := s.possible(it, fr, val)
		l.Mode = r.chance.mode()
		return l, outcome{r, reason, ""}
	}
	return l, outcome{rank{noFit, height}, reason, reasonWaitingForQuota}
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
