package kueueconf

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// releases are the releases of Kueue whose behaviour is known, in the order of their numbers.
// That is not the order of their behaviour: v0.18.6 has fixes that v0.19.0 lacks.
var releases = []string{
	"v0.17.0", "v0.17.1", "v0.17.2", "v0.17.3", "v0.17.4", "v0.17.5", "v0.17.6", "v0.17.7", "v0.17.8",
	"v0.18.0", "v0.18.1", "v0.18.2", "v0.18.3", "v0.18.4", "v0.18.5", "v0.18.6",
	"v0.19.0", "v0.19.1", "v0.19.2",
	Main,
}

const (
	// Main names the development branch of Kueue (0.20 to be), the newest behaviour known.
	Main = "main"
	// DefaultVersion is assumed when nothing tells the version.
	DefaultVersion = "v0.19.2"
	// DefaultOpenShiftVersion is assumed for the Red Hat build of Kueue when nothing tells the version.
	DefaultOpenShiftVersion = "v0.18.6"
)

// number orders a release: minor and patch, or main above all.
type number struct{ minor, patch int }

func (n number) compare(o number) int {
	return cmp.Or(cmp.Compare(n.minor, o.minor), cmp.Compare(n.patch, o.patch))
}

func (n number) String() string { return fmt.Sprintf("v0.%d.%d", n.minor, n.patch) }

var mainNumber = number{minor: 1 << 30}

// knownNumbers are the numbers of releases, in the same order.
var knownNumbers = func() []number {
	out := make([]number, 0, len(releases))
	for _, r := range releases {
		n := mainNumber
		if r != Main {
			minor, patch, _ := strings.Cut(strings.TrimPrefix(r, "v0."), ".")
			n = number{atoi(minor), atoi(patch)}
		}
		out = append(out, n)
	}
	return out
}()

// atoi reads a number that is all digits; one too large to hold counts as very large.
func atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1 << 20
	}
	return min(n, 1<<20)
}

// version is a version as someone wrote it, with the release whose behaviour stands for it.
type version struct {
	// text is the full version with a leading v, or main.
	text string
	// release is one of releases.
	release string
	// assumption says how release was chosen when text is none of releases.
	assumption string
}

// written is the shape of versions: v, three numbers of which the last may be missing, then whatever follows.
var written = regexp.MustCompile(`^v?(\d+)\.(\d+)(?:\.(\d+))?((?:[-+].*)?)$`)

// commitsAfter matches the part of a version that counts commits after a release: `+59`, `-59-g1a2b3c4`.
var commitsAfter = regexp.MustCompile(`^(?:\+|-)(\d+)(?:-g[0-9a-f]+.*)?$`)

// parseVersion reads `0.19.2`, `v0.18.6-rc.1`, `v0.18.5+59`, `0.19` (its newest patch) or `main`.
func parseVersion(s string) (version, error) {
	s = strings.TrimSpace(s)
	if strings.EqualFold(s, Main) {
		return version{text: Main, release: Main}, nil
	}
	m := written.FindStringSubmatch(s)
	if m == nil {
		return version{}, fmt.Errorf("%q is not a version of Kueue; write one like v0.19.2, or main", s)
	}
	v := version{text: "v" + strings.TrimPrefix(s, "v")}
	if atoi(m[1]) > 0 {
		v.release = Main
		v.assumption = fmt.Sprintf("Kueue %s is newer than what is known; it is taken to behave as main", v.text)
		return v, nil
	}
	n := number{minor: atoi(m[2]), patch: atoi(m[3])}
	if m[3] == "" {
		return newestPatch(v, n.minor), nil
	}
	why := ""
	if m[4] != "" {
		n, why = besideRelease(n, m[4])
	}
	return nearest(v, n, why), nil
}

// newestPatch takes a version without patch as the newest known patch of its line.
func newestPatch(v version, minor int) version {
	for i, n := range slices.Backward(knownNumbers) {
		if n.minor == minor {
			v.assumption = fmt.Sprintf("Kueue %s names no patch; its newest known one, %s, is assumed", v.text, releases[i])
			v.text, v.release = releases[i], releases[i]
			return v
		}
	}
	return nearest(v, number{minor: minor}, "")
}

// besideRelease reads what follows the numbers of a release: commits after it have what the next patch has,
// candidates for a release have what the release has.
func besideRelease(n number, suffix string) (number, string) {
	if m := commitsAfter.FindStringSubmatch(suffix); m != nil {
		return number{n.minor, n.patch + 1}, fmt.Sprintf("it is %s commits after %s", m[1], n)
	}
	return n, fmt.Sprintf("it is a build beside %s", n)
}

// nearest finds the release that stands for a number: itself, else the newest known one of its line,
// else the oldest or newest of all.
func nearest(v version, n number, why string) version {
	i, found := slices.BinarySearchFunc(knownNumbers, n, number.compare)
	switch {
	case found:
		v.release = releases[i]
	case i == 0:
		v.release = releases[0]
		why = "it is older than the oldest version covered"
	case knownNumbers[i-1].minor == n.minor:
		v.release = releases[i-1]
		why = cmp.Or(why, "it is newer than the newest known patch")
	default:
		v.release = Main
		why = "it is newer than what is known"
	}
	if v.release != v.text {
		v.assumption = fmt.Sprintf("Kueue %s is taken to behave as %s: %s", v.text, v.release, why)
	}
	return v
}

// releaseSet is a set of releases, one bit each in the order of releases.
type releaseSet uint32

func (s releaseSet) has(release string) bool {
	i := slices.Index(releases, release)
	return i >= 0 && s&(1<<i) != 0
}

// from is the set of releases from each one named to the end of its line. Lines that are not named are not in it,
// so every line a fix reached has to be named.
func from(names ...string) releaseSet {
	var s releaseSet
	for _, name := range names {
		first := slices.Index(releases, name)
		if first < 0 {
			panic("unknown release " + name) // a slip in a table of this package
		}
		for i := first; i < len(releases) && knownNumbers[i].minor == knownNumbers[first].minor; i++ {
			s |= 1 << i
		}
	}
	return s
}

// until is the complement of from: the releases that do not have a change yet.
func until(names ...string) releaseSet { return always &^ from(names...) }

const (
	never  releaseSet = 0
	always releaseSet = 1<<20 - 1
)

// since18, since19 and sinceMain are the lines from 0.18.0, 0.19.0 and main on.
var (
	since18   = from("v0.18.0", "v0.19.0", Main)
	since19   = from("v0.19.0", Main)
	sinceMain = from(Main)
	// august is the first wave of back-ports of August 2026, augustLate the second: neither is in v0.19.0.
	august     = from("v0.18.5", "v0.19.1", Main)
	augustLate = from("v0.18.6", "v0.19.2", Main)
)
