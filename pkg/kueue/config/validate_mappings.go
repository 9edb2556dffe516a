package config

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
)

// Limits of device class mappings.
const (
	maxMappings       = 16
	maxMappingClasses = 8
	maxQualifiedName  = 253
	// maxSingleCounterName and maxSingleDriver hold in 0.18.
	maxSingleCounterName = 63
	maxSingleDriver      = 253
)

func (v validator) deviceClassMappings() field.ErrorList {
	if v.Resources == nil {
		return nil
	}
	var errs field.ErrorList
	path := field.NewPath("resources", "deviceClassMappings")
	mappings := v.Resources.DeviceClassMappings
	if len(mappings) > maxMappings {
		errs = append(errs, field.TooMany(path, len(mappings), maxMappings))
	}
	names := map[corev1.ResourceName]bool{}
	taken := takenClasses{}
	for i, m := range mappings {
		at := path.Index(i)
		errs = append(errs, labelKeyName(at.Child("name"), m.Name)...)
		if names[m.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), m.Name))
		}
		names[m.Name] = true
		if v.gates[release.KueueDRAIntegration] {
			errs = append(errs, v.reservedName(at.Child("name"), m.Name)...)
		}
		errs = append(errs, v.mappingClasses(at.Child("deviceClassNames"), m, taken)...)
		errs = append(errs, v.sources(at.Child("sources"), m.Sources)...)
	}
	return errs
}

// reservedName refuses the name of the resource that Kueue counts pods by.
func (v validator) reservedName(path *field.Path, name corev1.ResourceName) field.ErrorList {
	if !v.behavior.ReservedPodsName || name != corev1.ResourcePods {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, "the key is reserved for internal kueue use")}
}

// labelKeyName checks the name of a quota resource or device class, which must read as a label key.
func labelKeyName(path *field.Path, name corev1.ResourceName) field.ErrorList {
	var errs field.ErrorList
	if bad := content.IsLabelKey(string(name)); len(bad) > 0 {
		errs = append(errs, field.Invalid(path, name, strings.Join(bad, "; ")))
	}
	if len(name) > maxQualifiedName {
		errs = append(errs, field.Invalid(path, name, fmt.Sprintf("must not exceed %d characters", maxQualifiedName)))
	}
	return errs
}

// takenClass is where a device class was first mapped, and the counters it is mapped by.
type takenClass struct {
	resource corev1.ResourceName
	counters map[string]bool
}

type takenClasses map[corev1.ResourceName]takenClass

func (v validator) mappingClasses(path *field.Path, m configapi.DeviceClassMapping,
	taken takenClasses) field.ErrorList {
	var errs field.ErrorList
	if len(m.DeviceClassNames) == 0 {
		errs = append(errs, field.Required(path, "at least one device class name is required"))
	}
	if len(m.DeviceClassNames) > maxMappingClasses {
		errs = append(errs, field.TooMany(path, len(m.DeviceClassNames), maxMappingClasses))
	}
	counter := ""
	if v.behavior.CounterMultipleMappings && len(m.Sources) > 0 && m.Sources[0].Counter != nil {
		counter = m.Sources[0].Counter.Name
	}
	seen := map[corev1.ResourceName]bool{}
	for i, class := range m.DeviceClassNames {
		at := path.Index(i)
		errs = append(errs, labelKeyName(at, class)...)
		if seen[class] {
			errs = append(errs, field.Duplicate(at, class))
		}
		seen[class] = true
		if why := taken.take(class, m.Name, counter); why != "" {
			errs = append(errs, field.Invalid(at, class, why))
		}
	}
	return errs
}

// take maps a class. A second mapping is refused, unless both have counter sources of different counters:
// each then charges another dimension of the same devices.
func (t takenClasses) take(class, resource corev1.ResourceName, counter string) string {
	first, mapped := t[class]
	if !mapped {
		first = takenClass{resource: resource, counters: map[string]bool{}}
		if counter != "" {
			first.counters[counter] = true
		}
		t[class] = first
		return ""
	}
	switch {
	case first.resource == resource:
		return ""
	case counter == "" || len(first.counters) == 0:
		return fmt.Sprintf("device class already mapped to resource %s", first.resource)
	case first.counters[counter]:
		return fmt.Sprintf("device class already has a counter source for counter %q", counter)
	}
	first.counters[counter] = true
	return ""
}

func (v validator) sources(path *field.Path, sources []configapi.DeviceClassSourceConfig) field.ErrorList {
	if len(sources) == 0 {
		return nil
	}
	library := selector.Of(v.behavior)
	if v.behavior.CounterMultipleMappings {
		return v.manySources(path, sources, library)
	}
	if !v.gates[release.KueueDRAIntegrationPartitionableDevices] {
		if !v.behavior.SourcesNeedGate {
			return nil
		}
		return field.ErrorList{field.Invalid(path, len(sources),
			"sources require KueueDRAIntegrationPartitionableDevices to be enabled")}
	}
	return singleSources(path, sources, library)
}

// singleSources are the rules of 0.18: one counter source to a mapping.
func singleSources(path *field.Path, sources []configapi.DeviceClassSourceConfig,
	library selector.Library) field.ErrorList {
	var errs field.ErrorList
	if len(sources) > 1 {
		errs = append(errs, field.TooMany(path, len(sources), 1))
	}
	for i, s := range sources {
		at := path.Index(i).Child("counter")
		if s.Counter == nil {
			errs = append(errs, field.Required(at, "exactly one source type must be set"))
			continue
		}
		errs = append(errs, boundedName(at.Child("name"), s.Counter.Name, maxSingleCounterName)...)
		errs = append(errs, boundedName(at.Child("driver"), s.Counter.Driver, maxSingleDriver)...)
		errs = append(errs, deviceSelector(at, s.Counter.DeviceSelector, library)...)
	}
	return errs
}

