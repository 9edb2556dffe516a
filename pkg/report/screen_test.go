package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// pending is a workload that waits: short in one resource, in a queue without cohort.
func pending() *explain.Explanation {
	short := explain.QuotaLine{
		Resource: "gpu.memory", Flavor: "default-flavor", Requested: 3 * 4864 * mi, Nominal: 800 * gi,
		Used: 800*gi - 8960*mi, UsedKnown: true, Free: 8960 * mi, Short: 5632 * mi,
		Live: true, Available: quota.Amount(8960 * mi), Maximum: quota.Amount(800 * gi),
	}
	line := admission.Line{
		FlavorResource: quota.FlavorResource{Flavor: "default-flavor", Resource: "gpu.memory"}, Requested: quota.Amount(3 * 4864 * mi),
		Available: short.Available, Maximum: short.Maximum, Short: quota.Amount(short.Short),
	}
	agrees := true
	return &explain.Explanation{
		Charge: waits(train()),
		Reported: explain.Reported{
			State: explain.Pending, Condition: "QuotaReserved", Status: "False", Reason: "Pending", Since: noon,
			Message: "couldn't assign flavors to pod set main: insufficient unused quota for gpu.memory in flavor default-flavor, 5632Mi more needed",
			Meaning: []string{"gpu.memory: flavor default-flavor was short by 5632Mi"},
		},
		Predicted: &admission.Decision{
			State: explain.Pending, Reason: "Pending", Message: "couldn't assign flavors to pod set main: insufficient unused quota for gpu.memory in flavor default-flavor, 5632Mi more needed",
			Attempts: []admission.Attempt{
				{PodSet: "main", Flavor: "spot", Reasons: []string{"untolerated taint {spot yes NoSchedule <nil>} in flavor spot"}},
				{PodSet: "main", Flavor: "default-flavor", Mode: admission.NeedsPreemption, NoCandidates: true, Chosen: true, Lines: []admission.Line{line},
					Reasons: []string{"insufficient unused quota for gpu.memory in flavor default-flavor, 5632Mi more needed"}},
			},
		},
		Agrees:   &agrees,
		Position: &admission.Position{ClusterQueue: 2, LocalQueue: 1, Certain: true, Ahead: []*charge.Charge{group()}},
		Quota: []explain.QuotaLine{
			{Resource: "cpu", Flavor: "default-flavor", Requested: 3000, Nominal: 40000, Used: 12000, UsedKnown: true, Free: 28000, Live: true, Available: 28000, Maximum: 40000},
			short,
		},
		Binding: []explain.Constraint{{PodSet: "main", Line: line, Used: quota.Amount(short.Used), Nominal: quota.Amount(short.Nominal), Chosen: true}},
		Holders: []admission.Holder{
			{Charge: group(), ClusterQueue: "cluster-queue", FlavorResource: line.FlavorResource, Quantity: quota.Amount(400 * gi), Since: noon.Add(-3 * time.Hour), WhyNot: "withinClusterQueue is Never"},
			{Charge: train(), ClusterQueue: "cluster-queue", FlavorResource: line.FlavorResource, Quantity: quota.Amount(40320 * mi), Priority: -100, Since: noon.Add(-48 * time.Hour), Preemptible: true},
		},
		Remedies: []explain.Remedy{
			{Action: "wait for team-a/notebook-7 to finish", Effect: "frees 40320Mi of gpu.memory"},
			{Action: "raise the nominalQuota of gpu.memory in flavor default-flavor of ClusterQueue cluster-queue from 800Gi to 824832Mi", Patch: "kubectl patch clusterqueue cluster-queue --type=json -p '[]'"},
		},
		Steps: []explain.Step{
			{Check: "managed", Result: explain.Pass, Detail: "Kueue manages it"},
			{Check: explain.CheckAdmission, Result: explain.Fail, Detail: "couldn't assign flavors to pod set main: insufficient unused quota for gpu.memory in flavor default-flavor, 5632Mi more needed"},
		},
	}
}

