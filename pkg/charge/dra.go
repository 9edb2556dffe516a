package charge

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// draLine is one addend that devices bring to one pod.
type draLine struct {
	resource   corev1.ResourceName
	quantity   resource.Quantity
	method     Method
	derivation []string
	evidence   []Evidence
}

// devices runs Kueue's device path: it is taken only for workloads that need it, in the order claims,
// extended resources, counters, capacity, and ends with the first path that fails.
func (r *run) devices() {
	g := r.e.gates()
	if !g.dra {
		r.disabled()
		return
	}
	if !r.needsDevicePath(g) {
		return
	}
	if r.usesClaimsDirectly() {
		return
	}
	for _, path := range []struct {
		on   bool
		take func(gates)
	}{
		{true, r.countClaims},
		{g.extended, r.extendedResources},
		{g.counters && r.slicesServed(), r.counterCharges},
		{g.capacity && r.slicesServed(), r.capacityCharges},
	} {
		if path.on && !r.stopped {
			path.take(g)
		}
	}
}

// gates of the device path at their effective values.
type gates struct{ dra, extended, counters, capacity bool }

// gates reads the feature gates. Versions that do not know a gate have it off.
func (e *Engine) gates() gates {
	return gates{
		dra:      e.cfg.DRA(),
		extended: e.cfg.ExtendedResources(),
		counters: e.cfg.Enabled(release.KueueDRAIntegrationPartitionableDevices),
		capacity: e.cfg.Enabled(release.KueueDRAIntegrationConsumableCapacity),
	}
}

// slicesServed tells whether the API server serves ResourceSlices. Without them the source paths do
// not run and the devices are free.
func (r *run) slicesServed() bool {
	if r.e.snap.Coverage.NotServed(cluster.ResourceSlice) {
		r.note("the cluster serves no ResourceSlices, so devices charged by counters or capacity are free")
		return false
	}
	return true
}

// disabled handles claims while the feature gate is off: refused, or silently free.
func (r *run) disabled() {
	for i := range r.w.PodSets {
		for j := range r.w.PodSets[i].Template.Spec.ResourceClaims {
			c := r.w.PodSets[i].Template.Spec.ResourceClaims[j]
			if c.ResourceClaimTemplateName == nil && c.ResourceClaimName == nil {
				continue
			}
			if !r.e.cfg.Behavior.RejectDRAWhenDisabled {
				r.note("the DRA feature gate is off: resource claims are not charged")
				return
			}
			r.refuse(refusal{
				code: CodeDRADisabled, text: message.Of(message.DevicesDisabled).Text(),
				human: "the feature gate KueueDRAIntegration is off, so Kueue refuses workloads with resource " +
					"claims; turn it on in the Kueue configuration",
				evidence: []Evidence{r.at(i, "spec.resourceClaims["+itoa(j)+"]", c.Name),
					r.configEvidence("featureGates", "")},
			})
			return
		}
	}
}

// needsDevicePath tells whether Kueue preprocesses the workload. It looks at the stored templates: a
// limit without a request does not count there.
func (r *run) needsDevicePath(g gates) bool {
	for i := range r.w.PodSets {
		for _, c := range r.w.PodSets[i].Template.Spec.ResourceClaims {
			if c.ResourceClaimTemplateName != nil || c.ResourceClaimName != nil {
				return true
			}
		}
	}
	if !g.extended && r.e.cfg.Uncertain[release.KueueDRAIntegrationExtendedResource] == "" {
		return false
	}
	for i := range r.w.PodSets {
		spec := &r.w.PodSets[i].Template.Spec
		for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for k := range containers {
				for name, q := range containers[k].Resources.Requests {
					if !q.IsZero() && isExtended(name) && r.classBacked(name) {
						r.gateMatters(release.KueueDRAIntegrationExtendedResource)
						return true
					}
				}
			}
		}
	}
	return false
}

// gateMatters makes the charge unknown when the value of a gate that it depends on is not in the input.
func (r *run) gateMatters(gate string) {
	if why := r.e.cfg.Uncertain[gate]; why != "" {
		r.unsure = true
		r.missing(cluster.OpenShiftFeatureGate.Kind)
		r.note(why)
	}
}

// classBacked tells whether a DeviceClass declares the extended resource name. When DeviceClasses are
// not in the input, the charge is unknown unless no class could change it, or Kueue's own records show
// how it charges the name.
func (r *run) classBacked(name corev1.ResourceName) bool {
	if !r.e.cfg.Behavior.ExtendedNeedsDeviceClass || len(r.e.byExtendedName[name]) > 0 {
		return true
	}
	if r.e.snap.Coverage.Has(cluster.DeviceClass) {
		return false
	}
	amount, key := r.classCouldMatter(name)
	switch {
	case !amount && !key:
	case !amount && r.e.byOwnName[name]:
		r.note(fmt.Sprintf("DeviceClasses are not in the input; Kueue has charged %s under its own name, so no "+
			"mapped class stands behind it", name))
	default:
		r.missing(cluster.DeviceClass.Kind)
		r.unsure = true
	}
	return false
}

// classCouldMatter tells what a DeviceClass that declares the name could change: the amount, or the
// quota resource it is charged to. An unmapped class keeps the name and, in a plain pod, the amount.
func (r *run) classCouldMatter(name corev1.ResourceName) (amount, key bool) {
	if !r.e.cfg.Found {
		return true, true
	}
	if res := r.e.cfg.Configuration.Resources; res != nil {
		key = len(res.DeviceClassMappings) > 0
		amount = len(res.Transformations) > 0 || len(res.ExcludeResourcePrefixes) > 0
	}
	for i := range r.w.PodSets {
		spec := &r.w.PodSets[i].Template.Spec
		if _, ok := spec.Overhead[name]; ok {
			amount = true
		}
		for k := range spec.InitContainers {
			if _, ok := spec.InitContainers[k].Resources.Requests[name]; ok {
				amount = true
			}
		}
	}
	return amount, key
}

// usesClaimsDirectly refuses workloads that name a ResourceClaim: Kueue supports templates only.
func (r *run) usesClaimsDirectly() bool {
	for i := range r.w.PodSets {
		for j, c := range r.w.PodSets[i].Template.Spec.ResourceClaims {
			if c.ResourceClaimName == nil {
				continue
			}
			gate := "KueueDRAIntegration"
			if !r.e.cfg.Behavior.DRAEnabledByDefault {
				gate = "DynamicResourceAllocation"
			}
			r.refuse(refusal{
				code: CodeDirectClaim, text: message.Of(message.DirectClaim, gate).Text(),
				human: "pod claim " + c.Name + " names ResourceClaim " + *c.ResourceClaimName +
					" directly; use resourceClaimTemplateName",
				evidence: []Evidence{r.at(i, "spec.resourceClaims["+itoa(j)+"].resourceClaimName",
					*c.ResourceClaimName)},
			})
			return true
		}
	}
	return false
}

// isExtended tells whether a name is an extended resource for Kueue. The implicit names of device
// classes (deviceclass.resource.kubernetes.io/…) are, but no DeviceClass declares them.
func isExtended(name corev1.ResourceName) bool {
	n := string(name)
	return strings.Contains(n, "/") && !strings.HasPrefix(n, corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(n, corev1.ResourceHugePagesPrefix)
}

// path of pod set i in the Workload, as Kueue's errors write it.
func podSetPath(i int) *field.Path {
	return field.NewPath("spec", "podSets").Index(i).Child("template", "spec")
}
