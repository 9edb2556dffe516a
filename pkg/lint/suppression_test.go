package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSuppressionComments: which comments suppress what, on which line.
func TestSuppressionComments(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"on the line", "count: 8 # gpu-quota:ignore GQ210 the nodes arrive in May\n", "1→1 [GQ210] the nodes arrive in May"},
		{"above the line", "# gpu-quota:ignore GQ210 the nodes arrive\ncount: 8\n", "1→2 [GQ210] the nodes arrive"},
		{"above other comments and blank lines", "# gpu-quota:ignore GQ210 soon\n# another\n\ncount: 8\n", "1→4 [GQ210] soon"},
		{"above the next document", "a: 1\n# gpu-quota:ignore GQ504 both are meant\n---\nb: 1\n", "2→4 [GQ504] both are meant"},
		{"at the end, about nothing", "a: 1\n# gpu-quota:ignore GQ210 soon\n", "2→0 [GQ210] soon"},
		{"in a list", "requests:\n- name: a\n  # gpu-quota:ignore GQ101 elsewhere\n- name: b # gpu-quota:ignore GQ102 there\n", "3→4 [GQ101] elsewhere; 4→4 [GQ102] there"},
		{"in a flow list", "a: [1, # gpu-quota:ignore GQ210 soon\n  2]\n", "1→1 [GQ210] soon"},
		{"Windows line ends", "# gpu-quota:ignore GQ210 soon\r\ncount: 8 # gpu-quota:ignore GQ211: later\r\n", "1→2 [GQ210] soon; 2→2 [GQ211] later"},
		{"several rules", "a: 1 # gpu-quota:ignore GQ101, GQ302 GQ303: all of them\n", "1→1 [GQ101 GQ302 GQ303] all of them"},
		{"a rule twice", "a: 1 # gpu-quota:ignore GQ101,GQ101 once\n", "1→1 [GQ101] once"},
		{"rules of a pack", "a: 1 # gpu-quota:ignore HOUSE001,DEV002 the house allows it\n", "1→1 [HOUSE001 DEV002] the house allows it"},
		{"a reason that begins like a rule", "a: 1 # gpu-quota:ignore GQ101 GB200 nodes only\n", "1→1 [GQ101] GB200 nodes only"},
		{"no reason", "a: 1 # gpu-quota:ignore GQ101\n", "1→1 [GQ101] "},
		{"no reason behind a colon", "a: 1 # gpu-quota:ignore GQ101:\n", "1→1 [GQ101] "},
		{"no rule", "a: 1 # gpu-quota:ignore all of it\n", "1→1 [] all of it"},
		{"a comment of another tool behind it", "a: 1 # gpu-quota:ignore GQ101 soon # noqa\n", "1→1 [GQ101] soon"},
		{"not at the start of the comment", "a: 1 # see gpu-quota:ignore GQ101 soon\n", ""},
		{"no blank before the comment", "a: b# gpu-quota:ignore GQ101 soon\n", ""},
		{"another word", "a: 1 # gpu-quota:ignored GQ101 soon\n", ""},
		{"in double quotes", `a: "x # gpu-quota:ignore GQ101 soon"` + "\n", ""},
		{"in single quotes", "a: ['it''s', 'x # gpu-quota:ignore GQ101 soon']\n", ""},
		{"behind quotes", `a: "x \" y" # gpu-quota:ignore GQ101 soon` + "\n", "1→1 [GQ101] soon"},
		{"behind an apostrophe", "a: it's # gpu-quota:ignore GQ101 soon\n", "1→1 [GQ101] soon"},
		{"in a block scalar", "a: |\n  #!/bin/sh\n\n  # gpu-quota:ignore GQ101 soon\nb: 1\n", ""},
		{"in a block scalar of a list", "args:\n- |\n  run # gpu-quota:ignore GQ101 soon\n- b\n", ""},
		{"in a folded scalar with indicators", "a:\n  b: >2-   # text\n      deep\n    # gpu-quota:ignore GQ101 soon\n", ""},
		{"in the block scalar of a ConfigMap", "data:\n  kueue.yaml: |\n    a:\n      b: 1 # gpu-quota:ignore GQ101 soon\n", ""},
		{"on the line that begins a block scalar", "a: | # gpu-quota:ignore GQ101 soon\n  text\n", "1→1 [GQ101] soon"},
		{"behind a block scalar", "a:\n  b: |\n    text\n  # gpu-quota:ignore GQ101 soon\n  c: 1\n", "4→5 [GQ101] soon"},
		{"behind a block scalar in a list of maps", "- a: |\n    text\n  # gpu-quota:ignore GQ101 soon\n  b: 1\n", "3→4 [GQ101] soon"},
		{"deep, but in no block scalar", "a: 1\nb:\n  c:\n    d: 1 # gpu-quota:ignore GQ101 soon\n", "4→4 [GQ101] soon"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, s := range commented("a.yaml", 1, []byte(c.text)) {
				got = append(got, fmt.Sprintf("%d→%d %v %s", s.At.Line, s.line, s.Rules, s.Reason))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSuppressionPlaces: the range covers the comment, from its # to its last word.
func TestSuppressionPlaces(t *testing.T) {
	text := "a: 1\r\nb: [2] # gpu-quota:ignore GQ101 soon  \r\n"
	all := commented("a.yaml", 10, []byte(text))
	if len(all) != 1 {
		t.Fatalf("got %d", len(all))
	}
	at := all[0].At
	line := strings.Split(text, "\r\n")[1]
	if got := line[at.Column-1 : at.EndColumn-1]; at.Line != 11 || at.EndLine != 11 || got != "# gpu-quota:ignore GQ101 soon" {
		t.Errorf("line %d, %q", at.Line, got)
	}
}

// TestRulesOfPacksBehindABlank: with the rules known, those at the start of the reason are rules, unless a colon came before.
func TestRulesOfPacksBehindABlank(t *testing.T) {
	rules := []*Rule{{ID: "GQ101", Name: "unmapped"}, {ID: "HOUSE001", Name: "house"}, {ID: "DEV002", Name: "dev"}}
	for text, want := range map[string]string{
		"GQ101 HOUSE001 both":             "[GQ101 HOUSE001] both",
		"GQ101 HOUSE001: both":            "[GQ101 HOUSE001] both",
		"HOUSE001 DEV002, GQ101 all":      "[HOUSE001 DEV002 GQ101] all",
		"GQ101 HOUSE001 GQ101 DEV002 all": "[GQ101 HOUSE001 DEV002] all",
		"GQ101: HOUSE001 is for others":   "[GQ101] HOUSE001 is for others",
		"GQ101 HOUSE001: DEV002 is meant": "[GQ101 HOUSE001] DEV002 is meant",
		"GQ101 GB200 nodes":               "[GQ101] GB200 nodes",
		"GQ101 house rules":               "[GQ101] house rules",
		"GQ101 HOUSE001":                  "[GQ101 HOUSE001] ",
	} {
		s := parseIgnored(text)
		s.resolve(rules)
		if got := fmt.Sprintf("%v %s", s.Rules, s.Reason); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzSuppressionComments(f *testing.F) {
	f.Add("a: |\n  # gpu-quota:ignore GQ101 soon\n")
	f.Add("- - a: \"# gpu-quota:ignore GQ101, X001: soon\r\n---\n# gpu-quota:ignore")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, s := range commented("a.yaml", 1, []byte(text)) {
			if s.At.Line < 1 || s.At.Line > lines || s.line > lines || s.At.EndColumn < s.At.Column {
				t.Errorf("%+v in %d lines", s, lines)
			}
		}
	})
}
