package contest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/reference"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome/program"
)

// Contest says how to compare.
type Contest struct {
	// Replay lets every Workload arrive anew; otherwise the present state goes on.
	Replay bool
	// Runs is how often Kueue is asked where the two differ, to see what it leaves to chance. As long as they differ
	// all the same it is asked again, up to Most times.
	Runs, Most int
	// Ignored aspects are not compared.
	Ignored map[string]bool
	// Program is what Kueue is compared with; nil is the program itself.
	Program func(dump []byte, version string, replay bool) (*outcome.Result, error)
}

// Mode is the name of the mode in results and cases.
func (c Contest) Mode() string {
	if c.Replay {
		return "replay"
	}
	return "pending"
}

// Hold compares the two on a cluster. The answers are what Kueue was seen to decide; it is asked again only when the
// program disagrees, for it may be chance.
func (c Contest) Hold(cluster *objects.Cluster) (differences []outcome.Difference, answers []*outcome.Result,
	err error) {
	once := c
	once.Runs = 1
	answers, err = once.AskKueue(cluster)
	if err != nil {
		return nil, nil, err
	}
	if answers[0].Unsettled {
		// Preemption goes round in Kueue itself, so there is no end state to compare.
		return nil, answers, nil
	}
	answer, err := c.AskProgram(cluster)
	if err != nil {
		return nil, nil, err
	}
	if beyond := answers[0].Beyond; beyond != "" {
		if slices.ContainsFunc(answer.Workloads, func(w outcome.Workload) bool { return w.State == "Unknown" }) ||
			slices.ContainsFunc(answer.Next,
				func(d outcome.Decision) bool { return strings.HasPrefix(d.Last().Message, unknown) }) {
			return nil, answers, nil
		}
		return []outcome.Difference{{Aspect: "what can't be told", Kueue: beyond, Program: "every state is told"}},
			answers, nil
	}
	if differences = c.compare(cluster, answers, answer); len(differences) == 0 || c.Runs == 1 {
		return differences, answers, nil
	}
	k := c.newInquiry()
	k.idle = true
	for n := c.Runs; ; n = min(c.Runs, c.Most-k.asked) {
		if err := k.ask(cluster, n); err != nil {
			return nil, nil, err
		}
		differences = c.compare(cluster, k.answers, answer)
		if len(differences) == 0 || k.asked >= c.Most {
			return differences, k.answers, nil
		}
	}
}

// compare leaves out of the comparison what the program says that chance decides.
func (c Contest) compare(cluster *objects.Cluster, answers []*outcome.Result,
	answer *outcome.Result) []outcome.Difference {
	if settled := slices.DeleteFunc(slices.Clone(answers),
		func(a *outcome.Result) bool { return a.Unsettled }); len(settled) > 0 {
		answers = settled // where chance makes preemption go round, there is no end state to compare
	}
	if open := leftOpen(cluster, answer); open != nil {
		answer = open.takeOut(answer)
		rest := make([]*outcome.Result, len(answers))
		for i, a := range answers {
			rest[i] = open.takeOut(a)
		}
		answers = rest
	}
	return slices.DeleteFunc(outcome.CompareAny(answers, answer),
		func(d outcome.Difference) bool { return c.Ignored[d.Aspect] })
}

// AskKueue runs Kueue several times and returns its distinct answers. Answers that differ in messages only become
// one, with all of them as possible.
func (c Contest) AskKueue(cluster *objects.Cluster) ([]*outcome.Result, error) {
	k := c.newInquiry()
	err := k.ask(cluster, max(c.Runs, 1))
	return k.answers, err
}

// inquiry collects the distinct answers of Kueue.
type inquiry struct {
	Contest
	asked int
	// idle lets the runs but the first differ in how often a workload is tried while nothing changes.
	idle    bool
	answers []*outcome.Result
	seen    map[string]*outcome.Result
}

func (c Contest) newInquiry() *inquiry {
	return &inquiry{Contest: c, seen: map[string]*outcome.Result{}}
}

func (k *inquiry) ask(cluster *objects.Cluster, times int) error {
	for range times {
		options := reference.Options{Replay: k.Replay, Next: !k.Replay && !draining(cluster)}
		if k.idle {
			options.Idle = uint64(k.asked)
		}
		answer, err := reference.Run(cluster, options)
		if err != nil {
			return err
		}
		k.asked++
		key, err := keyOf(answer, k.idle && !reference.ArbitraryOrder)
		if err != nil {
			return err
		}
		if known := k.seen[key]; known != nil {
			known.MergeMessages(answer)
			continue
		}
		k.seen[key] = answer
		k.answers = append(k.answers, answer)
	}
	return nil
}

// draining tells that a queue is stopped: what its workloads hold is still reserved now, but not any more when Kueue's
// controllers have handled all events, and only then Kueue is asked for single decisions.
func draining(cluster *objects.Cluster) bool {
	stopped := func(p *kueue.StopPolicy) bool { return p != nil && *p != kueue.None }
	return slices.ContainsFunc(objects.Of[*kueue.ClusterQueue](cluster),
		func(q *kueue.ClusterQueue) bool { return stopped(q.Spec.StopPolicy) }) ||
		slices.ContainsFunc(objects.Of[*kueue.LocalQueue](cluster),
			func(q *kueue.LocalQueue) bool { return stopped(q.Spec.StopPolicy) })
}

// keyOf is equal for answers with the same single attempts, the same end state and the same way to it. Messages count
// where nothing but the time of an arrival makes them differ.
func keyOf(result *outcome.Result, messages bool) (string, error) {
	stripped := *result
	if messages {
		stripped.Timeline = nil
		text, err := json.Marshal(stripped)
		return string(text) + outcome.Moves(result.Timeline), err
	}
	stripped.Timeline, stripped.Next = nil, slices.Clone(result.Next)
	for i := range stripped.Next {
		d := &stripped.Next[i]
		last := *d.Last()
		last.Message, last.PossibleMessages = "", nil
		d.Attempts, d.Endless = []outcome.Attempt{last}, false
	}
	stripped.Workloads = append([]outcome.Workload(nil), result.Workloads...)
	for i := range stripped.Workloads {
		wl := &stripped.Workloads[i]
		wl.Message, wl.PossibleMessages, wl.AdmittedInCycle = "", nil, 0
	}
	text, err := json.Marshal(stripped)
	return string(text) + outcome.Moves(result.Timeline), err
}

// patience is how long the program may take over one cluster; it needs milliseconds.
const patience = 20 * time.Second

// AskProgram asks the program about the dump of the cluster.
func (c Contest) AskProgram(cluster *objects.Cluster) (*outcome.Result, error) {
	dump, err := cluster.Encode()
	if err != nil {
		return nil, err
	}
	ask := c.Program
	if ask == nil {
		ask = program.Simulate
	}
	type reply struct {
		result *outcome.Result
		err    error
	}
	replies := make(chan reply, 1)
	go func() {
		defer func() {
			if panicked := recover(); panicked != nil {
				replies <- reply{err: fmt.Errorf("the program panics: %v\n%s", panicked,
					bytes.TrimSpace(debug.Stack()))}
			}
		}()
		result, err := ask(dump, reference.KueueVersion, c.Replay)
		replies <- reply{result, err}
	}()
	select {
	case r := <-replies:
		return r.result, r.err
	case <-time.After(patience):
		return nil, errors.New("the program does not come to an end")
	}
}
