package remedy

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// published is what the devices of a driver have: names of capacities and of counters, and how much of each capacity
// may be asked of a device.
type published struct {
	capacities map[resourcev1.QualifiedName][]resource.Quantity // ascending
	counters   map[string]bool
}

// publishedBy looks at all devices of a driver.
func (f *Finder) publishedBy(driver string) *published {
	if p, known := f.published[driver]; known {
		return p
	}
	p := &published{capacities: map[resourcev1.QualifiedName][]resource.Quantity{}, counters: map[string]bool{}}
	for _, s := range cluster.All[*cluster.DeviceSlice](f.snap, cluster.ResourceSlice) {
		if s.Spec.Driver != driver {
			continue
		}
		for i := range s.Spec.Devices {
			p.add(&s.Spec.Devices[i])
		}
	}
	for name, amounts := range p.capacities {
		slices.SortFunc(amounts, func(a, b resource.Quantity) int { return a.Cmp(b) })
		p.capacities[name] = slices.CompactFunc(amounts, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
	}
	f.published[driver] = p
	return p
}

func (p *published) add(d *cluster.Device) {
	for name, c := range d.Capacity {
		amounts := p.capacities[name]
		note := func(q resource.Quantity) {
			if !slices.ContainsFunc(amounts, func(a resource.Quantity) bool { return a.Cmp(q) == 0 }) {
				amounts = append(amounts, q)
			}
		}
		note(c.Value)
		if policy := c.RequestPolicy; policy != nil {
			for _, q := range policy.ValidValues {
				note(q)
			}
			if policy.ValidRange != nil && policy.ValidRange.Max != nil {
				note(*policy.ValidRange.Max)
			}
		}
		p.capacities[name] = amounts
	}
	for _, c := range d.ConsumesCounters {
		for name := range c.Counters {
			p.counters[name] = true
		}
	}
}

// publishedName has a mapping charge a capacity or counter that devices of its driver have, in place of one that they
// do not.
func (f *Finder) publishedName(x *subject) []Remedy {
	o := f.snap.Get(f.conf.Ref.GroupKind(), f.conf.Ref.Namespace, f.conf.Ref.Name)
	cm := cluster.As[*corev1.ConfigMap](o)
	unpublished := slices.ContainsFunc(x.Charge.Problems,
		func(p charge.Problem) bool { return p.Code == charge.CodeNoCapacity || p.Code == charge.CodeNoCounter })
	if !unpublished || cm == nil {
		return nil
	}
	var out []Remedy
	for _, s := range f.conf.Sources() {
		kind, names := "counter", slices.Collect(maps.Keys(f.publishedBy(s.Driver).counters))
		if s.Capacity {
			kind, names = "capacity", nil
			for name := range f.publishedBy(s.Driver).capacities {
				names = append(names, string(name))
			}
		}
		if slices.Contains(names, s.Name) {
			continue
		}
		slices.Sort(names)
		for _, name := range names {
			text, ok := renamedSource(cm.Data[configKey], s.Mapping, s.Index, kind, name)
			if !ok {
				continue
			}
			r := Remedy{
				Action: fmt.Sprintf("mapping %s: charge %s %s instead of %s in %s (resources.deviceClassMappings), "+
					"then restart the Kueue manager", s.Resource, kind, name, s.Name, f.conf.From),
				Effect: "the devices of " + s.Driver + " publish that one",
			}
			r.Changes, _ = patchOf(o.Ref, op{"replace", "/data/" + configKey, text})
			out = append(out, r)
		}
	}
	return out
}

// renamedSource is the configuration with another name in a source of a mapping.
func renamedSource(text string, mapping, source int, kind, name string) (string, bool) {
	var doc map[string]any
	if yaml.Unmarshal([]byte(text), &doc) != nil {
		return "", false
	}
	at := func(list any, i int) map[string]any {
		if all, _ := list.([]any); i < len(all) {
			one, _ := all[i].(map[string]any)
			return one
		}
		return nil
	}
	resources, _ := doc["resources"].(map[string]any)
	of := at(at(resources["deviceClassMappings"], mapping)["sources"], source)
	fields, ok := of[kind].(map[string]any)
	if !ok {
		return "", false
	}
	fields["name"] = name
	out, err := yaml.Marshal(doc)
	return string(out), err == nil
}

// smallerCapacity asks for as much of a capacity as a device gives, where the claim asks for more.
func (f *Finder) smallerCapacity(x *subject) []Remedy {
	if !slices.ContainsFunc(x.Charge.Problems,
		func(p charge.Problem) bool { return p.Code == charge.CodeCapacityPolicy }) {
		return nil
	}
	var out []Remedy
	for _, o := range f.templates(x.Charge.Workload) {
		for i, q := range cluster.As[*resourcev1.ResourceClaimTemplate](o).Spec.Spec.Devices.Requests {
			if q.Exactly == nil || q.Exactly.Capacity == nil {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(q.Exactly.Capacity.Requests)) {
				asked := q.Exactly.Capacity.Requests[name]
				for _, given := range slices.Backward(f.givenOf(name)) {
					if given.Cmp(asked) >= 0 {
						continue
					}
					r := Remedy{
						Action: fmt.Sprintf("ResourceClaimTemplate %s: ask for %s of %s instead of %s", o.Ref.Name,
							given.String(), name, asked.String()),
						Effect: "its spec can't be changed: delete and create it again, then touch the Workload",
					}
					r.Changes, _ = patchOf(o.Ref,
						op{"replace",
							fmt.Sprintf("/spec/spec/devices/requests/%d/exactly/capacity/requests/%s", i,
								escape(string(name))), given.String()})
					out = append(out, r)
				}
			}
		}
	}
	return out
}

// givenOf is how much of a capacity may be asked of some device of a driver that a mapping charges, ascending.
func (f *Finder) givenOf(name resourcev1.QualifiedName) []resource.Quantity {
	var out []resource.Quantity
	for _, s := range f.conf.Sources() {
		if s.Capacity {
			out = append(out, f.publishedBy(s.Driver).capacities[name]...)
		}
	}
	slices.SortFunc(out, func(a, b resource.Quantity) int { return a.Cmp(b) })
	return slices.CompactFunc(out, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}
