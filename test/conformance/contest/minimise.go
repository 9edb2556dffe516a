package contest

import (
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// Minimise removes from a cluster whatever it can without the difference going away: objects first, then what is
// special about those that are left. A difference in one of the same aspects has to remain, and no object that is
// left may refer to one that is not.
func (c Contest) Minimise(cluster *objects.Cluster) *objects.Cluster {
	c.Most = 0 // it holds hundreds of clusters
	differences, _, err := c.Hold(cluster)
	if err != nil || len(differences) == 0 {
		return cluster
	}
	m := &minimiser{Contest: c, deadline: time.Now().Add(minimising), aspects: map[string]bool{},
		missing: dangling(cluster)}
	for _, d := range differences {
		m.aspects[d.Aspect] = true
	}
	for {
		smaller := m.simplify(m.removeObjects(cluster))
		if len(smaller.Objects) == len(cluster.Objects) {
			return smaller
		}
		cluster = smaller
	}
}

// minimising bounds the time for one cluster.
const minimising = 2 * time.Minute

type minimiser struct {
	Contest
	deadline time.Time
	aspects  map[string]bool
	missing  map[string]bool
}

func (m *minimiser) differs(cluster *objects.Cluster) bool {
	if time.Now().After(m.deadline) || !within(dangling(cluster), m.missing) {
		return false
	}
	differences, _, err := m.Hold(cluster)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(differences, func(d outcome.Difference) bool { return m.aspects[d.Aspect] })
}

// removeObjects tries ever smaller runs of objects, from the end: what comes late depends on what comes first.
func (m *minimiser) removeObjects(cluster *objects.Cluster) *objects.Cluster {
	for size := max(len(cluster.Objects)/2, 1); size >= 1; size /= 2 {
		for end := len(cluster.Objects); end > 0; {
			start := max(end-size, 0)
			if smaller := without(cluster, start, end); m.differs(smaller) {
				cluster = smaller
			}
			end = min(start, len(cluster.Objects))
		}
	}
	return cluster
}

func without(cluster *objects.Cluster, start, end int) *objects.Cluster {
	return &objects.Cluster{
		Configuration: cluster.Configuration,
		Objects:       slices.Concat(cluster.Objects[:start:start], cluster.Objects[end:]),
	}
}

// simplify applies each simplification to each object, as long as the difference stays.
func (m *minimiser) simplify(cluster *objects.Cluster) *objects.Cluster {
	for again := true; again; {
		again = false
		for i := range cluster.Objects {
			for _, simpler := range simplifications(cluster.Objects[i]) {
				candidate := &objects.Cluster{Configuration: cluster.Configuration,
					Objects: slices.Clone(cluster.Objects)}
				candidate.Objects[i] = simpler
				if m.differs(candidate) {
					cluster, again = candidate, true
					break
				}
			}
		}
		if candidate := withoutFairSharing(cluster); candidate != nil && m.differs(candidate) {
			cluster, again = candidate, true
		}
	}
	return cluster
}

func withoutFairSharing(cluster *objects.Cluster) *objects.Cluster {
	if cluster.Configuration.FairSharing == nil {
		return nil
	}
	simpler := &objects.Cluster{Configuration: cluster.Configuration.DeepCopy(), Objects: cluster.Objects}
	simpler.Configuration.FairSharing = nil
	return simpler
}

// edited is a copy of an object with an edit made, or nil if the edit says that it has nothing to do.
func edited[T client.Object](object T, edit func(T) bool) client.Object {
	copied := object.DeepCopyObject().(T)
	if !edit(copied) {
		return nil
	}
	return copied
}
