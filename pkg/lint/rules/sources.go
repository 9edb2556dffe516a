package rules

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// configuredSource is one source of the configuration, told by its place.
type configuredSource struct {
	capacity     bool
	name, driver string
	selector     string
	path         string
	resource     string
	classes      []corev1.ResourceName
}

// eachSource lists the sources of the configuration in order.
func eachSource(p *lint.Pass) []configuredSource {
	var out []configuredSource
	for _, s := range p.Config.Sources() {
		out = append(out, configuredSource{capacity: s.Capacity, name: s.Name, driver: s.Driver, path: s.Path,
			resource: string(s.Resource), classes: s.Classes, selector: s.Selector})
	}
	return out
}

func (s configuredSource) what() string {
	if s.capacity {
		return "capacity"
	}
	return "counter"
}

// offered are the names of the counters or capacities that a driver's devices have, sorted.
func (s configuredSource) offered(p *lint.Pass) []string {
	names := map[string]bool{}
	for slice, d := range p.Inventory().All() {
		if slice.Object.Spec.Driver != s.driver {
			continue
		}
		if s.capacity {
			for name := range d.Capacity {
				names[string(name)] = true
			}
			continue
		}
		for _, set := range d.ConsumesCounters {
			for name := range set.Counters {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// misnamed tells whether the source's name is wrong, and what is meant, if that is plain: the same words written
// otherwise.
func (s configuredSource) misnamed(p *lint.Pass) (wrong bool, meant string) {
	offered := s.offered(p)
	if len(offered) == 0 || slices.Contains(offered, s.name) {
		return len(offered) == 0, ""
	}
	for _, name := range offered {
		if bareName(name, s.driver) == bareName(s.name, s.driver) {
			return true, name
		}
	}
	return true, ""
}

// bareName is a name without its domain, case and separators.
func bareName(name, driver string) string {
	if domain, id, ok := strings.Cut(name, "/"); ok && (domain == driver || driver == "") {
		name = id
	}
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", "/", "").Replace(name))
}

// publishes tells that the driver publishes slices.
func (s configuredSource) publishes(p *lint.Pass) bool {
	return slices.Contains(published(p), s.driver)
}

// row is the source's selector, compiled.
func (s configuredSource) row(p *lint.Pass) ([]*device.Expression, bool) {
	if s.selector == "" {
		return nil, true
	}
	x := p.Inventory().Compile(s.selector)
	return []*device.Expression{x}, x.CompileError == ""
}

// at is the place of a field of the source.
func (s configuredSource) at(p *lint.Pass, field string) lint.Place {
	return p.Configured(s.path + "." + field)
}
