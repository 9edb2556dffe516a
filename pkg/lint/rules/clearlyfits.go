package rules

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// clearlyFits tells without a decision that a workload fits an idle queue: in each group of resources one flavor has
// nominal quota for all of it, and takes any pods. Where it answers false, nothing is said.
func clearlyFits(f *lint.Facts, c *charge.Charge) bool {
	if c.Verdict != charge.Charged || len(c.Total) == 0 {
		return false
	}
	if o := c.Workload.Object; o != nil && len(o.Status.AdmissionChecks) > 0 {
		return false // checks may choose nodes
	}
	cq, _ := f.ClusterQueueOf(c.Workload.Namespace, c.Workload.Queue)
	if cq == nil {
		return false
	}
	selects, topology := podsChoose(c)
	if topology {
		return false
	}
	covered := 0
	for i := range cq.Spec.ResourceGroups {
		g := &cq.Spec.ResourceGroups[i]
		n, ok := fitsGroup(f, g, c.Total, selects)
		if !ok {
			return false
		}
		covered += n
	}
	return covered == len(c.Total)
}

// podsChoose tells what pods of a workload ask of nodes: that they select them by labels, that they want topology.
func podsChoose(c *charge.Charge) (selects, topology bool) {
	for i := range c.Workload.PodSets {
		t := c.Workload.PodSets[i].Template
		if t == nil {
			return true, true
		}
		selects = selects || len(t.Spec.NodeSelector) > 0 || t.Spec.Affinity != nil
		for name := range t.Annotations {
			topology = topology || strings.HasPrefix(name, "kueue.x-k8s.io/podset-")
		}
	}
	return selects, topology
}

// fitsGroup counts the resources charged that a group covers. It answers false when no flavor surely takes them all.
func fitsGroup(f *lint.Facts, g *kueue.ResourceGroup, total charge.Amounts, selects bool) (covered int, ok bool) {
	for _, name := range g.CoveredResources {
		if _, charged := total[name]; charged {
			covered++
		}
		if name == corev1.ResourcePods {
			return 0, false // pods are counted by the scheduler, not charged
		}
	}
	if covered == 0 {
		return 0, true
	}
	found := false
	for i := range g.Flavors {
		of, _, known := cluster.Lookup[*kueue.ResourceFlavor](f.Snapshot, cluster.ResourceFlavor, "",
			string(g.Flavors[i].Name))
		if !known || selects && len(of.Spec.NodeLabels) > 0 {
			return 0, false
		}
		if len(of.Spec.NodeTaints) == 0 && of.Spec.TopologyName == nil && holds(&g.Flavors[i], total) {
			found = true
		}
	}
	return covered, found
}

// holds tells that the nominal quotas of a flavor are not below the amounts.
func holds(of *kueue.FlavorQuotas, total charge.Amounts) bool {
	for i := range of.Resources {
		r := &of.Resources[i]
		if amount, charged := total[r.Name]; charged && quota.AmountOf(r.Name, r.NominalQuota) < quota.Amount(amount) {
			return false
		}
	}
	return true
}
