package objects

import (
	"cmp"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Cluster is everything Kueue decides by: its Configuration and the objects, in the order of the dump.
type Cluster struct {
	Configuration *configapi.Configuration
	Objects       []client.Object
}

// Of returns the objects of one type, in order.
func Of[T client.Object](c *Cluster) []T {
	var found []T
	for _, object := range c.Objects {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}

// Arrivals returns the Workloads by creation timestamp; equal ones stay in the order of the dump.
func (c *Cluster) Arrivals() []*kueue.Workload {
	workloads := Of[*kueue.Workload](c)
	slices.SortStableFunc(workloads, func(a, b *kueue.Workload) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	return workloads
}

// Newest returns the latest time that any object names: the present, as far as the dump tells.
func (c *Cluster) Newest() time.Time {
	var newest time.Time
	see := func(t time.Time) {
		if t.After(newest) {
			newest = t
		}
	}
	for _, object := range c.Objects {
		see(object.GetCreationTimestamp().Time)
		if workload, ok := object.(*kueue.Workload); ok {
			for _, condition := range workload.Status.Conditions {
				see(condition.LastTransitionTime.Time)
			}
		}
	}
	return newest
}

// Oldest returns the earliest creation of a Workload.
func (c *Cluster) Oldest() time.Time {
	if arrivals := c.Arrivals(); len(arrivals) > 0 {
		return arrivals[0].CreationTimestamp.Time
	}
	return c.Newest()
}

// Without returns the cluster less the objects for which drop says so. The objects are shared.
func (c *Cluster) Without(drop func(client.Object) bool) *Cluster {
	kept := &Cluster{Configuration: c.Configuration}
	for _, object := range c.Objects {
		if !drop(object) {
			kept.Objects = append(kept.Objects, object)
		}
	}
	return kept
}

// Clone copies the cluster deeply.
func (c *Cluster) Clone() *Cluster {
	copied := &Cluster{Configuration: c.Configuration.DeepCopy()}
	for _, object := range c.Objects {
		copied.Objects = append(copied.Objects, object.DeepCopyObject().(client.Object))
	}
	return copied
}

// CompareKeys orders objects by namespace and name.
func CompareKeys(a, b client.Object) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}
