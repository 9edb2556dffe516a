package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/reference"
)

// known holds differences that are understood and not settled, with what they come from.
type known map[knownKey]string

type knownKey struct {
	version, mode string
	seed          uint64
}

// readKnown reads lines of version, seed, mode and cause. Lines that begin with # say something else.
func readKnown(file string) (known, error) {
	out := known{}
	if file == "" {
		return out, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		fields := strings.SplitN(text, " ", 4)
		if len(fields) < 4 {
			return nil, fmt.Errorf("%s:%d: not a version, a seed, a mode and a cause", file, n)
		}
		seed, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		out[knownKey{fields[0], fields[2], seed}] = fields[3]
	}
	return out, lines.Err()
}

func (k known) cause(f finding) string {
	return k[knownKey{reference.KueueVersion, f.contest.Mode(), f.seed}]
}

// split takes the findings out that are known, and prints them.
func (k known) split(findings []finding) (fresh []finding) {
	for _, f := range findings {
		if why := k.cause(f); why != "" && f.err == nil {
			fmt.Printf("known: seed %d, %s: %s\n", f.seed, f.contest.Mode(), why)
			continue
		}
		fresh = append(fresh, f)
	}
	return fresh
}
