package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueueconf"
)

// pending is a workload that waits: short in one resource, in a queue without cohort.
func pending() *explain.Explanation {
	short := explain.QuotaLine{
		Resource: "gpu.memory", Flavor: "default-flavor", Requested: 3 * 4864 * mi, Nominal: 800 * gi,
		Used: 800*gi - 8960*mi, UsedKnown: true, Free: 8960 * mi, Short: 5632 * mi,
	}
	return &explain.Explanation{
		Charge: waits(train()),
		Reported: explain.Reported{
			State: explain.Pending, Condition: "QuotaReserved", Status: "False", Reason: "Pending", Since: noon,
			Message: "couldn't assign flavors to pod set main: insufficient unused quota for gpu.memory in flavor default-flavor, 5632Mi more needed",
			Meaning: []string{"gpu.memory: flavor default-flavor was short by 5632Mi"},
		},
		Predicted: explain.Predicted{State: explain.Unknown, Reason: "not computed"},
		Quota: []explain.QuotaLine{
			{Resource: "cpu", Flavor: "default-flavor", Requested: 3000, Nominal: 40000, Used: 12000, UsedKnown: true, Free: 28000},
			short,
		},
		Binding: []explain.QuotaLine{short},
		Steps: []explain.Step{
			{Check: "managed", Result: explain.Pass, Detail: "Kueue manages it"},
			{Check: explain.CheckQuota, Result: explain.Fail, Detail: "the free quota is too small for gpu.memory, and the queue is in no cohort it could borrow from"},
		},
	}
}

func of(c *charge.Charge) *explain.Explanation {
	return &explain.Explanation{Charge: c, Reported: explain.Reported{State: explain.None}, Predicted: explain.Predicted{State: explain.Unknown}}
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
	documents := map[string]Document{"charge": everyVerdict(), "explain": explanationsOf(pending(), of(refused()), of(unknown()))}
	for name, d := range documents {
		for _, columns := range []int{80, 100, 160} {
			for _, format := range []string{"", "wide"} {
				if format == "wide" && columns < DefaultWidth {
					continue // it is wide
				}
				for l := range strings.Lines(string(printed(t, d, format, Terminal{Width: columns}))) {
					l = strings.TrimRight(l, "\n")
					// A single word that is too long is not broken.
					if width(l) > columns && len(strings.Fields(l)) > 1 && width(longestWord(l)) < columns/2 {
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
	d.conf.Problems = []kueueconf.Problem{{Path: "resources.deviceClassMappings[1].name", Message: "resources.deviceClassMappings[1].name: Duplicate value: \"gpu\""}}
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
