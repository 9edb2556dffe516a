package source

import (
	"path/filepath"
	"slices"
	"strings"
)

// Scope is the part of a cluster that a file tells of, as far as the layout of the tree it stands in says so.
type Scope struct {
	// Gathered tells that the file stands in the tree of a must-gather or `oc adm inspect`, which holds what
	// somebody chose to gather.
	Gathered bool
	// Part tells that the file holds single objects, and says nothing of others: those of a dump that were looked
	// up by name.
	Part bool
	// Namespace is the only one the file tells of; empty: the file is not of one namespace.
	Namespace string
}

// PartsDirectory is where a dump of this program holds single objects: PartsDirectory/GROUP/RESOURCE.json.
const PartsDirectory = "gpu-quota-dump/parts"

// PartSink is a Sink that is told which part of the cluster the input is.
type PartSink interface {
	Sink
	// Scope says which part the files read from now on tell of.
	Scope(Scope)
	// BrokeOff says that objects of any kind may be missing: an archive broke off, say.
	BrokeOff(reason string)
}

// clusterInfoFiles are what `kubectl cluster-info dump --output-directory` writes for each namespace, as .json or
// .yaml.
var clusterInfoFiles = []string{"daemonsets", "deployments", "events", "pods", "replicasets", "replication-controllers",
	"services"}

// kueueGather is the directory into which the must-gather image of the Red Hat build of Kueue writes. Beside lists of
// kinds it holds single Deployments, each in a file that begins with singleDeployment.
const kueueGather, singleDeployment = "kueue", "deployment-"

// scopeOf tells the scope by the last parts of a path:
//
//	namespaces/NAMESPACE/NAMESPACE.yaml, namespaces/NAMESPACE/GROUP/RESOURCE.yaml,
//	namespaces/NAMESPACE/GROUP/RESOURCE/NAME.yaml, namespaces/NAMESPACE/pods/POD/POD.yaml,
//	cluster-scoped-resources/GROUP/RESOURCE.yaml, cluster-scoped-resources/GROUP/RESOURCE/NAME.yaml,
//	of a cluster-info dump, NAMESPACE/pods.json, of a dump of this program, parts/GROUP/RESOURCE.json,
//	and of the must-gather of Kueue, kueue/deployment-NAME.yaml.
func scopeOf(file string) Scope {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	parts := strings.Split(filepath.ToSlash(file), "/")
	slices.Reverse(parts)
	at := func(n int) string {
		if n < len(parts) {
			return parts[n]
		}
		return ""
	}
	switch {
	case at(3)+"/"+at(2) == PartsDirectory, at(1) == kueueGather && strings.HasPrefix(at(0), singleDeployment):
		return Scope{Part: true}
	case at(2) == "cluster-scoped-resources", at(3) == "cluster-scoped-resources":
		return Scope{Gathered: true}
	case at(3) == "namespaces":
		return Scope{Gathered: true, Namespace: at(2)}
	case at(4) == "namespaces":
		return Scope{Gathered: true, Namespace: at(3)}
	case at(2) == "namespaces" && strings.TrimSuffix(at(0), filepath.Ext(at(0))) == at(1):
		return Scope{Gathered: true, Namespace: at(1)}
	case slices.Contains(clusterInfoFiles, strings.TrimSuffix(strings.TrimSuffix(at(0), ".json"), ".yaml")):
		return Scope{Namespace: at(1)}
	}
	return Scope{}
}