func of(c *charge.Charge) *explain.Explanation {
	return &explain.Explanation{Charge: c, Reported: explain.Reported{State: explain.None}, Predicted: &admission.Decision{State: explain.Unknown, Missing: []string{"Workload"}}}
}

func TestScreens(t *testing.T) {
	cases := map[string]struct {
		document Document
		format   string
		terminal Terminal
	}{
		"charge.txt":           {document: everyVerdict()},
		"charge-one.txt":       {document: chargesOf(train())},
		"charge-none.txt":      {document: chargesOf()},
		"charge-wide.txt":      {document: everyVerdict(), format: "wide"},
		"charge-narrow.txt":    {document: everyVerdict(), terminal: Terminal{Width: 60}},
		"charge-color.txt":     {document: everyVerdict(), terminal: Terminal{Color: true}},
		"charge-ascii.txt":     {document: everyVerdict(), terminal: Terminal{ASCII: true}},
		"explain-pending.txt":  {document: explanationsOf(pending()), terminal: Terminal{Now: noon.Add(14 * time.Minute)}},
		"explain-no-clock.txt": {document: explanationsOf(pending())},
		"explain-narrow.txt":   {document: explanationsOf(pending()), terminal: Terminal{Width: 60}},
		"explain-wide.txt":     {document: explanationsOf(pending()), format: "wide"},
		"explain-refused.txt":  {document: explanationsOf(of(refused()))},
		"explain-unknown.txt":  {document: explanationsOf(of(unknown()))},
		"explain-several.txt":  {document: explanationsOf(of(unmanaged()), of(group()))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { golden(t, name, printed(t, tc.document, tc.format, tc.terminal)) })
	}
}

func TestScreensFitTheTerminal(t *testing.T) {
	documents := map[string]Document{
		"charge": everyVerdict(), "explain": explanationsOf(pending(), of(refused()), of(unknown())), "fit": explanationsOf(fitted(partlyFits())),
		"queues": researchQueues(t), "explain-queues": researchQueueExplanations(t, 20), "simulate": researchSimulation(t, false),
		"devices": NewDevices(stock(t), nil, nil, nil), "audit": auditFixture(t), "audit-changed": changedFixture(t),
	}
	for name, d := range documents {
		for _, columns := range []int{60, 80, 100, 160} {
			for _, format := range []string{"", "wide"} {
				if format == "wide" && columns < DefaultWidth {
					continue // it is wide
				}
				for l := range strings.Lines(string(printed(t, d, format, Terminal{Width: columns}))) {
					l = strings.TrimRight(l, "\n")
					// Neither a single word that is too long is broken, nor a command.
					if width(l) > columns && !strings.HasPrefix(strings.TrimSpace(l), "kubectl ") && len(strings.Fields(l)) > 1 && width(longestWord(l)) < columns/2 {
						t.Errorf("%s %s at %d columns: %q is %d wide", name, format, columns, l, width(l))
					}
				}
			}
		}
	}
}

func longestWord(l string) string {
	longest := ""
	for _, w := range strings.Fields(l) {
		if len(w) > len(longest) {
			longest = w
		}
	}
	return longest
}

func TestColourNeverCarriesMeaningAlone(t *testing.T) {
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for name, d := range map[string]Document{"charge": everyVerdict(), "explain": explanationsOf(pending(), of(refused()))} {
		plain := printed(t, d, "", Terminal{})
		coloured := printed(t, d, "", Terminal{Color: true})
		if bytes.Equal(plain, coloured) {
			t.Errorf("%s: no colour at all when it is asked for", name)
		}
		if !bytes.Equal(plain, escape.ReplaceAll(coloured, nil)) {
			t.Errorf("%s: without its colours the screen says something else", name)
		}
		if escape.Match(plain) {
			t.Errorf("%s: escape sequences without colour", name)
		}
	}
}

