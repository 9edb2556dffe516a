package config

import (
	corev1 "k8s.io/api/core/v1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// VersionSource says what told the version.
type VersionSource string

const (
	VersionFromFlag    VersionSource = "flag"
	VersionFromImage   VersionSource = "image"
	VersionFromConfig  VersionSource = "config"
	VersionFromDefault VersionSource = "default"
)

// Config is the effective configuration of one Kueue installation.
type Config struct {
	// Version is the full version with a leading v, or "main".
	Version       string
	VersionSource VersionSource
	// Release is the release whose behaviour is used: Version itself where it is known, else the one that stands for
	// it, and then Assumptions says so.
	Release string
	// Behavior of that release, with the effective feature gates.
	Behavior release.Behavior
	// Gates is every feature gate of Kueue known to the version, at its effective value.
	Gates map[string]bool
	// Uncertain lists the gates whose value the input leaves open, with the reason as a sentence. Gates holds what was
	// assumed for them; an answer that depends on one is not certain.
	Uncertain map[string]string
	// Configuration is normalised to v1beta2 and defaulted. Never nil: the defaults of the version when none was found.
	Configuration *configapi.Configuration
	// Found tells whether any configuration was in the input. When false, mappings, exclusions and
	// transformations are unknown, not empty.
	Found bool
	// Origin of the object that holds the configuration; nil when none was found.
	Origin *source.Origin
	// Ref names that object (a ConfigMap, the OpenShift Kueue resource, or a Configuration document).
	Ref cluster.Ref
	// From names the source for people: `ConfigMap kueue-system/kueue-manager-config`, `file kueue.yaml`, `Kueue
	// cluster (OpenShift)`.
	From string
	// Operator is what the OpenShift operator would write for the Kueue resource in the input, defaulted. It is the
	// same as Configuration when that comes from the resource; when a ConfigMap is there too, the ConfigMap is what
	// runs and the two may have drifted apart. Nil without such a resource.
	Operator *configapi.Configuration
	// OpenShift tells that the OpenShift operator runs this Kueue: its namespace label and webhook rules apply.
	OpenShift bool
	// ManagerNamespace is the namespace of the manager.
	ManagerNamespace string
	// Assumptions are sentences about what was assumed and why.
	Assumptions []string
	// Problems are the reasons for which Kueue would refuse this configuration, in Kueue's words.
	// With any of them the manager does not start and decides nothing.
	Problems []Problem

	opts    Options
	refusal refusal
	classes map[string]corev1.ResourceName
	sources map[string][]Source
}

// Problem is one reason for which the manager refuses to start.
type Problem struct {
	// Path of the field in the Configuration, empty for problems of the whole.
	Path string
	// Message is Kueue's own text for the problem, without the prefix of Refusal.
	Message string
	Origin  *source.Origin
}

// Source is one counter or capacity source of a device class.
type Source struct {
	// Resource is the quota resource charged, Classes those whose devices are charged to it.
	Resource corev1.ResourceName
	Classes  []corev1.ResourceName
	// Path is its place in the configuration: resources.deviceClassMappings[0].sources[1].counter.
	Path string
	// Mapping and Index locate the source: resources.deviceClassMappings[Mapping].sources[Index].
	Mapping, Index int
	// Capacity distinguishes a capacity source from a counter source.
	Capacity bool
	// Name of the counter, or the qualified capacity name as configured.
	Name     string
	Driver   string
	Selector string // CEL expression
}

// Refusal is the whole message with which Kueue refuses the configuration at start, as it prints it
// (`Unable to validate the configuration: …`). Empty when it starts.
func (c *Config) Refusal() string { return c.refusal.text() }

// Enabled tells the effective value of a feature gate; unknown gates are off.
func (c *Config) Enabled(gate string) bool { return c.Gates[gate] }

// Lookup returns the quota resource a device class is mapped to (the first mapping that lists it).
func (c *Config) Lookup(class string) (corev1.ResourceName, bool) {
	r, ok := c.classes[class]
	return r, ok
}

// Counters returns the counter sources of a class, in configuration order, whatever the gates say.
func (c *Config) Counters(class string) []Source { return c.filter(class, false) }

// Capacities returns the capacity sources of a class, in configuration order, whatever the gates say.
func (c *Config) Capacities(class string) []Source { return c.filter(class, true) }

func (c *Config) filter(class string, capacity bool) []Source {
	var out []Source
	for _, s := range c.sources[class] {
		if s.Capacity == capacity {
			out = append(out, s)
		}
	}
	return out
}
