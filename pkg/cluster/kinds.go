package cluster

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

// Kind is one kind the program reads.
type Kind struct {
	schema.GroupKind
	// Resource is the plural name in API paths.
	Resource   string
	Namespaced bool
	// Versions are the API versions that can be read, newest first.
	Versions []string
	// Live tells that the kind is listed from a live cluster; the others are files or found by name.
	Live bool
	// MetadataOnly tells that nobody looks at more than the metadata of objects of a live cluster.
	MetadataOnly bool

	decode map[string]decodeFunc
	// keep drops objects of the kind nobody looks at, to save memory; nil keeps all.
	keep func(decoded) bool
}

// version pairs an API version with its decoder.
type version struct {
	name   string
	decode decodeFunc
}

func v(name string, d decodeFunc) version { return version{name, d} }

func kindOf(gk schema.GroupKind, resource string, namespaced bool, versions ...version) Kind {
	k := Kind{GroupKind: gk, Resource: resource, Namespaced: namespaced, Live: true, decode: map[string]decodeFunc{}}
	for _, v := range versions {
		k.Versions = append(k.Versions, v.name)
		k.decode[v.name] = v.decode
	}
	return k
}

// crdKind is a kind of an optional CRD, read by a local struct in any of the versions given.
func crdKind[T any, P object[T]](gk schema.GroupKind, resource string, namespaced bool, versions ...string) Kind {
	var vs []version
	for _, name := range versions {
		vs = append(vs, v(name, into[T, P]))
	}
	return kindOf(gk, resource, namespaced, vs...)
}

func (k Kind) onlyFiles() Kind { k.Live = false; return k }

func (k Kind) onlyMetadata() Kind { k.MetadataOnly = true; return k }

func (k Kind) keeping(f func(decoded) bool) Kind { k.keep = f; return k }

const (
	namespaced  = true
	clusterWide = false
	managerKey  = "controller_manager_config.yaml"
)

// jobKind is a kind of job: its row in package jobs says all there is to know.
func jobKind(row *jobs.Kind) Kind {
	decode := func(data []byte) (decoded, error) {
		o := row.New()
		if err := unmarshal(data, o); err != nil {
			return decoded{}, err
		}
		return decoded{o, metaOf(o)}, nil
	}
	var vs []version
	for _, name := range row.Versions() {
		vs = append(vs, v(name, decode))
	}
	return kindOf(row.GroupKind, row.Resource, namespaced, vs...)
}

// kinds is the registry of everything the program reads.
var kinds = slices.Concat(jobKinds(), otherKinds)

func jobKinds() []Kind {
	var out []Kind
	for _, row := range jobs.All() {
		out = append(out, jobKind(row))
	}
	return out
}

