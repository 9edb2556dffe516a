package cluster

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// podDecoder decodes Jobs and Workloads, decoding equal parts once: a Workload repeats the pod specs of its job, and
// users submit the same job again and again. What is equal is shared and must not be changed.
type podDecoder struct {
	specs       part[corev1.PodSpec]
	labels      part[map[string]string]
	sets        part[[]kueue.PodSet]
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
	out := map[kindVersion]decodeFunc{{Job, "v1"}: pods.job, {Workload, "v1beta2"}: pods.workload,
		{ResourceSlice, "v1"}: devices.decode}
	slices, _ := FindKind(ResourceSlice)
	for _, old := range slices.Versions[1:] {
		out[kindVersion{ResourceSlice, old}] = devices.whole(slices.decode[old])
	}
	return out
}

func newPodDecoder() *podDecoder {
	d := &podDecoder{}
	d.specs.limit, d.labels.limit, d.sets.limit, d.assignments.limit = maxPodSpecs, maxPodSpecs, maxPodSpecs,
		maxPodSpecs
	d.sets.fast = d.podSets
	return d
}

func (d *podDecoder) job(data []byte) (decoded, error) {
	spec, ok := at(data, "spec", "template", "spec")
	if !ok {
		return into[batchv1.Job](data)
	}
	parts := [][]byte{spec}
	labels, labelled := at(data, "metadata", "labels")
	if labelled {
		parts = inOrder(data, append(parts, labels))
	}
	job := &batchv1.Job{}
	if unmarshal(blanked(data, parts...), job) != nil {
		return into[batchv1.Job](data)
	}
	var err [2]error
	job.Spec.Template.Spec, err[0] = d.specs.decode(spec)
	if labelled {
		job.Labels, err[1] = d.labels.decode(labels)
	}
	if err != [2]error{} {
		return into[batchv1.Job](data)
	}
	return decoded{job, &job.ObjectMeta}, nil
}

func (d *podDecoder) workload(data []byte) (decoded, error) {
	sets, ok := at(data, "spec", "podSets")
	if !ok {
		return into[kueue.Workload](data)
	}
	parts := [][]byte{sets}
	// What a Workload is charged for is the same for many, too.
	assigned, admitted := at(data, "status", "admission", "podSetAssignments")
	if admitted {
		parts = inOrder(data, append(parts, assigned))
	}
	w := &kueue.Workload{}
	if unmarshal(blanked(data, parts...), w) != nil {
		return into[kueue.Workload](data)
	}
	var err [2]error
	w.Spec.PodSets, err[0] = d.sets.decode(sets)
	if admitted {
		w.Status.Admission.PodSetAssignments, err[1] = d.assignments.decode(assigned)
	}
	// Pod sets without a name are given one, so they are not shared.
	if err != [2]error{} || slices.ContainsFunc(w.Spec.PodSets, func(ps kueue.PodSet) bool { return ps.Name == "" }) {
		return into[kueue.Workload](data)
	}
	return decoded{w, &w.ObjectMeta}, nil
}

// podSets decodes the pod sets of a Workload, decoding equal pod specs once. It reports false for text that is to be
// decoded as a whole.
func (d *podDecoder) podSets(text []byte) ([]kueue.PodSet, bool) {
	var specs [][]byte
	if !elements(text, func(set []byte) bool {
		spec, ok := at(set, "template", "spec")
		specs = append(specs, spec)
		return ok
	}) {
		return nil, false
	}
	var sets []kueue.PodSet
	if unmarshal(blanked(text, specs...), &sets) != nil || len(sets) != len(specs) {
		return nil, false
	}
	for i, spec := range specs {
		var err error
		if sets[i].Template.Spec, err = d.specs.decode(spec); err != nil {
			return nil, false
		}
	}
	return sets, true
}

// inOrder sorts parts of a text by where they stand.
func inOrder(text []byte, parts [][]byte) [][]byte {
	slices.SortFunc(parts, func(a, b []byte) int { return cmp.Compare(offset(text, a), offset(text, b)) })
	return parts
}

// at is the text of the value that stands at a path.
func at(data []byte, path ...string) (value []byte, ok bool) {
	for _, name := range path {
		if data, ok = member(data, name); !ok {
			return nil, false
		}
	}
	return data, true
}

// blanked is a text in which parts, given in order, are null.
func blanked(text []byte, parts ...[]byte) []byte {
	size := len(text)
	for _, part := range parts {
		size += len("null") - len(part)
	}
	out := make([]byte, 0, size)
	from := 0
	for _, part := range parts {
		at := offset(text, part)
		out = append(append(out, text[from:at]...), "null"...)
		from = at + len(part)
	}
	return append(out, text[from:]...)
}
