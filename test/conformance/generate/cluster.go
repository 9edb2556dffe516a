package generate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
)

// world is a cluster in the making.
type world struct {
	*dice
	// tight clusters have few queues and flavors and much that is admitted, so that quota is contested.
	tight      bool
	groups     []group
	flavors    []*kueue.ResourceFlavor
	cohorts    []*kueue.Cohort
	cohortName []string
	queues     []*kueue.ClusterQueue
	local      []*kueue.LocalQueue
	checks     []*kueue.AdmissionCheck
	namespaces []*corev1.Namespace
	workloads  []*kueue.Workload
	// used is what the admitted Workloads of a queue hold, to keep most of them within reach of the quota.
	used map[string]int64
}

// group is a set of resources that share flavors, the same for most queues.
type group struct {
	resources []corev1.ResourceName
	flavors   []kueue.ResourceFlavorReference
}

// Cluster makes the cluster of a seed.
func Cluster(seed uint64) *objects.Cluster {
	w := &world{dice: newDice(seed), used: map[string]int64{}}
	w.tight = w.chance(50)
	configuration := w.configuration()
	w.makeNamespaces()
	w.makeGroups()
	w.makeCohorts()
	w.makeChecks()
	w.makeQueues()
	w.makeWorkloads()

	cluster := &objects.Cluster{Configuration: configuration}
	add(cluster, w.namespaces)
	add(cluster, w.flavors)
	add(cluster, w.checks)
	add(cluster, w.cohorts)
	add(cluster, w.queues)
	add(cluster, w.local)
	add(cluster, w.workloads)
	return cluster
}

func add[T client.Object](cluster *objects.Cluster, made []T) {
	for _, object := range made {
		cluster.Objects = append(cluster.Objects, object)
	}
}

func (w *world) configuration() *configapi.Configuration {
	text := "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, integrations: {frameworks: [batch/job, " +
		"jobset.x-k8s.io/jobset]}"
	if w.chance(45) {
		text += fmt.Sprintf(", fairSharing: {preemptionStrategies: [%s]}", pick(w.dice,
			"LessThanOrEqualToFinalShare, LessThanInitialShare", "LessThanOrEqualToFinalShare", "LessThanInitialShare"))
	}
	if w.chance(5) {
		text += ", resources: {quotaCheckStrategy: IgnoreUndeclared}"
	}
	decoded, err := objects.Decode([]byte(text + "}"))
	if err != nil {
		panic(err) // the text above is wrong
	}
	return decoded.Configuration
}

func (w *world) makeNamespaces() {
	for _, name := range []string{"team-a", "team-b"} {
		namespace := &corev1.Namespace{ObjectMeta: w.meta("", name)}
		namespace.Labels = map[string]string{corev1.LabelMetadataName: name}
		w.namespaces = append(w.namespaces, namespace)
	}
}

// makeGroups makes one or two groups of one to three resources in all, and one to four flavors.
func (w *world) makeGroups() {
	all := shuffled(w.dice,
		[]corev1.ResourceName{corev1.ResourceCPU, "nvidia.com/gpu", corev1.ResourceMemory})[:w.between(1, 3)]
	if w.tight {
		all = all[:min(len(all), 2)]
	}
	if w.chance(6) {
		all = append(all, corev1.ResourcePods)
	}
	names := []kueue.ResourceFlavorReference{"a100", "l4", "spot", "any"}[:w.between(1, 4)]
	if w.tight {
		names = names[:min(len(names), 2)]
	}
	for _, name := range names {
		w.flavors = append(w.flavors, w.flavor(string(name)))
	}
	if len(all) > 1 && w.chance(40) {
		cut := w.between(1, len(all)-1)
		// A flavor belongs to one group of a queue only; the second group gets flavors of its own.
		own := []kueue.ResourceFlavorReference{"plain", "extra"}[:w.between(1, 2)]
		for _, name := range own {
			w.flavors = append(w.flavors, w.flavor(string(name)))
		}
		w.groups = []group{{resources: all[:cut], flavors: names}, {resources: all[cut:], flavors: own}}
		return
	}
	w.groups = []group{{resources: all, flavors: names}}
}

func (w *world) flavor(name string) *kueue.ResourceFlavor {
	flavor := &kueue.ResourceFlavor{ObjectMeta: w.meta("", name)}
	if w.chance(55) {
		flavor.Spec.NodeLabels = map[string]string{"gpu": name}
	}
	if w.chance(25) {
		if flavor.Spec.NodeLabels == nil {
			flavor.Spec.NodeLabels = map[string]string{}
		}
		flavor.Spec.NodeLabels["zone"] = pick(w.dice, "east", "west")
	}
	if w.chance(25) {
		flavor.Spec.NodeTaints = []corev1.Taint{{
			Key: pick(w.dice, "gpu", "spot"), Value: pick(w.dice, "yes", "present", ""),
			Effect: pick(w.dice, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoSchedule,
				corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule),
		}}
		if w.chance(15) {
			flavor.Spec.Tolerations = []corev1.Toleration{{Key: flavor.Spec.NodeTaints[0].Key,
				Operator: corev1.TolerationOpExists}}
		}
	}
	return flavor
}
