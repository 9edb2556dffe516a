package rulepack

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// variables are those of a rule for one object. ok is false where the input does not hold what the rule asks for; the
// pass has been told.
func (c *compiled) variables(p *lint.Pass, at candidate) (_ map[string]any, ok bool) {
	out := map[string]any{varObject: map[string]any{}, varCharge: &Charge{}, varQueue: &Queue{}, varCluster: &Cluster{}}
	if c.uses[varObject] {
		object, ok := written(p, at.object)
		if !ok {
			p.Lacks(at.object.Ref.Kind)
			return nil, false
		}
		out[varObject] = object
	}
	if c.uses[varCharge] {
		v, missing := c.chargeOf(p, at)
		if len(missing) > 0 {
			p.Lacks(missing...)
			return nil, false
		}
		out[varCharge] = v
	}
	if c.uses[varQueue] {
		v, missing := queueOf(p, at)
		if missing != "" {
			p.Lacks(missing)
			return nil, false
		}
		out[varQueue] = v
	}
	if c.uses[varCluster] {
		v, ok := c.clusterOf(p, at)
		if !ok {
			return nil, false
		}
		out[varCluster] = v
	}
	return out, true
}

// written is an object in the newest API version with the API server's defaults; of kinds that the program reads only
// in part it is the document as it was read.
func written(p *lint.Pass, o *cluster.Object) (map[string]any, bool) {
	out := map[string]any{}
	if o.Partial() {
		data, ok := p.Written(o)
		return out, ok && json.Unmarshal(data, &out) == nil
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.API())
	if err != nil {
		return nil, false
	}
	out["apiVersion"], out["kind"] = o.Ref.APIVersion, o.Ref.Kind
	return out, true
}

// chargeOf is the variable charge. Its amounts are told only where they are certain.
func (c *compiled) chargeOf(p *lint.Pass, at candidate) (*Charge, []string) {
	ch := at.charge
	if ch == nil {
		return nil, []string{cluster.Workload.Kind}
	}
	w := ch.Workload
	out := &Charge{Verdict: string(ch.Verdict), Total: amounts(ch.Total), Devices: map[string]int64{},
		Problems: []string{},
		PodSets:  []PodSet{}, PriorityClass: w.PriorityClass, Priority: int64(w.Priority)}
	if c.asksAmounts() && ch.Verdict == charge.Unknown {
		missing := ch.Missing
		if len(missing) == 0 {
			missing = []string{"what decides its charge"}
		}
		return nil, missing
	}
	if c.uses["charge.priority"] && w.PriorityMissing != "" {
		return nil, []string{w.PriorityMissing}
	}
	for i, ps := range ch.PodSets {
		set := PodSet{Name: ps.Name, Count: ps.Count, Total: amounts(ps.Totals)}
		if i < len(w.PodSets) {
			set.Count = int64(w.PodSets[i].Count)
		}
		out.PodSets = append(out.PodSets, set)
	}
	if len(ch.PodSets) == 0 {
		for _, ps := range w.PodSets {
			out.PodSets = append(out.PodSets, PodSet{Name: ps.Name, Count: int64(ps.Count), Total: map[string]int64{}})
		}
	}
	for _, problem := range ch.Problems {
		out.Problems = append(out.Problems, problem.Code)
	}
	if c.uses["charge.devices"] {
		if missing := countDevices(p, w, out.Devices); missing != "" {
			return nil, []string{missing}
		}
	}
	return out, nil
}

// asksAmounts tells that the rule reads what is charged, not only what is asked for.
func (c *compiled) asksAmounts() bool {
	return c.uses[".total"] || c.uses["charge.verdict"] || c.uses["charge.problems"]
}

func amounts(of charge.Amounts) map[string]int64 {
	out := map[string]int64{}
	for name, n := range of {
		out[string(name)] = n
	}
	return out
}

// queueOf is the variable queue, or the kind that is missing for it.
func queueOf(p *lint.Pass, at candidate) (*Queue, string) {
	out := &Queue{Nominal: map[string]int64{}, Flavors: []string{}}
	if at.charge == nil {
		return nil, cluster.Workload.Kind
	}
	w := at.charge.Workload
	if out.Name = w.Queue; out.Name == "" {
		return out, ""
	}
	lq, _, ok := cluster.Lookup[*kueue.LocalQueue](p.Snapshot, cluster.LocalQueue, w.Namespace, w.Queue)
	if !ok {
		if !p.Snapshot.Coverage.HasIn(cluster.LocalQueue, w.Namespace) {
			return nil, cluster.LocalQueue.Kind
		}
		return out, ""
	}
	out.ClusterQueue = string(lq.Spec.ClusterQueue)
	cq, _, ok := cluster.Lookup[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue, "", out.ClusterQueue)
	if !ok {
		if !p.Snapshot.Coverage.Has(cluster.ClusterQueue) {
			return nil, cluster.ClusterQueue.Kind
		}
		return out, ""
	}
	out.Exists, out.Cohort, out.Strategy = true, string(cq.Spec.CohortName), string(cq.Spec.QueueingStrategy)
	if cq.Spec.StopPolicy != nil {
		out.StopPolicy = string(*cq.Spec.StopPolicy)
	}
	for _, g := range cq.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			out.Flavors = append(out.Flavors, string(f.Name))
			for _, r := range f.Resources {
				out.Nominal[string(r.Name)] = charge.Add(out.Nominal[string(r.Name)],
					charge.Units(r.Name, r.NominalQuota))
			}
		}
	}
	return out, ""
}

// clusterOf is the variable cluster.
func (c *compiled) clusterOf(p *lint.Pass, at candidate) (*Cluster, bool) {
	for _, n := range needed {
		if !strings.HasPrefix(n.uses, varCluster+".") || !c.uses[n.uses] || n.uses == varCluster+".namespaceLabels" {
			continue
		}
		if !p.Need(n.kinds...) {
			return nil, false
		}
	}
	out := &Cluster{KueueVersion: p.Config.Version, OpenShift: p.Config.OpenShift,
		FeatureGates: maps.Clone(p.Config.Gates), Mappings: map[string]string{},
		NamespaceLabels: map[string]string{}, DeviceClasses: names(p.Snapshot,
			cluster.DeviceClass), ClusterQueues: names(p.Snapshot, cluster.ClusterQueue)}
	if p.Kubernetes.Known() {
		out.KubernetesVersion = p.Kubernetes.String()
	}
	for _, m := range p.Config.Mappings() {
		for _, class := range m.DeviceClassNames {
			if _, known := out.Mappings[string(class)]; !known { // the first mapping counts
				out.Mappings[string(class)] = string(m.Name)
			}
		}
	}
	if c.uses[varCluster+".namespaceLabels"] {
		of, ok := namespaceLabels(p, at.object.Ref.Namespace)
		if !ok {
			return nil, false
		}
		maps.Copy(out.NamespaceLabels, of)
	}
	return out, true
}

func names(s *cluster.Snapshot, gk schema.GroupKind) []string {
	out := []string{}
	for _, o := range s.List(gk) {
		out = append(out, o.Ref.Name)
	}
	slices.Sort(out)
	return out
}
