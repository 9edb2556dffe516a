package queuestate

import (
	"fmt"
	"maps"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// shown collects what the objects show of a ClusterQueue.
type shown struct {
	q       *Queues
	causes  []Cause
	missing map[string]bool
}

// objects lists the causes that the objects show, in Kueue's order, and the kinds without which there may be more.
func (q *Queues) objects(cq *kueue.ClusterQueue) (causes []Cause, missing []string) {
	if cq.DeletionTimestamp != nil {
		return []Cause{{Kind: Terminating, Path: "metadata.deletionTimestamp"}}, nil // Kueue looks no further
	}
	s := &shown{q: q, missing: map[string]bool{}}
	if p := ptr.Deref(cq.Spec.StopPolicy, kueue.None); p != kueue.None {
		s.add(Cause{Kind: Stopped, Path: "spec.stopPolicy", Value: string(p)})
	}
	topologies := s.flavors(cq)
	s.checks(cq)
	s.add(topologies...)
	if cycle := AncestorsIn(q.snap, string(cq.Spec.CohortName)).Cycle(); cycle != nil {
		s.add(Cause{Kind: CohortCycle, Names: cycle[:1], Path: "spec.cohortName"})
	}
	return s.causes, slices.Sorted(maps.Keys(s.missing))
}

func (s *shown) add(causes ...Cause) { s.causes = append(s.causes, causes...) }

// has tells whether the absence of an object of a kind is certain, and notes the kind where it is not.
func (s *shown) has(gk schema.GroupKind) bool {
	if !s.q.snap.Coverage.Has(gk) {
		s.missing[gk.Kind] = true
		return false
	}
	return true
}

// flavors adds those that do not exist, and returns which of the others are placed by a topology that does not.
func (s *shown) flavors(cq *kueue.ClusterQueue) (topologies []Cause) {
	seen := map[kueue.ResourceFlavorReference]bool{}
	for i, g := range cq.Spec.ResourceGroups {
		for j, fq := range g.Flavors {
			name, path := string(fq.Name), fmt.Sprintf("spec.resourceGroups[%d].flavors[%d].name", i, j)
			f := cluster.As[*kueue.ResourceFlavor](s.q.snap.Get(cluster.ResourceFlavor, "", name))
			switch {
			case f == nil && s.has(cluster.ResourceFlavor):
				s.add(Cause{Kind: FlavorNotFound, Names: []string{name}, Path: path})
			case f == nil || f.Spec.TopologyName == nil || seen[fq.Name] ||
				!s.q.conf.Enabled(release.TopologyAwareScheduling):
			case s.q.snap.Get(cluster.Topology, "", string(*f.Spec.TopologyName)) == nil && s.has(cluster.Topology):
				topologies = append(topologies,
					Cause{Kind: TopologyNotFound, Names: []string{string(*f.Spec.TopologyName)},
						Others: []string{name}, Path: path})
			}
			seen[fq.Name] = true
		}
	}
	return topologies
}

// checks adds what is wrong with the admission checks.
func (s *shown) checks(cq *kueue.ClusterQueue) {
	if cq.Spec.AdmissionChecksStrategy == nil {
		return
	}
	var inactive, perFlavor []Cause
	several, both := Cause{Kind: SeveralMultiKueue}, Cause{Kind: MultiKueueWithProvisioning}
	for i, c := range cq.Spec.AdmissionChecksStrategy.AdmissionChecks {
		name, at := string(c.Name), fmt.Sprintf("spec.admissionChecksStrategy.admissionChecks[%d]", i)
		check, record, ok := cluster.Lookup[*kueue.AdmissionCheck](s.q.snap, cluster.AdmissionCheck, "", name)
		if !ok {
			if s.has(cluster.AdmissionCheck) {
				s.add(Cause{Kind: CheckNotFound, Names: []string{name}, Path: at + ".name"})
			}
			continue
		}
		switch active := apimeta.IsStatusConditionTrue(check.Status.Conditions, kueue.AdmissionCheckActive); {
		case active:
		case !stored(record):
			s.missing["status of AdmissionCheck "+name] = true
		default:
			inactive = append(inactive, Cause{Kind: CheckInactive, Names: []string{name}, Path: at + ".name"})
		}
		switch check.Spec.ControllerName {
		case kueue.ProvisioningRequestControllerName:
			both.Others = append(both.Others, name)
		case kueue.MultiKueueControllerName:
			several.Names, several.Path = append(several.Names, name), at+".name"
			both.Names, both.Path = append(both.Names, name), at+".name"
			if len(c.OnFlavors) > 0 && !onAll(cq, c.OnFlavors) {
				perFlavor = append(perFlavor,
					Cause{Kind: MultiKueuePerFlavor, Names: []string{name}, Path: at + ".onFlavors"})
			}
		}
	}
	s.add(inactive...)
	for _, names := range []*[]string{&several.Names, &both.Names, &both.Others} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	if len(several.Names) > 1 {
		s.add(several)
	}
	s.add(perFlavor...)
	if len(both.Names) > 0 && len(both.Others) > 0 {
		s.add(both)
	}
}

// stored tells that an object comes from an API server, so that controllers have written its status.
func stored(o *cluster.Object) bool { return !o.Laid && o.Meta.UID != "" }

// onAll tells that a check names all flavors of the queue.
func onAll(cq *kueue.ClusterQueue, named []kueue.ResourceFlavorReference) bool {
	for _, g := range cq.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			if !slices.Contains(named, f.Name) {
				return false
			}
		}
	}
	return true
}
