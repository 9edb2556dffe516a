package rules

import (
	"fmt"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var cohortCycle = &lint.Rule{
	ID: "GQ408", Name: "cohort-cycle", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A Cohort is its own ancestor, or adds quota of its own to that of its queues",
		Why: "ClusterQueues below a Cohort whose parents lead back to it take no workloads, though their status does " +
			"not say so. Quota written in a Cohort comes on top of the quota of its queues: it is not a limit for " +
			"them.",
		Bad: "kind: Cohort\nmetadata: {name: a}\nspec: {parentName: b}\n---\nkind: Cohort\nmetadata: {name: " +
			"b}\nspec: {parentName: a}\n",
		Good:  "kind: Cohort\nmetadata: {name: a}\nspec: {parentName: b}\n---\nkind: Cohort\nmetadata: {name: b}\n",
		Since: "every version",
		Links: []string{linkCohort},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Closed(queuestate.CohortCycle) {
			p.ReportRefusal(r, "", "break the cycle of Cohorts")
		}
		for o, c := range cluster.All[*kueue.Cohort](p.Snapshot, cluster.Cohort) {
			if way := queuestate.AncestorsIn(p.Snapshot, c.Name); way.Loop == 0 {
				back := strings.Join(append(way.Cycle(), c.Name), " → ")
				p.Report(lint.Diagnostic{At: lint.At(o, "spec.parentName"),
					Message: fmt.Sprintf("Cohort %s is its own ancestor (%s): the ClusterQueues below it take no "+
						"workloads", c.Name, back),
					Help: "let one of them have no parent"})
			}
			if len(c.Spec.ResourceGroups) > 0 && membersOf(p, c.Name) > 0 {
				p.Report(lint.Diagnostic{At: lint.At(o, "spec.resourceGroups").Name(), Severity: lint.Info,
					Message: fmt.Sprintf("the quota of Cohort %s is added to that of its %s: it does not limit them",
						c.Name, plural(membersOf(p, c.Name), "member"))})
			}
		}
	},
}

// membersOf counts the ClusterQueues and Cohorts right below a Cohort.
func membersOf(p *lint.Pass, name string) int {
	n := 0
	for _, q := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
		if string(q.Spec.CohortName) == name {
			n++
		}
	}
	for _, c := range cluster.All[*kueue.Cohort](p.Snapshot, cluster.Cohort) {
		if string(c.Spec.ParentName) == name {
			n++
		}
	}
	return n
}
