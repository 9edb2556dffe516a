package release

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
	"v0.18.0", "v0.18.1", "v0.18.2", "v0.18.3", "v0.18.4", "v0.18.5", "v0.18.6", "v0.18.7", "v0.18.8",
	"v0.19.0", "v0.19.1", "v0.19.2", "v0.19.3", "v0.19.4", "v0.19.5", "v0.19.6", "v0.19.7",
	"v0.20.0",
	Main,
}

// All lists the releases of Kueue whose behaviour is known, and main, in the order of their numbers.
func All() []string { return slices.Clone(releases) }

const (
	// Main names the development branch of Kueue. It is taken to do what the newest release known does.
	Main = "main"
	// DefaultOpenShift is assumed for the Red Hat build of Kueue when nothing tells the version.
	DefaultOpenShift = "v0.18.6"
)

// Default is assumed when nothing tells the version: the newest stable release known.
var Default = newest

// newest is the newest release known: versions after it are taken to do what it does.
var newest = releases[len(releases)-2]

// openShiftLines are the upstream releases on which lines of the Red Hat build of Kueue are based.
var openShiftLines = map[string]string{"1.2": "v0.14.8", "1.3": "v0.16.6", "1.4": "v0.18.6"}

// ParseOpenShift reads a version of the Red Hat build of Kueue, such as `v1.4.1`, as the upstream release it is based
// on; other versions as [Parse] does.
func ParseOpenShift(s string) (Version, error) {
	m := written.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil || atoi(m[1]) == 0 {
		return Parse(s)
	}
	line := m[1] + "." + m[2]
	upstream, known := openShiftLines[line]
	if !known {
		v, err := Parse(s)
		v.Assumption = fmt.Sprintf("the Red Hat build of Kueue %s is not known; it is taken to behave as %s", line,
			v.Release)
		return v, err
	}
	v, err := Parse(upstream)
	v.Assumption = strings.TrimSuffix(fmt.Sprintf("the Red Hat build of Kueue %s is based on %s; %s", line, upstream,
		v.Assumption), "; ")
	return v, err
}

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

// Version is a version as someone wrote it, with the release whose behaviour stands for it.
type Version struct {
	// Text is the full version with a leading v, or main.
	Text string
	// Release is one of [All].
	Release string
	// Assumption is a sentence that says how Release was chosen when Text is none of [All].
	Assumption string
}

// written is the shape of versions: v, three numbers of which the last may be missing, then whatever follows.
var written = regexp.MustCompile(`^v?(\d+)\.(\d+)(?:\.(\d+))?((?:[-+].*)?)$`)

// commitsAfter matches the part of a version that counts commits after a release: `+59`, `-59-g1a2b3c4`.
var commitsAfter = regexp.MustCompile(`^(?:\+|-)(\d+)(?:-g[0-9a-f]+.*)?$`)

// Parse reads `0.19.2`, `v0.18.6-rc.1`, `v0.18.5+59`, `0.19` (its newest patch) or `main`.
func Parse(s string) (Version, error) {
	s = strings.TrimSpace(s)
	if strings.EqualFold(s, Main) {
		return Version{Text: Main, Release: Main}, nil
	}
	m := written.FindStringSubmatch(s)
	if m == nil {
		return Version{}, fmt.Errorf("%q is not a version of Kueue; write one like v0.19.2, or main", s)
	}
	v := Version{Text: "v" + strings.TrimPrefix(s, "v")}
	if atoi(m[1]) > 0 {
		v.Release = newest
		v.Assumption = fmt.Sprintf("Kueue %s is newer than what is known; it is taken to behave as %s", v.Text, newest)
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
func newestPatch(v Version, minor int) Version {
	for i, n := range slices.Backward(knownNumbers) {
		if n.minor == minor {
			v.Assumption = fmt.Sprintf("Kueue %s names no patch; its newest known one, %s, is assumed", v.Text,
				releases[i])
			v.Text, v.Release = releases[i], releases[i]
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
func nearest(v Version, n number, why string) Version {
	i, found := slices.BinarySearchFunc(knownNumbers, n, number.compare)
	switch {
	case found:
		v.Release = releases[i]
	case i == 0:
		v.Release = releases[0]
		why = "it is older than the oldest version covered"
	case knownNumbers[i-1].minor == n.minor:
		v.Release = releases[i-1]
		why = cmp.Or(why, "it is newer than the newest known patch")
	default:
		v.Release = newest
		why = "it is newer than what is known"
	}
	if v.Release != v.Text {
		v.Assumption = fmt.Sprintf("Kueue %s is taken to behave as %s: %s", v.Text, v.Release, why)
	}
	return v
}

// releaseSet is a set of releases, one bit each in the order of releases.
type releaseSet uint64

func (s releaseSet) has(release string) bool {
	i := slices.Index(releases, release)
	return i >= 0 && s&(1<<i) != 0
}

// from is the set of releases from each one named to the end of its line. Lines that are not named are not in it,
// so every line a fix reached has to be named. Main goes with the newest line.
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
		if last := len(releases) - 2; knownNumbers[first].minor == knownNumbers[last].minor {
			s |= 1 << (last + 1)
		}
	}
	return s
}

// until is the complement of from: the releases that do not have a change yet.
func until(names ...string) releaseSet { return always &^ from(names...) }

const (
	never  releaseSet = 0
	always releaseSet = ^never
)

// since18, since19 and since20 are the lines from 0.18.0, 0.19.0 and 0.20.0 on.
var (
	since18 = from("v0.18.0", "v0.19.0", "v0.20.0")
	since19 = from("v0.19.0", "v0.20.0")
	since20 = from("v0.20.0")
	// august is the first wave of back-ports of August 2026, augustLate the second: neither is in v0.19.0.
	august     = from("v0.18.5", "v0.19.1", "v0.20.0")
	augustLate = from("v0.18.6", "v0.19.2", "v0.20.0")
	// september and october are waves after that, known from the release notes.
	september = from("v0.18.7", "v0.19.3", "v0.20.0")
	october   = from("v0.19.6", "v0.20.0")
)
