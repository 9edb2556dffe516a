package cli

import (
	"fmt"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// warnTwice says which of several versions of an object was taken.
func warnTwice(env Env, snap *cluster.Snapshot) {
	const most = 5
	for i, t := range snap.Twice {
		if i == most {
			fmt.Fprintf(env.ErrOut, "warning: %d more objects are in the input twice\n", len(snap.Twice)-most)
			return
		}
		why := "newer, resourceVersion " + t.Taken.Meta.ResourceVersion
		if t.Taken.Meta.ResourceVersion == "" || t.Left.Meta.ResourceVersion == "" ||
			t.Taken.Meta.ResourceVersion == t.Left.Meta.ResourceVersion {
			why = "it stands later"
		}
		fmt.Fprintf(env.ErrOut, "warning: %s is in the input twice; taken from %s (%s), not from %s\n", t.Taken.Ref,
			t.Taken.Origin, why, t.Left.Origin)
	}
}

// hintMissing tells a person how to get the kinds an answer from files lacks.
func (s *scene) hintMissing(env Env, o *options) {
	var missing []string
	for _, c := range s.charges {
		missing = append(missing, c.Missing...)
	}
	hintKinds(env, o, s.snap, missing)
}

// hintKinds tells a person how to get kinds that are missing from files.
func hintKinds(env Env, o *options, snap *cluster.Snapshot, missing []string) {
	if snap.Live || o.output != "" && o.output != "wide" {
		return
	}
	resources := cluster.ListNames(missing)
	if len(resources) > 0 {
		fmt.Fprintf(env.ErrOut, "hint: get what is missing with: kubectl get -A -o yaml %s > missing.yaml, and add "+
			"it with --from missing.yaml\n", strings.Join(resources, ","))
	}
}
