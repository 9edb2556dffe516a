package outcome

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func waiting(message string, possible ...string) *Result {
	return &Result{Mode: "pending", Workloads: []Workload{{
		Workload: Reference{Namespace: "team-a", Name: "train"}, State: "Pending", Reason: "Pending", Message: message, PossibleMessages: possible,
	}}}
}

func holding(flavor string) *Result {
	return &Result{Mode: "pending", Workloads: []Workload{{
		Workload: Reference{Namespace: "team-a", Name: "train"}, State: "Admitted",
		PodSets: []PodSet{{Name: "main", Count: 2, Flavors: map[string]string{"gpu": flavor}, Usage: map[string]string{"gpu": "2"}}},
	}}}
}

func TestCompareAny(t *testing.T) {
	tests := map[string]struct {
		kueue   []*Result
		program *Result
		want    []string // aspects
	}{
		"the same":                          {kueue: []*Result{waiting("short of 2")}, program: waiting("short of 2")},
		"another message":                   {kueue: []*Result{waiting("short of 2")}, program: waiting("short of 1"), want: []string{"message"}},
		"one of several messages":           {kueue: []*Result{waiting("short of 2")}, program: waiting("short of 1", "short of 1", "short of 2")},
		"a message that was not foreseen":   {kueue: []*Result{waiting("b", "a", "b")}, program: waiting("a"), want: []string{"message"}},
		"another flavor":                    {kueue: []*Result{holding("l4")}, program: holding("a100"), want: []string{"pod sets"}},
		"chance: one of Kueue's answers":    {kueue: []*Result{holding("l4"), holding("a100")}, program: holding("a100")},
		"chance: none of Kueue's answers":   {kueue: []*Result{holding("l4"), holding("a100")}, program: holding("spot"), want: []string{"pod sets"}},
		"admitted by the program only":      {kueue: []*Result{waiting("short of 2")}, program: holding("l4"), want: []string{"state", "pod sets", "reason", "message"}},
		"the workload is missing":           {kueue: []*Result{waiting("short of 2")}, program: &Result{}, want: []string{"is in the result"}},
		"only one of them comes to an end":  {kueue: []*Result{waiting("short of 2")}, program: &Result{Unsettled: true}, want: []string{"settles"}},
		"inadmissible and pending are one":  {kueue: []*Result{waiting("no queue")}, program: inadmissible("no queue")},
		"idle cycles do not count":          {kueue: []*Result{cycles("NoFit", "Admit")}, program: cycles("Admit")},
		"another order":                     {kueue: []*Result{cycles("Admit", "Preempt")}, program: cycles("Preempt", "Admit"), want: []string{"admissions and preemptions, cycle by cycle"}},
		"a zero need not be told":           {kueue: []*Result{usage("0")}, program: &Result{ClusterQueues: []ClusterQueue{{Name: "q"}}}},
		"other usage":                       {kueue: []*Result{usage("3")}, program: usage("2"), want: []string{"usage"}},
		"alone: other victims":              {kueue: []*Result{alone("InClusterQueue")}, program: alone("InCohortReclamation"), want: []string{"alone: preempts"}},
		"alone: turns without end, unknown": {kueue: []*Result{endless()}, program: alone("InClusterQueue")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, difference := range CompareAny(test.kueue, test.program) {
				got = append(got, difference.Aspect)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("aspects that differ (-want +got):\n%s", diff)
			}
		})
	}
}

func inadmissible(message string) *Result {
	result := waiting(message)
	result.Workloads[0].State = "Inadmissible"
	return result
}

func cycles(decisions ...string) *Result {
	result := &Result{}
	for i, decision := range decisions {
		result.Timeline = append(result.Timeline, Cycle{Cycle: i + 1, Decisions: []CycleDecision{{Workload: ParseReference("team-a/train"), Decision: decision}}})
	}
	return result
}

func usage(amount string) *Result {
	return &Result{ClusterQueues: []ClusterQueue{{Name: "q", Usage: map[string]map[string]string{"l4": {"gpu": amount}}}}}
}

func alone(reason string) *Result {
	victim := Victim{Workload: ParseReference("team-b/other"), Reason: reason}
	return &Result{Next: []Decision{{Workload: ParseReference("team-a/train"), Attempts: []Attempt{{Mode: "Preempt", Preempts: []Victim{victim}}}}}}
}

func endless() *Result {
	return &Result{Next: []Decision{{Workload: ParseReference("team-a/train"), Endless: true, Attempts: []Attempt{{Mode: "NoFit"}}}}}
}

func TestMergeMessages(t *testing.T) {
	result := waiting("b")
	result.MergeMessages(waiting("b"))
	result.MergeMessages(waiting("a"))
	if diff := cmp.Diff([]string{"a", "b"}, result.Workloads[0].PossibleMessages); diff != "" {
		t.Errorf("possible messages (-want +got):\n%s", diff)
	}
}

func TestCasesSurviveTheirFile(t *testing.T) {
	directory := t.TempDir()
	want := &Case{
		Name: "two-answers", Comment: "What it is about.", Dump: []byte("{\"kind\":\"List\"}\n"),
		Answers: map[string][]*Result{
			"v0.19.2/pending": {waiting("short of <2>")},
			"v0.19.0/replay":  {holding("l4"), holding("a100")},
		},
	}
	if err := want.Write(directory); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCases(directory)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*Case{want}, got); diff != "" {
		t.Errorf("cases (-written +read):\n%s", diff)
	}
}
