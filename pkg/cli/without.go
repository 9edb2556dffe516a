package cli

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// absence is one --without.
type absence struct {
	kind            schema.GroupKind
	namespace, name string
}

// parseGone reads KIND/NAMESPACE/NAME, where KIND is workload or that of a job.
func parseGone(text string) (absence, error) {
	parts := strings.Split(text, "/")
	if len(parts) == 3 && parts[1] != "" && parts[2] != "" {
		if kind, known := typeNames()[strings.ToLower(parts[0])]; known && kind != cluster.ClusterQueue &&
			kind != cluster.LocalQueue {
			return absence{kind, parts[1], parts[2]}, nil
		}
	}
	return absence{}, fmt.Errorf("--without %s: write workload/NAMESPACE/NAME, or KIND/NAMESPACE/NAME of the job", text)
}

// changes removes the workload, its job, and what they own: were the job still there, Kueue would make its workload
// again.
func (a absence) changes(snap *cluster.Snapshot) ([]cluster.Change, error) {
	found, err := a.find(snap)
	if err != nil {
		return nil, err
	}
	removed, uids := map[*cluster.Object]bool{}, map[types.UID]bool{}
	take := func(o *cluster.Object) {
		if o != nil && !removed[o] {
			removed[o] = true
			found = append(found, o)
			if o.Meta.UID != "" {
				uids[o.Meta.UID] = true
			}
		}
	}
	seeds := found
	found = nil
	for _, o := range seeds {
		take(o)
		if o.Ref.GroupKind() == cluster.Workload {
			for _, owner := range o.Meta.OwnerReferences {
				take(snap.ByUID(owner.UID))
			}
		}
	}
	for before := -1; before < len(found); {
		before = len(found)
		for _, t := range targetKinds {
			for _, o := range snap.List(t.kind) {
				for _, owner := range o.Meta.OwnerReferences {
					if uids[owner.UID] {
						take(o)
					}
				}
			}
		}
	}
	var out []cluster.Change
	for _, o := range found {
		out = append(out, cluster.Change{Ref: o.Ref, Remove: true})
	}
	return out, nil
}

// find looks for the object of that name, and for Workloads of a job of that name.
func (a absence) find(snap *cluster.Snapshot) ([]*cluster.Object, error) {
	kind := a.kind
	if kind == podGroup { // its Workload has its name
		kind = cluster.Workload
	}
	if o := snap.Get(kind, a.namespace, a.name); o != nil {
		return []*cluster.Object{o}, nil
	}
	var found []*cluster.Object
	var jobs []string
	for _, o := range snap.List(cluster.Workload) {
		for _, owner := range o.Meta.OwnerReferences {
			if o.Ref.Namespace == a.namespace && owner.Name == a.name &&
				(a.kind == cluster.Workload || owner.Kind == a.kind.Kind) {
				found = append(found, o)
				jobs = append(jobs, strings.ToLower(owner.Kind)+"/"+a.namespace+"/"+a.name)
			}
		}
	}
	slices.Sort(jobs)
	switch jobs = slices.Compact(jobs); len(jobs) {
	case 0:
		return nil, fmt.Errorf("--without: there is no %s %s/%s in the input", a.kind.Kind, a.namespace, a.name)
	case 1:
		return found, nil
	}
	return nil, fmt.Errorf("--without: which of %s?", strings.Join(jobs, ", "))
}
