package config

import (
	corev1 "k8s.io/api/core/v1"
)

// mapClasses reads resources.deviceClassMappings into the lookup tables, as Kueue's mapper does at start:
// the first mapping that lists a class names its resource, and sources add up over all mappings that list it.
func (c *Config) mapClasses() {
	c.classes = map[string]corev1.ResourceName{}
	c.sources = map[string][]Source{}
	if c.Configuration.Resources == nil {
		return
	}
	for m, mapping := range c.Configuration.Resources.DeviceClassMappings {
		var sources []Source
		for i, s := range mapping.Sources {
			at := Source{Resource: mapping.Name, Mapping: m, Index: i}
			if s.Counter != nil {
				counter := at
				counter.Name, counter.Driver = s.Counter.Name, s.Counter.Driver
				if cel := s.Counter.DeviceSelector.CEL; cel != nil {
					counter.Selector = cel.Expression
				}
				sources = append(sources, counter)
			}
			if s.Capacity != nil {
				capacity := at
				capacity.Capacity, capacity.Name, capacity.Driver = true, string(s.Capacity.Name), s.Capacity.Driver
				if cel := s.Capacity.DeviceSelector.CEL; cel != nil {
					capacity.Selector = cel.Expression
				}
				sources = append(sources, capacity)
			}
		}
		for _, class := range mapping.DeviceClassNames {
			name := string(class)
			if _, taken := c.classes[name]; !taken {
				c.classes[name] = mapping.Name
			}
			c.sources[name] = append(c.sources[name], sources...)
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
