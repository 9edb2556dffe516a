package remedy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// fitFlavor changes the pods so that they may use a flavor that turned them away: tolerations for its taints, its
// labels in their node selector.
func (f *Finder) fitFlavor(x *subject) []Remedy {
	var out []Remedy
	tried := map[string]bool{}
	for _, at := range x.Predicted.Attempts {
		if len(at.Lines) > 0 || tried[at.Flavor] {
			continue
		}
		tried[at.Flavor] = true
		flavor := cluster.As[*kueue.ResourceFlavor](f.snap.Get(cluster.ResourceFlavor, "", at.Flavor))
		if flavor == nil {
			continue
		}
		how, known := x.common.suits[flavor.Name]
		if !known {
			how = f.suit(x, flavor)
			x.common.suits[flavor.Name] = how
		}
		if how.served {
			out = append(out, f.suited(x, flavor.Name, how.tolerations, how.labels))
		}
	}
	return out
}

// tolerated are the changes that make pods fit flavors which turned them away, though they may not be served there yet.
func (f *Finder) tolerated(x *subject) []Remedy {
	var out []Remedy
	for _, at := range x.Predicted.Attempts {
		flavor := cluster.As[*kueue.ResourceFlavor](f.snap.Get(cluster.ResourceFlavor, "", at.Flavor))
		if len(at.Lines) > 0 || flavor == nil {
			continue
		}
		if t, l := tolerate(flavor.Spec.NodeTaints), selected(x, flavor); len(t)+len(l) > 0 {
			if r := f.suited(x, flavor.Name, t, l); len(r.Changes) > 0 {
				out = append(out, r)
			}
		}
	}
	return out
}

// selected are the labels of a flavor that the pods' node selectors contradict.
func selected(x *subject, flavor *kueue.ResourceFlavor) map[string]string {
	labels := map[string]string{}
	for _, ps := range x.Charge.PodSets {
		for k := range ps.Spec.NodeSelector {
			if want, ok := flavor.Spec.NodeLabels[k]; ok && ps.Spec.NodeSelector[k] != want {
				labels[k] = want
			}
		}
	}
	return labels
}

// suit tries to make all pods fit one flavor.
func (f *Finder) suit(x *subject, flavor *kueue.ResourceFlavor) suiting {
	labels := selected(x, flavor)
	tolerations := tolerate(flavor.Spec.NodeTaints)
	for _, option := range []suiting{{tolerations, nil, true}, {nil, labels, true}, {tolerations, labels, true}} {
		if len(option.tolerations)+len(option.labels) == 0 {
			continue
		}
		d := f.engine.DecideWith(x.Charge, admission.WhatIf{Spec: func(_ int, spec *corev1.PodSpec) {
			spec.Tolerations = append(spec.Tolerations, option.tolerations...)
			for k, v := range option.labels {
				if _, has := spec.NodeSelector[k]; has {
					spec.NodeSelector[k] = v
				}
			}
		}})
		if served(d) {
			return option
		}
	}
	return suiting{}
}

// tolerate makes a toleration for every taint that keeps pods off.
func tolerate(taints []corev1.Taint) []corev1.Toleration {
	var out []corev1.Toleration
	for _, t := range taints {
		if t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute {
			out = append(out,
				corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: t.Effect})
		}
	}
	return out
}

func (f *Finder) suited(x *subject, flavor string, tolerations []corev1.Toleration, labels map[string]string) Remedy {
	var texts []string
	for _, t := range tolerations {
		texts = append(texts, fmt.Sprintf("tolerate %s=%s:%s", t.Key, t.Value, t.Effect))
	}
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		texts = append(texts, fmt.Sprintf("select nodes with %s=%s", k, labels[k]))
	}
	r := Remedy{Action: "let the pods " + strings.Join(texts, " and "), Effect: "they then fit flavor " + flavor}
	w := x.Charge.Workload
	if w.Owner == nil || w.Owner.Ref.GroupKind() != cluster.Job || len(x.Charge.PodSets) != 1 {
		r.Changes = suitedSets(x, tolerations, labels)
		return r
	}
	spec := x.Charge.PodSets[0].Spec
	const at = "/spec/template/spec"
	var ops []op
	if len(tolerations) > 0 {
		ops = append(ops, op{"add", at + "/tolerations", append(slices.Clone(spec.Tolerations), tolerations...)})
	}
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		ops = append(ops, op{"replace", at + "/nodeSelector/" + escape(k), labels[k]})
	}
	patch := operations(ops...)
	r.Patch, r.Changes = kubectlPatch(w.Owner.Ref, patch), []cluster.Change{{Ref: w.Owner.Ref, Patch: patch}}
	return r
}

// suitedSets makes the change on the Workload, for kinds whose pods are described in several places.
func suitedSets(x *subject, tolerations []corev1.Toleration, labels map[string]string) []cluster.Change {
	if x.Charge.Workload.Record == nil {
		return nil
	}
	var ops []op
	for i, ps := range x.Charge.PodSets {
		at := fmt.Sprintf("/spec/podSets/%d/template/spec", i)
		if len(tolerations) > 0 {
			ops = append(ops, op{"add", at + "/tolerations", append(slices.Clone(ps.Spec.Tolerations), tolerations...)})
		}
		for _, k := range slices.Sorted(maps.Keys(labels)) {
			if _, has := ps.Spec.NodeSelector[k]; has {
				ops = append(ops, op{"replace", at + "/nodeSelector/" + escape(k), labels[k]})
			}
		}
	}
	return []cluster.Change{{Ref: x.Charge.Workload.Record.Ref, Patch: operations(ops...)}}
}
