package explain

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
)

// common is what was found out about one workload and holds for all that are alike. What it says names none of them.
type common struct {
	binding found[[]Constraint]
	holders found[[]admission.Holder]
	earlier map[string]earlier
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

// earlier is what [admission.Engine.Earlier] says of one message.
type earlier struct {
	later []*charge.Charge
	found bool
}

// common is what is known of workloads like this one.
func (e *Explainer) common(c *charge.Charge) *common {
	like, shared := e.engine.Likeness(c)
	if !shared {
		return newCommon()
	}
	k := e.commons[like]
	if k == nil {
		k = newCommon()
		e.commons[like] = k
	}
	return k
}

func newCommon() *common {
	return &common{earlier: map[string]earlier{}}
}
