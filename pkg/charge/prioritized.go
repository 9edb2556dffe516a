package charge

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// prioritizedList returns what a request with firstAvailable is charged as: every alternative must be of the same
// number of devices and be mapped to the same quota resource, by number, so that it doesn't matter which is allocated.
// The rule is that of the gate KueueDRAIntegrationPrioritizedList. The capacity that an alternative asks for does not
// change it.
func prioritizedList(e *Engine, list []resourcev1.DeviceSubRequest, at *field.Path) (class string, count int64,
	others []string, refused *templateError) {
	var logical corev1.ResourceName
	for l := range list {
		sub, path := &list[l], at.Index(l)
		if refused := alternative(e, sub, path); refused != nil {
			return "", 0, nil, refused
		}
		mapped, ok := e.cfg.Lookup(sub.DeviceClassName)
		n := max(sub.Count, 1)
		switch {
		case !ok:
			return "", 0, nil,
				&templateError{code: CodeUnmappedClass,
					err: field.NotFound(path.Child("deviceClassName"), sub.DeviceClassName),
					human: fmt.Sprintf("DeviceClass %s is not mapped to a quota resource",
						sub.DeviceClassName), path: objectPath(path.Child("deviceClassName"))}
		case len(e.cfg.Counters(sub.DeviceClassName))+len(e.cfg.Capacities(sub.DeviceClassName)) > 0:
			return "", 0, nil, invalid(CodeFirstAvailable, path.Child("deviceClassName"), sub.DeviceClassName,
				"a counter-backed or capacity-backed DeviceClass is not supported for firstAvailable")
		case l == 0:
			class, count, logical = sub.DeviceClassName, n, mapped
			continue
		case n != count:
			return "", 0, nil, invalid(CodeFirstAvailable, path.Child("count"), n,
				fmt.Sprintf("every alternative must have count %d, this one has %d", count, n))
		case mapped != logical:
			return "", 0, nil, invalid(CodeFirstAvailable, path.Child("deviceClassName"), sub.DeviceClassName,
				fmt.Sprintf("every alternative must map to %q, this one maps to %q", logical, mapped))
		}
		others = append(others, sub.DeviceClassName)
	}
	return class, count, others, nil
}

// alternative is why an alternative is refused by itself.
func alternative(e *Engine, sub *resourcev1.DeviceSubRequest, path *field.Path) *templateError {
	if sub.AllocationMode != "" && sub.AllocationMode != resourcev1.DeviceAllocationModeExactCount {
		return invalid(CodeAllocationMode, path.Child("allocationMode"), sub.AllocationMode,
			fmt.Sprintf("AllocationMode '%s' is not supported", sub.AllocationMode))
	}
	if sub.DeviceClassName == "" {
		return invalid(CodeFirstAvailable, path.Child("deviceClassName"), sub.DeviceClassName,
			"a device class is required")
	}
	if _, errs := e.compile(sub.Selectors, path.Child("selectors"), "CEL compilation failed"); len(errs) > 0 {
		return invalid(CodeInvalidSelector, path.Child("selectors"), nil, errs.ToAggregate().Error())
	}
	return nil
}
