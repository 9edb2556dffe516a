package rules

import (
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var sharedExtendedName = &lint.Rule{
	ID: "GQ114", Name: "shared-extended-name", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "Two DeviceClasses have one extendedResourceName",
		Why: "Which class stands for the name depends on which was created last, and in older releases of Kueue on " +
			"chance. A class that is deleted and made again may change what every request for the name costs. " +
			"Objects that were never applied have no creation time, so it can't be told from them.",
		Bad: "kind: DeviceClass\nmetadata: {name: a100}\nspec: {extendedResourceName: nvidia.com/gpu}\n---\nkind: " +
			"DeviceClass\nmetadata: {name: h100}\nspec: {extendedResourceName: nvidia.com/gpu}\n",
		Good:  "kind: DeviceClass\nmetadata: {name: h100}\nspec: {extendedResourceName: nvidia.com/h100}\n",
		Since: "Kueue 0.18, Kubernetes 1.34",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		of := map[string][]*cluster.Object{}
		for o, class := range cluster.All[*resourcev1.DeviceClass](p.Snapshot, cluster.DeviceClass) {
			if n := class.Spec.ExtendedResourceName; n != nil && *n != "" {
				of[*n] = append(of[*n], o)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if len(of[name]) < 2 {
				continue
			}
			for i, o := range of[name] {
				var related []lint.Place
				for k, other := range of[name] {
					if k != i {
						related = append(related, lint.At(other, "spec.extendedResourceName").Saying("the same name"))
					}
				}
				p.Report(lint.Diagnostic{At: lint.At(o, "spec.extendedResourceName"),
					Cause: lint.At(of[name][0], "spec.extendedResourceName"), Related: related,
					Message: fmt.Sprintf("DeviceClasses %s have one extendedResourceName, %s: %s",
						objectNames(of[name]), name, winner(p, of[name])),
					Help: "give every class a name of its own"})
			}
		}
	},
}

// winner says which class stands for the name.
func winner(p *lint.Pass, classes []*cluster.Object) string {
	if !p.Config.Behavior.ExtendedClassNewest {
		return "Kueue " + p.Config.Version + " takes a mapped one in an arbitrary order"
	}
	newest := classes[0]
	for _, o := range classes {
		if o.Meta.CreationTimestamp.IsZero() {
			return "the one created last stands for it, which these objects do not tell"
		}
		if c := o.Meta.CreationTimestamp.Compare(newest.Meta.CreationTimestamp.Time); c > 0 || c == 0 &&
			o.Ref.Name < newest.Ref.Name {
			newest = o
		}
	}
	return newest.Ref.Name + " stands for it, as the one created last"
}