func TestControlCharactersOfTheInputDoNotReachTheTerminal(t *testing.T) {
	c := refused()
	c.Problems[0].Message = "evil \x1b[2J\x07 \u202etext\nnext line"
	c.Workload.Queue = "q\x1b]0;title\x07"
	for _, format := range []string{"", "wide"} {
		for name, d := range map[string]Document{"charge": chargesOf(c), "explain": explanationsOf(of(c))} {
			if out := printed(t, d, format, Terminal{}); bytes.ContainsAny(out, "\x1b\x07") || strings.Contains(string(out), "\u202e") {
				t.Errorf("%s %s: a control character is printed: %q", name, format, out)
			}
		}
	}
}

func TestAConfigurationKueueRefusesIsShownLoudly(t *testing.T) {
	d := chargesOf(train())
	d.conf.Problems = []config.Problem{{Path: "resources.deviceClassMappings[1].name", Message: "resources.deviceClassMappings[1].name: Duplicate value: \"gpu\""}}
	d.conf.Assumptions = []string{"nothing tells the version; v0.19.2 is assumed"}
	golden(t, "charge-config-refused.txt", printed(t, d, "", Terminal{}))
}

func TestServicesThatDoNotAskForKueueAreCountedNotListed(t *testing.T) {
	pod := unmanaged()
	pod.Workload.OwnerRef.Kind, pod.Workload.OwnerRef.APIVersion = "Pod", "v1"
	d := chargesOf(train(), pod)
	d.HideServices(true)
	out := string(printed(t, d, "", Terminal{}))
	if strings.Contains(out, "pod/free") || !strings.Contains(out, "not shown: 1 ") {
		t.Errorf("the pod is listed, or not counted:\n%s", out)
	}
	if wide := string(printed(t, d, "wide", Terminal{})); !strings.Contains(wide, "pod/free") {
		t.Errorf("a wide table leaves the pod out:\n%s", wide)
	}
	only := chargesOf(pod)
	only.HideServices(true)
	if out := string(printed(t, only, "", Terminal{})); !strings.Contains(out, "pod/free") {
		t.Errorf("a table was left empty:\n%s", out)
	}
}

// TestNoColumnIsLostOnANarrowTerminal: what has no room beside goes below, with its title; a pipe has room for all.
func TestNoColumnIsLostOnANarrowTerminal(t *testing.T) {
	g := grid{indent: 2, below: 4, titles: []string{"NAME", "HELD", "FREE", "NOTE"}, quiet: map[int]bool{2: true}, labelled: true}
	name := strings.Repeat("n", 50)
	g.add(row{cells: []cell{plainCell(name), plainCell("12"), plainCell("0")}, tail: words("as it was")})
	g.add(row{cells: []cell{plainCell("short"), {}, plainCell("3")}})
	for columns, want := range map[int]string{
		60: "  NAME" + spaces(48) + "HELD\n  " + name + "  12\n      note as it was\n  short\n      free 3\n",
		0:  "  NAME" + spaces(48) + "HELD  FREE  NOTE\n  " + name + "  12    0     as it was\n  short" + spaces(53) + "3\n",
	} {
		var out bytes.Buffer
		s := newScreen(&out, Terminal{Width: columns})
		h := g
		h.draw(s)
		if err := s.flush(); err != nil || out.String() != want {
			t.Errorf("at %d columns (%v):\n%s\nwant:\n%s", columns, err, &out, want)
		}
	}
}

// TestTextStaysInTheRoomOfItsColumn: room for the widest word is room enough, however narrow.
func TestTextStaysInTheRoomOfItsColumn(t *testing.T) {
	g := grid{titles: []string{"NAME", "CHARGED TO"}}
	g.add(row{cells: []cell{plainCell(strings.Repeat("n", 66))}, tail: flow{pieces: []string{"gpus", "1 tainted"}, separator: ", "}})
	var out bytes.Buffer
	s := newScreen(&out, Terminal{Width: 80})
	g.draw(s)
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(out.String()) {
		if width(strings.TrimRight(l, "\n")) > 80 {
			t.Errorf("%q does not fit", l)
		}
	}
}
