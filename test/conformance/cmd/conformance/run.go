package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/contest"
	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/generate"
	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/reference"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

type options struct {
	from, count     uint64
	limit           time.Duration
	atleast         int
	runs, most      int
	workers, show   int
	tolerance       int
	minimise, again bool
	plain           bool
	cases, modes    string
	ignore          string
}

// finding is a cluster on which the two differ.
type finding struct {
	seed        uint64
	contest     contest.Contest
	differences []outcome.Difference
	err         error
}

func (o options) run() (failed bool, err error) {
	contests, err := o.contests()
	if err != nil {
		return false, err
	}
	findings, tally := o.compareAll(contests)
	fmt.Print(tally)
	slices.SortFunc(findings, func(a, b finding) int {
		return int(int64(a.seed)-int64(b.seed))*2 + strings.Compare(a.contest.Mode(), b.contest.Mode())
	})
	for i, f := range findings {
		if i == o.show {
			fmt.Printf("… and %d more\n", len(findings)-i)
			break
		}
		if err := o.print(f); err != nil {
			return true, err
		}
	}
	if tally.clusters < o.atleast {
		return true, fmt.Errorf("only %d clusters were compared, not %d", tally.clusters, o.atleast)
	}
	return len(findings) > o.tolerance, nil
}

func (o options) contests() ([]contest.Contest, error) {
	ignored := map[string]bool{}
	for aspect := range strings.SplitSeq(o.ignore, ",") {
		ignored[aspect] = true
	}
	var contests []contest.Contest
	for mode := range strings.SplitSeq(o.modes, ",") {
		switch mode {
		case "pending":
			contests = append(contests, contest.Contest{Runs: o.runs, Most: o.most, Ignored: ignored})
		case "replay":
			contests = append(contests, contest.Contest{Runs: o.runs, Most: o.most, Ignored: ignored, Replay: true})
		default:
			return nil, fmt.Errorf("unknown mode %q: use pending, replay or both", mode)
		}
	}
	return contests, nil
}

// compareAll compares the clusters of all seeds, several at a time.
func (o options) compareAll(contests []contest.Contest) ([]finding, *tally) {
	seeds := make(chan uint64)
	var mu sync.Mutex
	var findings []finding
	counts := newTally()
	var workers sync.WaitGroup
	for range o.workers {
		workers.Go(func() {
			for seed := range seeds {
				cluster := o.cluster(seed)
				for _, c := range contests {
					differences, answers, err := c.Hold(cluster)
					mu.Lock()
					counts.add(answers, differences, err)
					if err != nil || len(differences) > 0 {
						findings = append(findings, finding{seed: seed, contest: c, differences: differences, err: err})
					}
					mu.Unlock()
				}
			}
		})
	}
	deadline := time.Now().Add(o.limit)
	for seed := o.from; seed < o.from+o.count; seed++ {
		if o.limit > 0 && time.Now().After(deadline) {
			break
		}
		counts.clusters++
		seeds <- seed
	}
	close(seeds)
	workers.Wait()
	return findings, counts
}

func (o options) cluster(seed uint64) *objects.Cluster {
	if o.plain {
		return generate.Plain(generate.Cluster(seed))
	}
	return generate.Cluster(seed)
}

func (o options) print(f finding) error {
	fmt.Printf("\nseed %d, %s, Kueue %s\n", f.seed, f.contest.Mode(), reference.KueueVersion)
	if f.err != nil {
		fmt.Println(" ", f.err)
		return nil
	}
	cluster, differences := o.cluster(f.seed), f.differences
	if o.minimise {
		cluster = f.contest.Minimise(cluster)
		var err error
		if differences, _, err = f.contest.Hold(cluster); err != nil {
			return err
		}
	}
	for _, d := range differences {
		fmt.Println(" ", d)
	}
	if o.cases == "" {
		return printCluster(cluster)
	}
	return o.writeCase(f, cluster, differences)
}

func printCluster(cluster *objects.Cluster) error {
	text, err := cluster.Encode()
	if err != nil {
		return err
	}
	fmt.Printf("%s", text)
	return nil
}

// tally counts what the comparison saw, so that a run that compared nothing is noticed.
type tally struct {
	clusters, contests, differing, failed, chance, unsettled, beyond int
	states, decisions, aspects                                       map[string]int
}

func newTally() *tally {
	return &tally{states: map[string]int{}, decisions: map[string]int{}, aspects: map[string]int{}}
}

func (t *tally) add(answers []*outcome.Result, differences []outcome.Difference, err error) {
	t.contests++
	if err != nil {
		t.failed++
		return
	}
	if len(differences) > 0 {
		t.differing++
	}
	if len(answers) > 1 {
		t.chance++
	}
	if answers[0].Unsettled {
		t.unsettled++
	}
	if answers[0].Beyond != "" {
		t.beyond++
	}
	for _, wl := range answers[0].Workloads {
		t.states[wl.State]++
	}
	for _, cycle := range answers[0].Timeline {
		for _, decision := range cycle.Decisions {
			t.decisions[decision.Decision]++
		}
	}
	seen := map[string]bool{}
	for _, d := range differences {
		if !seen[d.Aspect] {
			seen[d.Aspect] = true
			t.aspects[d.Aspect]++
		}
	}
}

// String is the summary.
func (t *tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d clusters, %d comparisons with Kueue %s: %d differ, %d could not be compared\n",
		t.clusters, t.contests, reference.KueueVersion, t.differing, t.failed)
	fmt.Fprintf(&b, "Kueue left %d to chance, %d went on without end, and in %d it crashed or decided what an API "+
		"server refuses\n", t.chance, t.unsettled, t.beyond)
	fmt.Fprintf(&b, "workloads: %s\ndecisions: %s\n", counted(t.states), counted(t.decisions))
	if len(t.aspects) > 0 {
		fmt.Fprintf(&b, "differences in: %s\n", counted(t.aspects))
	}
	return b.String()
}

func counted(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
	}
	return strings.Join(parts, ", ")
}
