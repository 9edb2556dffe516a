package config

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
)

// Mapping is one entry of resources.deviceClassMappings, with its place in the configuration.
type Mapping struct {
	configapi.DeviceClassMapping
	// Path of the entry: resources.deviceClassMappings[0].
	Path string
}

// Mappings lists the device class mappings in order, whatever the gates say.
func (c *Config) Mappings() []Mapping {
	if c.Configuration.Resources == nil {
		return nil
	}
	var out []Mapping
	for i, m := range c.Configuration.Resources.DeviceClassMappings {
		out = append(out, Mapping{m, fmt.Sprintf("resources.deviceClassMappings[%d]", i)})
	}
	return out
}

// MappingPath is where the configuration first maps a class.
func (c *Config) MappingPath(class string) (path string, ok bool) {
	for _, m := range c.Mappings() {
		if j := slices.Index(m.DeviceClassNames, corev1.ResourceName(class)); j >= 0 {
			return fmt.Sprintf("%s.deviceClassNames[%d]", m.Path, j), true
		}
	}
	return "", false
}

// Sources lists the counter and capacity sources of all mappings in order, whatever the gates say.
func (c *Config) Sources() []Source {
	var out []Source
	for m, mapping := range c.Mappings() {
		for i, s := range mapping.Sources {
			at := Source{Resource: mapping.Name, Classes: mapping.DeviceClassNames, Mapping: m, Index: i}
			path := fmt.Sprintf("%s.sources[%d].", mapping.Path, i)
			if s.Counter != nil {
				counter := at
				counter.Path, counter.Name, counter.Driver = path+"counter", s.Counter.Name, s.Counter.Driver
				counter.Selector = expressionOf(s.Counter.DeviceSelector)
				out = append(out, counter)
			}
			if s.Capacity != nil {
				capacity := at
				capacity.Capacity, capacity.Path = true, path+"capacity"
				capacity.Name, capacity.Driver = string(s.Capacity.Name), s.Capacity.Driver
				capacity.Selector = expressionOf(s.Capacity.DeviceSelector)
				out = append(out, capacity)
			}
		}
	}
	return out
}

func expressionOf(s resourcev1.DeviceSelector) string {
	if s.CEL == nil {
		return ""
	}
	return s.CEL.Expression
}

// mapClasses reads resources.deviceClassMappings into the lookup tables, as Kueue's mapper does at start:
// the first mapping that lists a class names its resource, and sources add up over all mappings that list it.
func (c *Config) mapClasses() {
	c.classes = map[string]corev1.ResourceName{}
	c.sources = map[string][]Source{}
	for _, mapping := range c.Mappings() {
		for _, class := range mapping.DeviceClassNames {
			if _, taken := c.classes[string(class)]; !taken {
				c.classes[string(class)] = mapping.Name
			}
		}
	}
	for _, s := range c.Sources() {
		for _, class := range s.Classes {
			c.sources[string(class)] = append(c.sources[string(class)], s)
		}
	}
}

// BinaryResource tells whether amounts of a resource are printed in binary units because counter or capacity
// sources are mapped to it. Names that are binary by themselves, such as memory, are not asked here.
// A capacity source registers the resource its class looks up to, a counter source the resource of its mapping.
func (c *Config) BinaryResource(name corev1.ResourceName) bool {
	if !c.Behavior.BinarySIForSources || !c.DRA() {
		return false
	}
	for class, sources := range c.sources {
		for _, s := range sources {
			if s.Capacity && c.classes[class] == name || !s.Capacity && s.Resource == name {
				return true
			}
		}
	}
	return false
}
