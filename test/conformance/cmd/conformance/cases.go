package main

import (
	"fmt"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/contest"
	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/reference"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// writeCase keeps a cluster with the answers of the Kueue linked.
func (o options) writeCase(f finding, cluster *objects.Cluster, differences []outcome.Difference) error {
	dump, err := cluster.Encode()
	if err != nil {
		return err
	}
	var comment strings.Builder
	fmt.Fprintf(&comment, "Seed %d, %s, Kueue %s: they differed in", f.seed, f.contest.Mode(), reference.KueueVersion)
	for i, d := range differences {
		if i > 0 {
			comment.WriteString(";")
		}
		fmt.Fprintf(&comment, " %s of %s", d.Aspect, d.About)
	}
	c := &outcome.Case{
		Name:    fmt.Sprintf("seed-%d-%s", f.seed, f.contest.Mode()),
		Comment: comment.String() + ".",
		Dump:    dump,
		Answers: map[string][]*outcome.Result{},
	}
	if err := o.askAgain(c); err != nil {
		return err
	}
	return c.Write(o.cases)
}

// refresh asks the Kueue linked about every case of a directory, and leaves the answers of other versions alone.
func (o options) refresh() error {
	cases, err := outcome.ReadCases(o.cases)
	if err != nil {
		return err
	}
	for _, c := range cases {
		if err := o.askAgain(c); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if err := c.Write(o.cases); err != nil {
			return err
		}
	}
	fmt.Printf("%d cases answered by Kueue %s\n", len(cases), reference.KueueVersion)
	return nil
}

func (o options) askAgain(c *outcome.Case) error {
	cluster, err := objects.Decode(c.Dump)
	if err != nil {
		return err
	}
	for _, replay := range []bool{false, true} {
		asked := contest.Contest{Runs: max(o.runs, 8), Replay: replay}
		answers, err := asked.AskKueue(cluster)
		if err != nil {
			return err
		}
		key := reference.KueueVersion + "/" + asked.Mode()
		if answers[0].Unsettled {
			delete(c.Answers, key)
			continue
		}
		c.Answers[key] = answers
	}
	return nil
}
