package audit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// consumer is who uses devices.
type consumer struct {
	// charge of the workload; nil when no workload of Kueue's uses them, or when that is not known.
	charge *charge.Charge
	// pod is the pod that uses them; nil when it is not in the input.
	pod *cluster.Object
	// unsure: an owner of the pod, or the pod, is not in the input.
	unsure bool
}

// byName tells that the pod names a claim, rather than a template.
func (c consumer) byName(claim string) bool {
	pod := cluster.As[*corev1.Pod](c.pod)
	return pod != nil && slices.ContainsFunc(pod.Spec.ResourceClaims, func(r corev1.PodResourceClaim) bool {
		return r.ResourceClaimName != nil && *r.ResourceClaimName == claim
	})
}

// consumers finds the workload of a pod.
type consumers struct {
	snap *cluster.Snapshot
	// byUID are the charges of jobs and pods, byName those of Workload objects, and byOwner of owners by reference.
	byUID   map[types.UID]*charge.Charge
	byName  map[types.NamespacedName]*charge.Charge
	byOwner map[cluster.Ref]*charge.Charge
	pods    map[types.UID]consumer
}

func newConsumers(snap *cluster.Snapshot, charges []*charge.Charge) *consumers {
	c := &consumers{snap: snap, byUID: map[types.UID]*charge.Charge{},
		byName:  map[types.NamespacedName]*charge.Charge{},
		byOwner: map[cluster.Ref]*charge.Charge{}, pods: map[types.UID]consumer{}}
	for _, ch := range charges {
		w := ch.Workload
		if !w.State.MakesWorkload() {
			continue
		}
		c.byName[types.NamespacedName{Namespace: w.Namespace, Name: w.Name}] = ch
		if !w.OwnerRef.IsZero() && c.byOwner[w.OwnerRef] == nil {
			c.byOwner[w.OwnerRef] = ch
		}
		owners := w.Members
		if w.Owner != nil {
			owners = append(owners[:len(owners):len(owners)], w.Owner)
		}
		for _, o := range owners {
			if o.Meta != nil && o.Meta.UID != "" && c.byUID[o.Meta.UID] == nil {
				c.byUID[o.Meta.UID] = ch
			}
		}
	}
	return c
}

// workloadAnnotation is put on pods by Kueue.
const workloadAnnotation = "kueue.x-k8s.io/workload"

// ofPod walks up the controllers of a pod to an object that Kueue manages.
func (c *consumers) ofPod(pod *cluster.Object) consumer {
	out := consumer{pod: pod}
	if name := pod.Meta.Annotations[workloadAnnotation]; name != "" {
		if ch := c.byName[types.NamespacedName{Namespace: pod.Ref.Namespace, Name: name}]; ch != nil {
			out.charge = ch
			return out
		}
	}
	seen := map[*cluster.Object]bool{}
	for current := pod; !seen[current]; {
		seen[current] = true
		if ch := c.byUID[current.Meta.UID]; ch != nil && current.Meta.UID != "" {
			out.charge = ch
			return out
		}
		if ch := c.byOwner[current.Ref]; ch != nil {
			out.charge = ch
			return out
		}
		ref := metav1.GetControllerOfNoCopy(current.Meta)
		if ref == nil {
			return out
		}
		named := cluster.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: pod.Ref.Namespace, Name: ref.Name}
		if ch := c.byOwner[named]; ch != nil {
			out.charge = ch
			return out
		}
		parent := c.snap.Get(named.GroupKind(), named.Namespace, named.Name)
		if parent == nil {
			// Kinds that Kueue does not know, such as DaemonSets, are not read: their pods are managed by nobody.
			_, readable := cluster.FindKind(named.GroupKind())
			out.unsure = readable && !c.snap.Coverage.HasIn(named.GroupKind(), pod.Ref.Namespace)
			return out
		}
		current = parent
	}
	return out
}

// ofClaim is who a claim is reserved for: the first of its pods that a workload is known of, else the first.
func (c *consumers) ofClaim(o *cluster.Object, claim *resourcev1.ResourceClaim) consumer {
	var names []string
	for _, r := range claim.Status.ReservedFor {
		if r.APIGroup == "" && r.Resource == "pods" {
			names = append(names, r.Name)
		}
	}
	if ref := metav1.GetControllerOfNoCopy(o.Meta); ref != nil && ref.Kind == cluster.Pod.Kind {
		names = append(names, ref.Name)
	}
	var found *consumer
	for _, name := range names {
		pod := c.snap.Get(cluster.Pod, o.Ref.Namespace, name)
		if pod == nil {
			if found == nil && !c.snap.Coverage.HasIn(cluster.Pod, o.Ref.Namespace) {
				found = &consumer{unsure: true}
			}
			continue
		}
		of := c.ofPod(pod)
		if of.charge != nil {
			return of
		}
		if found == nil || found.pod == nil {
			found = &of
		}
	}
	if found == nil {
		return consumer{}
	}
	return *found
}

// running tells that a pod holds its devices: it has a node and has not ended.
func running(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}
