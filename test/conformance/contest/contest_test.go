package contest

import (
	"strings"
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/generate"
	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/reference"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// echo is a program that decides as Kueue does, because it asks Kueue.
func echo(dump []byte, _ string, replay bool) (*outcome.Result, error) {
	cluster, err := objects.Decode(dump)
	if err != nil {
		return nil, err
	}
	return reference.Run(cluster, reference.Options{Replay: replay, Next: !replay})
}

// forgetful is a program that leaves taints out of what it says.
func forgetful(dump []byte, version string, replay bool) (*outcome.Result, error) {
	result, err := echo(dump, version, replay)
	if err != nil {
		return nil, err
	}
	for i := range result.Workloads {
		message, _, _ := strings.Cut(result.Workloads[i].Message, ", untolerated taint")
		result.Workloads[i].Message = message
	}
	return result, nil
}

// TestSameAnswersDoNotDiffer also shows that the dump tells the whole story, and that Kueue answers alike twice.
func TestSameAnswersDoNotDiffer(t *testing.T) {
	for seed := range uint64(40) {
		for _, replay := range []bool{false, true} {
			c := Contest{Runs: 4, Replay: replay, Program: echo}
			differences, _, err := c.Hold(generate.Cluster(seed))
			if err != nil {
				t.Fatal(err)
			}
			for _, difference := range differences {
				t.Errorf("seed %d, %s: %s", seed, c.Mode(), difference)
			}
		}
	}
}

func TestMinimiseKeepsWhatMakesTheDifference(t *testing.T) {
	c := Contest{Runs: 1, Program: forgetful}
	for seed := range uint64(200) {
		cluster := generate.Cluster(seed)
		if differences, _, err := c.Hold(cluster); err != nil || len(differences) == 0 {
			continue
		}
		small := c.Minimise(cluster)
		differences, _, err := c.Hold(small)
		if err != nil {
			t.Fatal(err)
		}
		if len(differences) == 0 {
			t.Errorf("seed %d: the difference went away", seed)
		}
		if workloads := objects.Of[*kueue.Workload](small); len(workloads) > 2 {
			t.Errorf("seed %d: %d Workloads are left; one meets a taint, and one may have to take the quota of another flavor", seed, len(workloads))
		}
		return
	}
	t.Fatal("no seed makes a Workload that meets a taint besides another obstacle")
}

func TestPanicsAreReported(t *testing.T) {
	c := Contest{Runs: 1, Program: func([]byte, string, bool) (*outcome.Result, error) { panic("out of quota") }}
	_, _, err := c.Hold(generate.Cluster(1))
	if err == nil || !strings.Contains(err.Error(), "out of quota") {
		t.Errorf("want the panic, got %v", err)
	}
}

// undecided is a program that leaves a Workload, and what follows from it, to chance.
func undecided(dump []byte, version string, replay bool) (*outcome.Result, error) {
	result, err := echo(dump, version, replay)
	if err != nil {
		return nil, err
	}
	w := &result.Workloads[0]
	w.State, w.Message, w.PodSets = "Unknown", "unknown: chance decides", nil
	for i := range result.ClusterQueues {
		result.ClusterQueues[i].Pending++
	}
	return result, nil
}

// TestWhatIsLeftToChanceIsNotCompared but everything else is: the counts of other queues.
func TestWhatIsLeftToChanceIsNotCompared(t *testing.T) {
	cluster := generate.Cluster(3)
	c := Contest{Runs: 1, Replay: true, Program: undecided}
	differences, _, err := c.Hold(cluster)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(objects.Of[*kueue.ClusterQueue](cluster)) - 1; want < 1 || len(differences) != want {
		t.Errorf("want a difference for each of the %d other queues: %v", want, differences)
	}
}

// TestANextAttemptLeftToChanceIsNotCompared but how the Workload ends is.
func TestANextAttemptLeftToChanceIsNotCompared(t *testing.T) {
	c := Contest{Runs: 1, Program: func(dump []byte, version string, replay bool) (*outcome.Result, error) {
		result, err := echo(dump, version, replay)
		if err != nil {
			return nil, err
		}
		for i := range result.Next {
			result.Next[i].Attempts = []outcome.Attempt{{Mode: "NoFit", Message: "unknown: chance decides"}}
			for j := range result.Workloads {
				if w := &result.Workloads[j]; i == 0 && w.Workload == result.Next[i].Workload {
					w.State = "Finished"
				}
			}
		}
		return result, nil
	}}
	cluster := generate.Cluster(19)
	differences, answers, err := c.Hold(cluster)
	if err != nil {
		t.Fatal(err)
	}
	if len(answers[0].Next) == 0 {
		t.Fatal("nothing waits in the cluster")
	}
	if len(differences) != 1 {
		t.Errorf("want the state of one Workload to differ: %v", differences)
	}
}

// TestIdleAttemptsDecide is the evidence that how often a Workload is tried in vain before the next one arrives, a matter of
// milliseconds, makes a difference to Kueue: that alone is not the same in these runs.
func TestIdleAttemptsDecide(t *testing.T) {
	cluster := generate.Cluster(19257)
	ways := map[string]bool{}
	for idle := range uint64(12) {
		result, err := reference.Run(cluster, reference.Options{Replay: true, Idle: idle})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range result.Workloads {
			if w.Workload.Name == "w01" {
				ways[outcome.DescribePodSets(w.PodSets)] = true
			}
		}
	}
	if len(ways) < 2 {
		t.Errorf("w01 ends in one way only: %v", ways)
	}
}

func TestOtherVictimsAreAnotherAnswer(t *testing.T) {
	result := func(message, victim string) *outcome.Result {
		return &outcome.Result{Next: []outcome.Decision{{Attempts: []outcome.Attempt{
			{Message: "in another flavor"},
			{Mode: "Preempt", Message: message, Preempts: []outcome.Victim{{Workload: outcome.Reference{Name: victim}}}},
		}}}}
	}
	key := func(r *outcome.Result) string {
		t.Helper()
		text, err := keyOf(r, false)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	one := result("2 more needed", "a")
	if key(one) != key(result("3 more needed", "a")) {
		t.Error("another message makes another answer")
	}
	if key(one) == key(result("2 more needed", "b")) {
		t.Error("another victim makes no other answer")
	}
	if one.Next[0].Attempts[1].Message == "" {
		t.Error("the answer itself has lost its message")
	}
}
