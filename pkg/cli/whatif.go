package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

const (
	setFlagUsage = "answer as if a quota were another: clusterqueue/NAME:FLAVOR/RESOURCE=QUANTITY, or " +
		"…/RESOURCE:borrowingLimit=QUANTITY (also lendingLimit); repeatable"
	goneFlagUsage = "answer as if a workload and its job were gone: workload/NAMESPACE/NAME, or KIND/NAMESPACE/NAME " +
		"of the job; repeatable"
)

// quotaFields are the fields that --set may set.
var quotaFields = []string{"nominalQuota", "borrowingLimit", "lendingLimit"}

// setting is one --set.
type setting struct {
	text, queue, flavor, resource, field string
	value                                resource.Quantity
}

// parseSetting reads clusterqueue/NAME:FLAVOR/RESOURCE[:FIELD]=QUANTITY.
func parseSetting(text string) (setting, error) {
	bad := func(why string) (setting, error) {
		return setting{}, fmt.Errorf("--set %s: %s; write clusterqueue/NAME:FLAVOR/RESOURCE=QUANTITY", text, why)
	}
	where, value, ok := strings.Cut(text, "=")
	if !ok {
		return bad("there is no =")
	}
	object, rest, ok := strings.Cut(where, ":")
	kind, name, named := strings.Cut(object, "/")
	if !ok || !named || name == "" || typeNames()[strings.ToLower(kind)] != cluster.ClusterQueue {
		return bad("it names no ClusterQueue")
	}
	s := setting{text: text, queue: name, field: quotaFields[0]}
	rest, field, given := strings.Cut(rest, ":")
	if given {
		s.field = field
	}
	if s.flavor, s.resource, ok = strings.Cut(rest, "/"); !ok || s.flavor == "" || s.resource == "" {
		return bad("it names no flavor and resource")
	}
	known := false
	for _, f := range quotaFields {
		known = known || f == s.field
	}
	if !known {
		return bad("the field must be one of " + strings.Join(quotaFields, ", "))
	}
	var err error
	if s.value, err = resource.ParseQuantity(value); err != nil {
		return bad(fmt.Sprintf("%q is no quantity", value))
	}
	return s, nil
}

// change is the setting as an edit of the snapshot.
func (s setting) change(snap *cluster.Snapshot) (cluster.Change, error) {
	queue, o, ok := cluster.Lookup[*kueue.ClusterQueue](snap, cluster.ClusterQueue, "", s.queue)
	if !ok {
		return cluster.Change{}, fmt.Errorf("--set %s: there is no ClusterQueue %s in the input", s.text, s.queue)
	}
	for g, group := range queue.Spec.ResourceGroups {
		for f, flavor := range group.Flavors {
			for r, q := range flavor.Resources {
				if string(flavor.Name) != s.flavor || string(q.Name) != s.resource {
					continue
				}
				path := fmt.Sprintf("/spec/resourceGroups/%d/flavors/%d/resources/%d/%s", g, f, r, s.field)
				patch, err := json.Marshal([]map[string]any{{"op": "add", "path": path, "value": s.value.String()}})
				return cluster.Change{Ref: o.Ref, Patch: patch}, err
			}
		}
	}
	return cluster.Change{},
		fmt.Errorf("--set %s: ClusterQueue %s has no %s in flavor %s", s.text, s.queue, s.resource, s.flavor)
}

// suppose applies --set and --without.
func (o *options) suppose(snap *cluster.Snapshot) (*cluster.Snapshot, error) {
	var changes []cluster.Change
	for _, s := range o.settings {
		c, err := s.change(snap)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	for _, g := range o.gone {
		removed, err := g.changes(snap)
		if err != nil {
			return nil, err
		}
		for _, c := range removed {
			if !slices.ContainsFunc(changes,
				func(other cluster.Change) bool { return other.Remove && other.Ref == c.Ref }) {
				changes = append(changes, c)
			}
		}
	}
	if len(changes) == 0 {
		return snap, nil
	}
	return snap.Apply(changes...)
}
