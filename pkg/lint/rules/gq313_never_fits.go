package rules

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

var neverFits = &lint.Rule{
	ID: "GQ313", Name: "never-fits", Severity: lint.Error, Concurrent: true,
	Doc: lint.Doc{
		Title: "A workload needs more than its queue can ever give",
		Why: "A ClusterQueue can give its own quota and what it may borrow from its cohort, were nothing used. A " +
			"request above that is never admitted, however long it waits; in a StrictFIFO queue it blocks everything " +
			"behind it.",
		Bad:   "# whole-gpus: nominalQuota 8, no cohort\nspec: {parallelism: 9}   # one GPU each\n",
		Good:  "spec: {parallelism: 8}\n",
		Since: "every version",
		Links: []string{linkClusterQueue, linkCohort},
	},
	Check: func(p *lint.Pass) {
		reportReduced(p)
		format := charge.Formatter{Binary: p.Config.BinaryResource}
		for _, b := range neverFitting(p) {
			told := map[corev1.ResourceName]bool{}
			for _, a := range b.tried {
				for _, l := range a.Lines {
					if !l.Over || told[l.Resource] {
						continue
					}
					told[l.Resource] = true
					at, _ := lineOf(b.charge, l.Resource)
					needs := format.Format(l.Resource, int64(l.Requested.Add(l.Before)))
					most := format.Format(l.Resource, int64(l.Maximum))
					p.Report(lint.Diagnostic{At: at, Severity: b.severity,
						Related: quotaPlaces(b.queue, l.FlavorResource),
						Message: fmt.Sprintf("pod set %s needs %s of %s, and ClusterQueue %s can give at most %s in "+
							"flavor %s: it is never admitted%s", b.podSet, needs, l.Resource, b.queue.Ref.Name, most,
							l.Flavor, b.assuming),
						Help: "ask for less, raise the quota, or let the queue borrow more from its cohort"})
				}
			}
		}
	},
}

// quotaPlaces is where a ClusterQueue sets its quota of a resource in a flavor.
func quotaPlaces(record *cluster.Object, fr quota.FlavorResource) []lint.Place {
	cq := cluster.As[*kueue.ClusterQueue](record)
	if cq == nil {
		return nil
	}
	for i, g := range cq.Spec.ResourceGroups {
		for j, f := range g.Flavors {
			for k, r := range f.Resources {
				if string(f.Name) == string(fr.Flavor) && r.Name == fr.Resource {
					return []lint.Place{lint.At(record,
						fmt.Sprintf("spec.resourceGroups[%d].flavors[%d].resources[%d].nominalQuota", i, j,
							k)).Saying("the queue's own quota")}
				}
			}
		}
	}
	return nil
}

// reportReduced reports the workloads that even an idle cluster admits only in part.
func reportReduced(p *lint.Pass) {
	if len(p.Snapshot.List(cluster.Workload)) > 0 {
		return // what is in use may be the reason
	}
	if !slices.ContainsFunc(p.Workloads(), partial) {
		return
	}
	complete := p.IfComplete()
	for _, w := range complete.Workloads {
		if !lint.Waits(w) || !partial(w) {
			continue
		}
		c := complete.Charge(w)
		if c.Verdict != charge.Charged {
			continue
		}
		for _, admitted := range complete.Decide(c).PodSets {
			for _, ps := range c.Workload.PodSets {
				if ps.Name == admitted.Name && admitted.Count < ps.Count {
					p.Report(lint.Diagnostic{At: lint.Subject(c.Workload), Severity: lint.Warning,
						Message: fmt.Sprintf("pod set %s never fits with all its %d pods: at most %d are admitted",
							ps.Name, ps.Count, admitted.Count),
						Help: "ask for fewer pods, or raise the quota of the queue"})
				}
			}
		}
	}
}

// partial tells that a pod set may be admitted with fewer pods.
func partial(w *workload.Workload) bool {
	for _, ps := range w.PodSets {
		if ps.MinCount != nil {
			return true
		}
	}
	return false
}
