package charge_test

import "strings"

func class(name, extended string) string {
	spec := "{}"
	if extended != "" {
		spec = "{extendedResourceName: " + extended + "}"
	}
	return "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: " + name + "}, spec: " + spec + "}"
}

func template(name, requests string) string {
	return "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: " + name + ", namespace: default}, spec: {spec: {devices: {requests: [" + requests + "]}}}}"
}

func slice(name, driver string, generation, count int, devices ...string) string {
	return "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: " + name + "}, spec: {driver: " + driver +
		", nodeName: n1, pool: {name: p, generation: " + itoa(generation) + ", resourceSliceCount: " + itoa(count) + "}, devices: [" + strings.Join(devices, ", ") + "]}}"
}

func itoa(i int) string { return string(rune('0' + i)) }

func memoryDevice(name, memory string) string {
	return "{name: " + name + ", consumesCounters: [{counterSet: c, counters: {memory: {value: " + memory + "}}}]}"
}

func counterMapping(resource, counter, class string) string {
	return "{name: " + resource + ", deviceClassNames: [" + class + "], sources: [{counter: {name: " + counter + ", driver: " + class + ", deviceSelector: {cel: {expression: 'true'}}}}]}"
}

func claims(templates ...string) string {
	var entries []string
	for i, t := range templates {
		entries = append(entries, "{name: c"+itoa(i)+", resourceClaimTemplateName: "+t+"}")
	}
	return "containers: [{name: main}], resourceClaims: [" + strings.Join(entries, ", ") + "]"
}
