package release

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseVersion(t *testing.T) {
	tests := map[string]struct {
		in   string
		want Version
	}{
		"plain":                     {"0.19.2", Version{"v0.19.2", "v0.19.2", ""}},
		"leading v":                 {"v0.18.6", Version{"v0.18.6", "v0.18.6", ""}},
		"main":                      {"main", Version{"main", "main", ""}},
		"main in capitals":          {"Main", Version{"main", "main", ""}},
		"line without patch":        {"0.19", Version{"v0.19.7", "v0.19.7", "Kueue v0.19 names no patch; its newest known one, v0.19.7, is assumed"}},
		"old line without patch":    {"v0.17", Version{"v0.17.8", "v0.17.8", "Kueue v0.17 names no patch; its newest known one, v0.17.8, is assumed"}},
		"release candidate":         {"v0.18.6-rc.1", Version{"v0.18.6-rc.1", "v0.18.6", "Kueue v0.18.6-rc.1 is taken to behave as v0.18.6: it is a build beside v0.18.6"}},
		"commits after a release":   {"v0.18.5+59", Version{"v0.18.5+59", "v0.18.6", "Kueue v0.18.5+59 is taken to behave as v0.18.6: it is 59 commits after v0.18.5"}},
		"git describe":              {"v0.19.0-12-gabc1234", Version{"v0.19.0-12-gabc1234", "v0.19.1", "Kueue v0.19.0-12-gabc1234 is taken to behave as v0.19.1: it is 12 commits after v0.19.0"}},
		"commits after the newest":  {"v0.19.7+3", Version{"v0.19.7+3", "v0.19.7", "Kueue v0.19.7+3 is taken to behave as v0.19.7: it is 3 commits after v0.19.7"}},
		"patch newer than known":    {"0.18.9", Version{"v0.18.9", "v0.18.8", "Kueue v0.18.9 is taken to behave as v0.18.8: it is newer than the newest known patch"}},
		"minor newer than known":    {"v0.20.1", Version{"v0.20.1", "v0.20.0", "Kueue v0.20.1 is taken to behave as v0.20.0: it is newer than the newest known patch"}},
		"newer line without patch":  {"0.21", Version{"v0.21", "v0.20.0", "Kueue v0.21 is taken to behave as v0.20.0: it is newer than what is known"}},
		"major newer than known":    {"1.2.3", Version{"v1.2.3", "v0.20.0", "Kueue v1.2.3 is newer than what is known; it is taken to behave as v0.20.0"}},
		"older than covered":        {"v0.14.8", Version{"v0.14.8", "v0.17.0", "Kueue v0.14.8 is taken to behave as v0.17.0: it is older than the oldest version covered"}},
		"older line without patch":  {"0.9", Version{"v0.9", "v0.17.0", "Kueue v0.9 is taken to behave as v0.17.0: it is older than the oldest version covered"}},
		"number beyond any integer": {"v0.99999999999999999999.0", Version{"v0.99999999999999999999.0", "v0.20.0", "Kueue v0.99999999999999999999.0 is taken to behave as v0.20.0: it is newer than what is known"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestParseOpenShift: the Red Hat build of Kueue has numbers of its own.
func TestParseOpenShift(t *testing.T) {
	tests := map[string]Version{
		"v1.4.1": {"v0.18.6", "v0.18.6", "the Red Hat build of Kueue 1.4 is based on v0.18.6"},
		"1.2": {"v0.14.8", "v0.17.0", "the Red Hat build of Kueue 1.2 is based on v0.14.8; " +
			"Kueue v0.14.8 is taken to behave as v0.17.0: it is older than the oldest version covered"},
		"1.9.0":  {"v1.9.0", "v0.20.0", "the Red Hat build of Kueue 1.9 is not known; it is taken to behave as v0.20.0"},
		"0.18.6": {"v0.18.6", "v0.18.6", ""},
	}
	for in, want := range tests {
		got, err := ParseOpenShift(in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}

func TestParseVersionRefuses(t *testing.T) {
	for _, in := range []string{"", "latest", "0", "v0.x.1", "19.2.", "sha256:1234", "-1.2.3"} {
		if v, err := Parse(in); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", in, v)
		}
	}
}

// TestReleaseSets pins what the shapes of the table mean.
func TestReleaseSets(t *testing.T) {
	tests := map[string]struct {
		set  releaseSet
		want []string
	}{
		"a back-port reaches the end of its line": {from("v0.17.7", "v0.18.5", "v0.19.1", "v0.20.0"),
			[]string{"v0.17.7", "v0.17.8", "v0.18.5", "v0.18.6", "v0.18.7", "v0.18.8",
				"v0.19.1", "v0.19.2", "v0.19.3", "v0.19.4", "v0.19.5", "v0.19.6", "v0.19.7", "v0.20.0", Main}},
		"a line that is not named is not in it": {from("v0.18.5"), []string{"v0.18.5", "v0.18.6", "v0.18.7", "v0.18.8"}},
		"main goes with the newest line":        {since20, []string{"v0.20.0", Main}},
		"until is the rest":                     {until("v0.17.1", "v0.18.1", "v0.19.0", "v0.20.0"), []string{"v0.17.0", "v0.18.0"}},
		"never":                                 {never, nil},
		"always":                                {always, releases},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range releases {
				if tc.set.has(r) {
					got = append(got, r)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