var otherKinds = []Kind{
	kindOf(Namespace, "namespaces", clusterWide, v("v1", into[corev1.Namespace])).onlyMetadata(),
	kindOf(ConfigMap, "configmaps", namespaced, v("v1", into[corev1.ConfigMap])).keeping(holdsManagerConfig),
	kindOf(Node, "nodes", clusterWide, v("v1", into[corev1.Node])),
	kindOf(LimitRange, "limitranges", namespaced, v("v1", into[corev1.LimitRange])),
	kindOf(ReplicaSet, "replicasets", namespaced, v("v1", into[appsv1.ReplicaSet])).onlyMetadata(),
	kindOf(RuntimeClass, "runtimeclasses", clusterWide, v("v1", into[nodev1.RuntimeClass])),
	kindOf(PriorityClass, "priorityclasses", clusterWide, v("v1", into[schedulingv1.PriorityClass])),

	kindOf(DeviceClass, "deviceclasses", clusterWide,
		v("v1", into[resourcev1.DeviceClass]),
		v("v1beta2", resourceV1[resourcev1beta2.DeviceClass, resourcev1.DeviceClass]),
		v("v1beta1", resourceV1[resourcev1beta1.DeviceClass, resourcev1.DeviceClass])),
	kindOf(ResourceSlice, "resourceslices", clusterWide,
		v("v1", into[resourcev1.ResourceSlice]), // see sharedDecoders
		v("v1beta2", resourceV1[resourcev1beta2.ResourceSlice, resourcev1.ResourceSlice]),
		v("v1beta1", resourceV1[resourcev1beta1.ResourceSlice, resourcev1.ResourceSlice])),
	kindOf(ResourceClaim, "resourceclaims", namespaced,
		v("v1", into[resourcev1.ResourceClaim]),
		v("v1beta2", resourceV1[resourcev1beta2.ResourceClaim, resourcev1.ResourceClaim]),
		v("v1beta1", resourceV1[resourcev1beta1.ResourceClaim, resourcev1.ResourceClaim])),
	kindOf(ResourceClaimTemplate, "resourceclaimtemplates", namespaced,
		v("v1", into[resourcev1.ResourceClaimTemplate]),
		v("v1beta2", resourceV1[resourcev1beta2.ResourceClaimTemplate, resourcev1.ResourceClaimTemplate]),
		v("v1beta1", resourceV1[resourcev1beta1.ResourceClaimTemplate, resourcev1.ResourceClaimTemplate])),

	// The fields are the same in both versions. v1alpha3 had selectors that later ones do not have.
	kindOf(DeviceTaintRule, "devicetaintrules", clusterWide,
		v("v1", into[resourcev1.DeviceTaintRule]), v("v1beta2", into[resourcev1.DeviceTaintRule])),

	kindOf(Workload, "workloads", namespaced,
		v("v1beta2", into[kueue.Workload]), v("v1beta1", kueueHub[kueuev1beta1.Workload, kueue.Workload])),
	kindOf(ClusterQueue, "clusterqueues", clusterWide,
		v("v1beta2", into[kueue.ClusterQueue]), v("v1beta1", kueueHub[kueuev1beta1.ClusterQueue, kueue.ClusterQueue])),
	kindOf(LocalQueue, "localqueues", namespaced,
		v("v1beta2", into[kueue.LocalQueue]), v("v1beta1", kueueHub[kueuev1beta1.LocalQueue, kueue.LocalQueue])),
	kindOf(Cohort, "cohorts", clusterWide,
		v("v1beta2", into[kueue.Cohort]), v("v1beta1", kueueHub[kueuev1beta1.Cohort, kueue.Cohort])),
	// The fields of these kinds are the same in both versions, and Kueue has no conversion for them.
	crdKind[kueue.ResourceFlavor](ResourceFlavor, "resourceflavors", clusterWide, "v1beta2", "v1beta1"),
	crdKind[kueue.AdmissionCheck](AdmissionCheck, "admissionchecks", clusterWide, "v1beta2", "v1beta1"),
	crdKind[kueue.WorkloadPriorityClass](WorkloadPriorityClass, "workloadpriorityclasses", clusterWide, "v1beta2",
		"v1beta1"),
	crdKind[kueue.Topology](Topology, "topologies", clusterWide, "v1beta2", "v1beta1", "v1alpha1"),

	kindOf(KueueConfiguration, "", clusterWide, v("v1beta2", decodeRaw), v("v1beta1", decodeRaw)).onlyFiles(),
	kindOf(OpenShiftKueue, "kueues", clusterWide, v("v1", decodeRaw), v("v1alpha1", decodeRaw)),
	kindOf(OpenShiftFeatureGate, "featuregates", clusterWide, v("v1", decodeRaw)),

	crdKind[crd.TrainingRuntime](TrainingRuntime, "trainingruntimes", namespaced, "v1alpha1"),
	crdKind[crd.ClusterTrainingRuntime](ClusterTrainingRuntime, "clustertrainingruntimes", clusterWide, "v1alpha1"),
}

// holdsManagerConfig keeps only ConfigMaps that can be Kueue's configuration: clusters have many others.
func holdsManagerConfig(d decoded) bool {
	cm, ok := d.typed.(*corev1.ConfigMap)
	return ok && cm.Data[managerKey] != ""
}

// Kinds returns the registry of readable kinds. The slice is shared.
func Kinds() []Kind { return kinds }

// FindKind returns the readable kind of a group and kind name.
func FindKind(gk schema.GroupKind) (Kind, bool) {
	for _, k := range kinds {
		if k.GroupKind == gk {
			return k, true
		}
	}
	return Kind{}, false
}

// ListNames are the resources, as kubectl names them, of kinds that can be listed; in the order of the registry.
func ListNames(kindNames []string) []string {
	var out []string
	for _, k := range kinds {
		if slices.Contains(kindNames, k.Kind) && k.Live && k.GroupKind != ConfigMap {
			out = append(out, strings.TrimSuffix(k.Resource+"."+k.Group, "."))
		}
	}
	return out
}
