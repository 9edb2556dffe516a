// Whether a flavor takes the pods: topology, taints, affinity. Mirrors checkFlavorForPodSets and flavorSelector of
// pkg/scheduler/flavorassigner.

package admission

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corehelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

type flavorKey struct {
	set    int
	flavor string
}

// refuses says, in Kueue's words, why a flavor does not take the pods of a pod set; empty when it does. Quota is not
// looked at.
func (s *scheduler) refuses(wl *schedulerWorkload, set int, f *flavor, g *group) string {
	key := flavorKey{set, f.name}
	why, known := wl.fits[key]
	if !known {
		why = s.mismatch(wl, set, f, g)
		if wl.fits == nil {
			wl.fits = map[flavorKey]string{}
		}
		wl.fits[key] = why
	}
	return why
}

func (s *scheduler) mismatch(wl *schedulerWorkload, set int, f *flavor, g *group) string {
	if f.object == nil {
		return message.Of(message.FlavorNotFound, f.name).Text()
	}
	ps := &wl.sets[set]
	if s.gate(release.TopologyAwareScheduling) {
		if why := topologyMismatch(wl.queue, ps, f, g); why != "" {
			return why
		}
	}
	tolerations := append(append([]corev1.Toleration(nil), ps.spec.Tolerations...), f.object.Spec.Tolerations...)
	taint, untolerated := corehelpers.FindMatchingUntoleratedTaint(
		klog.Background(),
		f.object.Spec.NodeTaints,
		tolerations,
		blocks,
		true,
	)
	if untolerated {
		return message.Of(message.UntoleratedTaint, fmt.Sprint(taint), f.name).Text()
	}
	keys := g.labels
	if s.behavior.AffinityKeysPerFlavor {
		keys = labelKeys(f.object.Spec.NodeLabels, nil)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: f.object.Spec.NodeLabels}}
	match, err := affinityOf(ps.spec, keys).Match(node)
	switch {
	case err != nil:
		return err.Error()
	case !match:
		return message.Of(message.NodeAffinity, f.name).Text()
	}
	return ""
}

func blocks(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

// topologyMismatch compares what the pods ask for with whether the flavor has a topology.
func topologyMismatch(q *queue, ps *podSet, f *flavor, g *group) string {
	switch {
	case ps.topology && !f.topology():
		if !asksFor(ps, g) {
			return "" // the flavor serves resources that the pods do not ask nodes for
		}
		return message.Of(message.NoTopology, f.name).Text()
	case ps.topology, q.topologyOnly:
		return ""
	case f.topology():
		return message.Of(message.OnlyTopology, f.name).Text()
	}
	return ""
}

// asksFor reports whether the pods themselves request a resource of the group.
func asksFor(ps *podSet, g *group) bool {
	for _, containers := range [][]corev1.Container{ps.spec.InitContainers, ps.spec.Containers} {
		for i := range containers {
			for name := range containers[i].Resources.Requests {
				if g.covered[name] {
					return true
				}
			}
		}
	}
	return false
}

func labelKeys(labels map[string]string, into map[string]bool) map[string]bool {
	if into == nil {
		into = make(map[string]bool, len(labels))
	}
	for k := range maps.Keys(labels) {
		into[k] = true
	}
	return into
}

// affinityOf keeps the parts of node selector and required node affinity that are about the keys. Terms are ORed: when
// nothing is left of one of them, any node will do, and the affinity is dropped altogether.
func affinityOf(spec *corev1.PodSpec, keys map[string]bool) nodeaffinity.RequiredNodeAffinity {
	var kept corev1.PodSpec
	for k, v := range spec.NodeSelector {
		if keys[k] {
			if kept.NodeSelector == nil {
				kept.NodeSelector = map[string]string{}
			}
			kept.NodeSelector[k] = v
		}
	}
	if terms := requiredTerms(spec, keys); len(terms) > 0 {
		kept.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
	return nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: kept})
}

func requiredTerms(spec *corev1.PodSpec, keys map[string]bool) []corev1.NodeSelectorTerm {
	a := spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	var out []corev1.NodeSelectorTerm
	for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		var kept []corev1.NodeSelectorRequirement
		for _, e := range t.MatchExpressions {
			if keys[e.Key] {
				kept = append(kept, e)
			}
		}
		if len(kept) == 0 {
			return nil
		}
		out = append(out, corev1.NodeSelectorTerm{MatchExpressions: kept})
	}
	return out
}
