package device

import (
	"iter"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// Counts tells on how many published devices the selectors are true, and on how many they can't be evaluated. It looks
// at every slice, as the search for enough devices does.
func (m *Match) Counts() (matched, failing int64) {
	for _, g := range m.order {
		switch r := m.results[g.shape]; {
		case r.fails():
			failing += g.devices
		case r.match:
			matched += g.devices
		}
	}
	return matched, failing
}

// Of tells whether the selectors are true on one device of a slice; the error is why they can't be evaluated, the first
// by name of several. It holds until
// the inventory is asked to match selectors that look at more.
func (m *Match) Of(s *Slice, i int) (bool, error) {
	r := m.results[s.groups[i].shape]
	if r.fails() {
		return false, r.errs[0]
	}
	return r.match, nil
}

// FirstFailure is the first device, by slice name, on which the selectors can't be evaluated.
func (m *Match) FirstFailure() (Failure, bool) {
	for _, s := range m.inv.Slices {
		for i, g := range s.groups {
			if r := m.results[g.shape]; r.fails() {
				return Failure{Device: s.Object.Spec.Devices[i].Name, Slice: s, Row: r.row, Err: r.errs[0]}, true
			}
		}
	}
	return Failure{}, false
}

// Devices yields the matching devices with their slices, by slice name.
func (m *Match) Devices() iter.Seq2[*Slice, *cluster.Device] {
	return func(yield func(*Slice, *cluster.Device) bool) {
		for s, i := range m.Indexes() {
			if !yield(s, &s.Object.Spec.Devices[i]) {
				return
			}
		}
	}
}

// Indexes yields the slices and indexes of the matching devices, by slice name.
func (m *Match) Indexes() iter.Seq2[*Slice, int] {
	return func(yield func(*Slice, int) bool) {
		for _, s := range m.inv.Slices {
			for i, g := range s.groups {
				if m.results[g.shape].match && !yield(s, i) {
					return
				}
			}
		}
	}
}

// All yields every published device with its slice, by slice name.
func (inv *Inventory) All() iter.Seq2[*Slice, *cluster.Device] {
	return func(yield func(*Slice, *cluster.Device) bool) {
		for _, s := range inv.Slices {
			for i := range s.Object.Spec.Devices {
				if !yield(s, &s.Object.Spec.Devices[i]) {
					return
				}
			}
		}
	}
}

// Qualify returns the domain and the ID of an attribute or capacity name of a driver's device, as selectors see it.
func Qualify(name resourcev1.QualifiedName, driver string) (domain, id string) {
	n := qualify(name, driver)
	return n.domain, n.id
}
