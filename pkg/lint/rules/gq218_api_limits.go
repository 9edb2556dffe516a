package rules

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var apiLimits = &lint.Rule{
	ID: "GQ218", Name: "api-limits", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A claim or a slice is larger than the API allows",
		Why: "No claim can be given more than 32 devices. Kueue does not know of this: it charges and admits a claim " +
			"for more, whose pods are then never scheduled, and the quota is lost until somebody looks. What exceeds " +
			"the other limits the API server refuses.",
		Bad:   "exactly: {deviceClassName: gpu.nvidia.com, count: 64}\n",
		Good:  "# two claims\nexactly: {deviceClassName: gpu.nvidia.com, count: 32}\n",
		Since: "Kubernetes 1.34",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for o, t := range cluster.All[*resourcev1.ResourceClaimTemplate](p.Snapshot, cluster.ResourceClaimTemplate) {
			checkClaimLimits(p, o, &t.Spec.Spec.Devices, "spec.spec.devices")
		}
		for o, c := range cluster.All[*resourcev1.ResourceClaim](p.Snapshot, cluster.ResourceClaim) {
			checkClaimLimits(p, o, &c.Spec.Devices, "spec.devices")
		}
		for o, s := range cluster.All[*cluster.DeviceSlice](p.Snapshot, cluster.ResourceSlice) {
			most := resourcev1.ResourceSliceMaxDevices
			for i := range s.Spec.Devices {
				if d := &s.Spec.Devices[i]; len(d.Taints()) > 0 || len(d.ConsumesCounters) > 0 {
					most = resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
				}
			}
			refuseAbove(p, o, "spec.devices", "devices", len(s.Spec.Devices), most)
		}
	},
}

func refuseAbove(p *lint.Pass, o *cluster.Object, path, what string, n, most int) {
	if n > most {
		p.Report(lint.Diagnostic{At: lint.At(o, path).Name(), Message: fmt.Sprintf("it has %d %s, and the API allows "+
			"%d: the API server refuses it", n, what, most)})
	}
}

func checkClaimLimits(p *lint.Pass, o *cluster.Object, c *resourcev1.DeviceClaim, path string) {
	refuseAbove(p, o, path+".requests", "requests", len(c.Requests), resourcev1.DeviceRequestsMaxSize)
	refuseAbove(p, o, path+".constraints", "constraints", len(c.Constraints), resourcev1.DeviceConstraintsMaxSize)
	refuseAbove(p, o, path+".config", "configurations", len(c.Config), resourcev1.DeviceConfigMaxSize)
	total, largest, at := int64(0), int64(0), lint.Place{}
	for i := range c.Requests {
		r, base := &c.Requests[i], fmt.Sprintf("%s.requests[%d]", path, i)
		refuseAbove(p, o, base+".firstAvailable", "alternatives", len(r.FirstAvailable),
			resourcev1.FirstAvailableDeviceRequestMaxSize)
		n, field := leastOf(r), base+".firstAvailable"
		if x := r.Exactly; x != nil {
			refuseAbove(p, o, base+".exactly.selectors", "selectors", len(x.Selectors),
				resourcev1.DeviceSelectorsMaxSize)
			field = base + ".exactly.count"
		}
		if total = charge.Add(total, n); n > largest {
			largest, at = n, lint.At(o, field)
		}
	}
	if total > resourcev1.AllocationResultsMaxSize && len(c.Requests) <= resourcev1.DeviceRequestsMaxSize {
		p.Report(lint.Diagnostic{At: at, Severity: lint.Warning,
			Message: fmt.Sprintf("the claim asks for %d devices, and a claim can be given %d: Kueue admits its pods, "+
				"and they are never scheduled", total, resourcev1.AllocationResultsMaxSize),
			Help: "ask for fewer devices in a pod, or spread them over several claims"})
	}
}

// leastOf is the smallest number of devices that satisfies a request.
func leastOf(r *resourcev1.DeviceRequest) int64 {
	if x := r.Exactly; x != nil {
		if x.AllocationMode == resourcev1.DeviceAllocationModeAll {
			return 1
		}
		return max(x.Count, 1)
	}
	least := int64(0)
	for _, s := range r.FirstAvailable {
		n := max(s.Count, 1)
		if s.AllocationMode == resourcev1.DeviceAllocationModeAll {
			n = 1
		}
		if least == 0 || n < least {
			least = n
		}
	}
	return least
}
