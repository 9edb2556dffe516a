package cluster

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// podDecoder decodes Jobs and Workloads, decoding equal pod specs once: a Workload repeats those of its job, and users submit the
// same job again and again. What stands in an equal pod spec is shared and must not be changed.
type podDecoder struct {
	specs       part[corev1.PodSpec]
	assignments part[[]kueue.PodSetAssignment]
}

// maxPodSpecs bounds the memory for pod specs of which each is different.
const maxPodSpecs = 1 << 12

// kindVersion is a kind in one version.
type kindVersion struct {
	schema.GroupKind
	version string
}

// sharedDecoders decode kinds of which there are many, sharing what is equal.
func sharedDecoders() map[kindVersion]decodeFunc {
	pods, devices := newPodDecoder(), newSliceDecoder()
	out := map[kindVersion]decodeFunc{{Job, "v1"}: pods.job, {Workload, "v1beta2"}: pods.workload, {ResourceSlice, "v1"}: devices.decode}
	slices, _ := FindKind(ResourceSlice)
	for _, old := range slices.Versions[1:] {
		out[kindVersion{ResourceSlice, old}] = devices.whole(slices.decode[old])
	}
	return out
}

func newPodDecoder() *podDecoder {
	d := &podDecoder{}
	d.specs.limit, d.assignments.limit = maxPodSpecs, maxPodSpecs
	return d
}

func (d *podDecoder) job(data []byte) (decoded, error) {
	spec, ok := podSpec(data, "spec", "template")
	if !ok {
		return into[batchv1.Job](data)
	}
	job := &batchv1.Job{}
	if unmarshal(blanked(data, spec), job) != nil {
		return into[batchv1.Job](data)
	}
	var err error
	if job.Spec.Template.Spec, err = d.specs.decode(spec); err != nil {
		return into[batchv1.Job](data)
	}
	return decoded{job, &job.ObjectMeta}, nil
}

func (d *podDecoder) workload(data []byte) (decoded, error) {
	specs, ok := podSpecsOfSets(data)
	if !ok {
		return into[kueue.Workload](data)
	}
	assigned := assignments(data)
	parts := specs
	if assigned != nil {
		parts = inOrder(data, append(slices.Clone(specs), assigned))
	}
	w := &kueue.Workload{}
	if unmarshal(blanked(data, parts...), w) != nil || len(w.Spec.PodSets) != len(specs) {
		return into[kueue.Workload](data)
	}
	var err error
	for i := range specs {
		if w.Spec.PodSets[i].Template.Spec, err = d.specs.decode(specs[i]); err != nil {
			return into[kueue.Workload](data)
		}
	}
	if assigned != nil {
		if w.Status.Admission.PodSetAssignments, err = d.assignments.decode(assigned); err != nil {
			return into[kueue.Workload](data)
		}
	}
	return decoded{w, &w.ObjectMeta}, nil
}

// assignments is the text of what a Workload is charged for, which is the same for many.
func assignments(data []byte) []byte {
	for _, name := range []string{"status", "admission", "podSetAssignments"} {
		var ok bool
		if data, ok = member(data, name); !ok {
			return nil
		}
	}
	return data
}

// inOrder sorts parts of a text by where they stand.
func inOrder(text []byte, parts [][]byte) [][]byte {
	slices.SortFunc(parts, func(a, b []byte) int { return cmp.Compare(offset(text, a), offset(text, b)) })
	return parts
}

// podSpecsOfSets are the pod specs of a Workload, one of each pod set.
func podSpecsOfSets(data []byte) (specs [][]byte, ok bool) {
	spec, ok := member(data, "spec")
	if !ok {
		return nil, false
	}
	sets, ok := member(spec, "podSets")
	if !ok {
		return nil, false
	}
	ok = elements(sets, func(set []byte) bool {
		pod, ok := podSpec(set, "template")
		specs = append(specs, pod)
		return ok
	})
	return specs, ok
}

// podSpec is the text of the spec of the template that stands at a path.
func podSpec(data []byte, path ...string) (spec []byte, ok bool) {
	for _, name := range append(path, "spec") {
		if data, ok = member(data, name); !ok {
			return nil, false
		}
	}
	return data, true
}

// blanked is a text in which parts, given in order, are null.
func blanked(text []byte, parts ...[]byte) []byte {
	out := make([]byte, 0, len(text))
	from := 0
	for _, part := range parts {
		at := offset(text, part)
		out = append(append(out, text[from:at]...), "null"...)
		from = at + len(part)
	}
	return append(out, text[from:]...)
}