func boundedName(path *field.Path, name string, limit int) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "")}
	case len(name) > limit:
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("must not exceed %d characters", limit))}
	}
	return nil
}

// manySources are the rules from 0.19: counter or capacity sources, several to a mapping, not mixed.
func (v validator) manySources(path *field.Path, sources []configapi.DeviceClassSourceConfig,
	library selector.Library) field.ErrorList {
	var errs field.ErrorList
	counters, capacities := false, false
	for i, s := range sources {
		at := path.Index(i)
		switch {
		case s.Counter == nil && s.Capacity == nil:
			errs = append(errs, field.Required(at, "exactly one source type must be set per entry"))
		case s.Counter != nil && s.Capacity != nil:
			errs = append(errs, field.Invalid(at, "counter+capacity", "exactly one source type must be set per entry"))
		case s.Counter != nil:
			counters = true
			errs = append(errs, v.counterSource(at.Child("counter"), s.Counter, library)...)
		default:
			capacities = true
			errs = append(errs, v.capacitySource(at.Child("capacity"), s.Capacity, library)...)
		}
	}
	if counters && capacities {
		errs = append(errs, field.Invalid(path, len(sources), "cannot mix counter and capacity sources in the same "+
			"mapping"))
	}
	return errs
}

func (v validator) counterSource(path *field.Path, s *configapi.DeviceClassCounterSource,
	library selector.Library) field.ErrorList {
	if !v.gates[release.KueueDRAIntegrationPartitionableDevices] {
		return field.ErrorList{field.Invalid(path, true,
			"counter sources require KueueDRAIntegrationPartitionableDevices to be enabled")}
	}
	var errs field.ErrorList
	if s.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	} else if bad := validation.IsDNS1123Label(s.Name); len(bad) > 0 {
		errs = append(errs, field.Invalid(path.Child("name"), s.Name, strings.Join(bad, ",")))
	}
	errs = append(errs, sourceDriver(path.Child("driver"), s.Driver)...)
	return append(errs, deviceSelector(path, s.DeviceSelector, library)...)
}

func (v validator) capacitySource(path *field.Path, s *configapi.DeviceClassCapacitySource,
	library selector.Library) field.ErrorList {
	if !v.gates[release.KueueDRAIntegrationConsumableCapacity] {
		return field.ErrorList{field.Invalid(path, true,
			"capacity sources require KueueDRAIntegrationConsumableCapacity to be enabled")}
	}
	errs := v.capacityName(path.Child("name"), s.Name)
	errs = append(errs, sourceDriver(path.Child("driver"), s.Driver)...)
	return append(errs, deviceSelector(path, s.DeviceSelector, library)...)
}

func sourceDriver(path *field.Path, driver string) field.ErrorList {
	if errs := boundedName(path, driver, resourcev1.DriverNameMaxLength); len(errs) > 0 {
		return errs
	}
	if bad := validation.IsDNS1123Subdomain(driver); len(bad) > 0 {
		return field.ErrorList{field.Invalid(path, driver, strings.Join(bad, ","))}
	}
	return nil
}

func deviceSelector(path *field.Path, s resourcev1.DeviceSelector, library selector.Library) field.ErrorList {
	path = path.Child("deviceSelector", "cel", "expression")
	if s.CEL == nil || s.CEL.Expression == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if result := library.Compile(s.CEL.Expression); result.Detail != "" {
		return field.ErrorList{field.Invalid(path, s.CEL.Expression, "CEL compilation failed: "+result.Detail)}
	}
	return nil
}

// capacityName checks a qualified name of the resource.k8s.io API: a C identifier, with or without a domain.
// Like Kubernetes itself early releases do not look at a name with several slashes.
func (v validator) capacityName(path *field.Path, name resourcev1.QualifiedName) field.ErrorList {
	parts := strings.Split(string(name), "/")
	switch len(parts) {
	case 1:
		return cIdentifier(path, parts[0])
	case 2:
		var errs field.ErrorList
		if parts[0] == "" {
			errs = append(errs, field.Invalid(path, "", "the domain must not be empty"))
		} else {
			errs = append(errs, capacityDomain(path, parts[0])...)
		}
		if parts[1] == "" {
			return append(errs, field.Invalid(path, "", "the name must not be empty"))
		}
		return append(errs, cIdentifier(path, parts[1])...)
	}
	if v.behavior.CapacityNameChecked {
		return field.ErrorList{field.Invalid(path, name, "must be a C identifier, with at most one domain before it")}
	}
	return nil
}

func capacityDomain(path *field.Path, domain string) field.ErrorList {
	var errs field.ErrorList
	if len(domain) > resourcev1.DeviceMaxDomainLength {
		errs = append(errs, field.TooLong(path, "", resourcev1.DeviceMaxDomainLength))
	}
	for _, bad := range validation.IsDNS1123Subdomain(strings.ToLower(domain)) {
		errs = append(errs, field.Invalid(path, domain, bad))
	}
	return errs
}

func cIdentifier(path *field.Path, id string) field.ErrorList {
	var errs field.ErrorList
	if len(id) > resourcev1.DeviceMaxIDLength {
		errs = append(errs, field.TooLong(path, "", resourcev1.DeviceMaxIDLength))
	}
	for _, bad := range content.IsCIdentifier(id) {
		errs = append(errs, field.Invalid(path, id, bad))
	}
	return errs
}
