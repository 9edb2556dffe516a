package cluster

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// CollectionAPIVersion and CollectionKind are the type of the record inside a dump.
const (
	CollectionAPIVersion = "gpuquota.dev/v1alpha1"
	CollectionKind       = "Collection"
)

// Collection is the record that a dump carries of how it was made: what its lists hold, and what could not be
// read of the cluster. A kind that was forbidden is missing from the dump, not absent from the cluster.
type Collection struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Program is the version of the program that made the dump, Time when it did (RFC 3339).
	Program string `json:"program"`
	Time    string `json:"time"`
	// Namespace is the only one that was read; empty: all.
	Namespace string `json:"namespace,omitempty"`
	// NamesReplaced tells that the names of objects are not those of the cluster.
	NamesReplaced bool `json:"namesReplaced,omitempty"`
	// Listed are the kinds that were read as a whole, with the number of objects.
	Listed []CollectedKind `json:"listed"`
	// Missing are the kinds that could not be read, with the reason.
	Missing []MissingKind `json:"missing"`
}

// CollectedKind is a kind that a dump holds.
type CollectedKind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Objects    int    `json:"objects"`
}

// MissingKind is a kind that a dump does not hold.
type MissingKind struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	// Reason is "forbidden: …", [source.NotServed], or why the list failed.
	Reason string `json:"reason"`
}

func isCollection(apiVersion, kind string) bool {
	return kind == CollectionKind && apiVersion == CollectionAPIVersion
}

// collection takes over what a dump says of itself.
func (s *sink) collection(d source.Document) {
	var c Collection
	if err := json.Unmarshal(d.JSON, &c); err != nil {
		s.Problem(*problemAt(d.Origin, "the record of the dump can't be decoded: "+err.Error()))
		s.BrokeOff("what the dump does not hold is not known")
		return
	}
	for _, m := range c.Missing {
		if gk := (schema.GroupKind{Group: m.Group, Kind: m.Kind}); s.b.wants == nil || s.b.wants(gk) {
			s.Missing(m.Group, m.Kind, m.Reason)
		}
	}
}
