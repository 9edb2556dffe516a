package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

const queuesLong = `Shows the ClusterQueues in the trees of their cohorts: for every flavor and resource the
quota, what is used of it, borrowed from others and lent to them, and what could still
be taken; and how many workloads wait, and for what.

Usage is added up from the Workloads, of all namespaces. Where these may not be read
it is what the status of the ClusterQueues says. Where the two differ, that is told.

USED is what workloads have reserved. FREE is what one more workload could get without
preempting anybody, borrowing included. Where several queues have quota to spare, nothing
tells whose is lent: "up to" gives the most it can be.

Exit codes: 0 done; 2 a usage error, or a part of the input that could not be read
(the rest is still used); 3 an unknown usage or demand under --strict.`

const queuesExample = `  # All trees
  kubectl gpu-quota queues

  # One queue, or one cohort with everything below it
  kubectl gpu-quota queues team-a
  kubectl gpu-quota queues cohort/research

  # From an export, without a cluster
  kubectl gpu-quota queues --from export.yaml -o wide

  # For a program: what is free of each flavor and resource
  kubectl gpu-quota queues -o jsonpath='{range .items[*].quota[*]}{.flavor} {.resource} {.available}{"\n"}{end}'`

func newQueues(env Env) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:     "queues [NAME ...] [flags]",
		Short:   "Show cohorts and queues: quota, usage, what is lent, what waits",
		Long:    queuesLong,
		Example: queuesExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.toOptions(env, nil)
			if err == nil {
				o.everywhere, o.showsAll = true, true
				_, err = parseQueueNames(args)
			}
			if err != nil {
				return usageError{err, cmd.CommandPath()}
			}
			return runQueues(cmd.Context(), env, o, args)
		},
		ValidArgsFunction: f.completeQueues,
	}
	f.registerShared(cmd)
	setUsage(cmd, "namespace", "namespace of the objects of -f that name none")
	setUsage(cmd, "strict", "exit with code 3 when usage or demand is unknown for lack of evidence")
	return cmd
}

func runQueues(ctx context.Context, env Env, o *options, args []string) error {
	s, err := load(ctx, env, o)
	if err != nil {
		return err
	}
	names, err := parseQueueNames(args)
	if err != nil {
		return err
	}
	trees := s.decider(s.allCharges()).Trees()
	keeps, found, notFound := keepQueues(trees, names)
	unknown := 0
	for _, root := range trees.Roots {
		if unknown += root.Counts.Unknown; !root.Known {
			unknown++
		}
	}
	if notFound != nil && found == 0 {
		if why := s.snap.Coverage.WhyMissing(cluster.ClusterQueue); why != "" {
			return fmt.Errorf("%w (ClusterQueue: %s)", notFound, why)
		}
		return notFound
	}
	err = s.finishWith(env, o, report.NewQueues(s.conf, trees, keeps),
		errIncomplete{unknown: unknown, what: "unknown usages and demands"})
	if err == nil {
		return notFound
	}
	return err
}

// queueName is an argument of queues: a ClusterQueue or a cohort, either when kind is empty.
type queueName struct{ kind, name string }

const (
	kindQueue  = "ClusterQueue"
	kindCohort = "Cohort"
)

// queueKinds are the types an argument may name.
var queueKinds = map[string]string{
	"clusterqueue": kindQueue, "clusterqueues": kindQueue, "cq": kindQueue, "clusterqueue.kueue.x-k8s.io": kindQueue,
	"clusterqueues.kueue.x-k8s.io": kindQueue,
	"cohort":                       kindCohort, "cohorts": kindCohort, "cohort.kueue.x-k8s.io": kindCohort,
	"cohorts.kueue.x-k8s.io": kindCohort,
}

func parseQueueNames(args []string) ([]queueName, error) {
	var out []queueName
	for _, arg := range args {
		kind, name, typed := strings.Cut(arg, "/")
		if !typed {
			kind, name = "", arg
		} else if kind = queueKinds[strings.ToLower(kind)]; kind == "" {
			return nil, fmt.Errorf("%q is neither a name nor clusterqueue/NAME nor cohort/NAME", arg)
		}
		if name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("%q names no queue", arg)
		}
		out = append(out, queueName{kind, name})
	}
	return out, nil
}

// keepQueues finds the nodes that are named and, of cohorts, all below them. The error tells which are not there.
func keepQueues(trees *admission.Trees, names []queueName) (keeps func(*admission.TreeNode) bool, found int,
	notFound error) {
	if len(names) == 0 {
		return nil, 0, nil
	}
	kept, hit := map[*admission.TreeNode]bool{}, map[queueName]bool{}
	var walk func(n *admission.TreeNode, inside bool)
	walk = func(n *admission.TreeNode, inside bool) {
		kind := kindCohort
		if n.Queue {
			kind = kindQueue
		}
		for _, want := range names {
			if want.name == n.Name && (want.kind == "" || want.kind == kind) {
				hit[want], inside = true, true
			}
		}
		kept[n] = inside
		for _, c := range n.Children {
			walk(c, inside)
		}
	}
	for _, root := range trees.Roots {
		walk(root, false)
	}
	var missing []error
	for _, want := range slices.Compact(slices.Clone(names)) {
		if hit[want] {
			continue
		}
		kind := want.kind
		if kind == "" {
			kind = kindQueue + " or " + kindCohort
		}
		missing = append(missing, fmt.Errorf("%s %s not found", kind, want.name))
	}
	return func(n *admission.TreeNode) bool { return kept[n] }, len(hit), errors.Join(missing...)
}
