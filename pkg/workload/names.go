package workload

import (
	"crypto/sha1" //nolint:gosec // the hash Kueue puts into names; it protects nothing
	"encoding/hex"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

const (
	nameHashLength    = 5
	longestName       = 253
	longestShortName  = 63
	elasticAnnotation = "kueue.x-k8s.io/elastic-job"
	rayGeneration     = "kueue.x-k8s.io/raycluster-generation"
	prebuiltKey       = "kueue.x-k8s.io/prebuilt-workload-name"
	originLabel       = "kueue.x-k8s.io/multikueue-origin"
	originUID         = "kueue.x-k8s.io/multikueue-origin-uid"
)

// Name is the name Kueue gives the Workload of an owner: kind and name, cut to length, and a hash of kind,
// group, name, UID and extra. extra distinguishes the Workloads of an elastic job and is mostly empty.
func Name(cfg *config.Config, owner schema.GroupKind, name string, uid types.UID, extra string) string {
	longest := longestName
	if cfg.Enabled(release.ShortWorkloadNames) {
		longest = longestShortName
	}
	prefix := strings.ToLower(owner.Kind) + "-" + name
	if cut := longest - nameHashLength - 1; len(prefix) > cut {
		prefix = prefix[:cut]
	}
	parts := []string{owner.Kind, owner.Group, name, string(uid)}
	if extra != "" {
		parts = append(parts, extra)
	}
	sum := sha1.Sum([]byte(strings.Join(parts, "\n"))) //nolint:gosec // see above
	return prefix + "-" + hex.EncodeToString(sum[:])[:nameHashLength]
}

// nameFor is the name of the Workload a job would get. It is empty when the job's UID (for an elastic job, its
// generation too) is not known: the hash can't be computed then.
func (f *finder) nameFor(k *kind, o *cluster.Object) string {
	if prebuilt := f.prebuilt(o); prebuilt != "" {
		return prebuilt
	}
	if o.Meta.UID == "" {
		return ""
	}
	extra := ""
	if f.elastic(k, o) {
		if o.Meta.Generation == 0 {
			return ""
		}
		extra = strconv.FormatInt(o.Meta.Generation, 10)
		if g := o.Meta.Annotations[rayGeneration]; g != "" && k.Group == cluster.RayCluster.Group {
			extra += "_" + g
		}
	}
	return Name(f.cfg, k.GroupKind, o.Ref.Name, uidForName(k, o), extra)
}

// uidForName is the UID in the hash. The sets of a MultiKueue worker use the UID of the original.
func uidForName(k *kind, o *cluster.Object) types.UID {
	if k.care == bySet && o.Meta.Labels[originLabel] != "" {
		if uid := o.Meta.Annotations[originUID]; uid != "" {
			return types.UID(uid)
		}
	}
	return o.Meta.UID
}

// elastic tells that the job's growth makes further Workloads (workload slices).
func (f *finder) elastic(k *kind, o *cluster.Object) bool {
	return k.elastic && f.cfg.Enabled(release.ElasticJobsViaWorkloadSlices) &&
		o.Meta.Annotations[elasticAnnotation] == "true"
}

// prebuilt is the name of the Workload that the job says is made for it, or "".
func (f *finder) prebuilt(o *cluster.Object) string {
	label, annotation := o.Meta.Labels[prebuiltKey], o.Meta.Annotations[prebuiltKey]
	switch {
	case f.annotationsFirst() && annotation != "":
		return annotation
	case label != "":
		return label
	case f.cfg.Behavior.LongPrebuiltAnnotation && len(annotation) > validation.LabelValueMaxLength:
		return annotation
	}
	return ""
}

// annotationsFirst tells that the names of prebuilt Workloads and pod groups may stand in annotations.
func (f *finder) annotationsFirst() bool {
	return f.cfg.Behavior.AnnotationIdentifiers && f.cfg.Enabled(release.WorkloadIdentifierAnnotations)
}
