package remedy

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
)

// common is what was found out about one workload and holds for all that are alike. What it says names none of them.
type common struct {
	waitFor, raise, borrow found[[]Remedy]
	fewer                  found[fewer]
	suits                  map[string]suiting
	edits                  map[editKey][]Remedy
}

// editKey is what changes of objects depend on besides what workloads that are alike have in common.
type editKey struct {
	owner     schema.GroupKind
	recorded  bool
	namespace string
	// alone: nothing simpler helps.
	alone bool
}

// found is an answer once it is known.
type found[T any] struct {
	known bool
	is    T
}

func (f *found[T]) or(find func() T) T {
	if !f.known {
		f.is, f.known = find(), true
	}
	return f.is
}

// fewer is how many pods of which pod set would be served; none when no smaller number would.
type fewer struct {
	podSet int
	pods   int32
}

// suiting is what pods have to have to be served in a flavor; it is zero where nothing would do.
type suiting struct {
	tolerations []corev1.Toleration
	labels      map[string]string
	served      bool
}

// shared is what is known of workloads like this one.
func (f *Finder) shared(c *charge.Charge) *common {
	like, shared := f.engine.Likeness(c)
	if !shared {
		return newCommon()
	}
	k := f.commons[like]
	if k == nil {
		k = newCommon()
		f.commons[like] = k
	}
	return k
}

func newCommon() *common {
	return &common{suits: map[string]suiting{}, edits: map[editKey][]Remedy{}}
}
