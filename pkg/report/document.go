package report

import (
	"iter"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
)

// Document is a result that every [Printer] can write.
type Document interface {
	// Head is the result without its items: a struct whose fields come before "items".
	Head() any
	// Items yields the items one by one; each is converted when its turn comes.
	Items() iter.Seq[any]
	// Names yields the object each item is about.
	Names() iter.Seq[cluster.Ref]
	// Draw writes the result for people.
	Draw(*Screen)
}

// named is a result whose list of items has a name of its own.
type named interface{ listName() string }

// listName is the field that holds the items.
func listName(d Document) string {
	if n, ok := d.(named); ok {
		return n.listName()
	}
	return "items"
}

// listHead is the part of a list before its items.
type listHead struct {
	TypeMeta
	Kueue Kueue `json:"kueue"`
}

// Charges is the result of `charge`.
type Charges struct {
	conf    *config.Config
	charges []*charge.Charge
	units   Units
	// namespaces asks for the namespace column.
	namespaces bool
	// hideServices leaves out what does not ask for Kueue.
	hideServices bool
}

// NewCharges returns the result for charges in the order they are to be printed.
func NewCharges(conf *config.Config, charges []*charge.Charge) *Charges {
	return &Charges{conf: conf, charges: charges, units: Units{charge.Formatter{Binary: conf.BinaryResource}}}
}

// Head implements [Document].
func (d *Charges) Head() any {
	return listHead{TypeMeta{APIVersion, "ChargeList"}, kueueOf(d.conf)}
}

// Items implements [Document].
func (d *Charges) Items() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, c := range d.charges {
			item := newCharge(c, d.units)
			if !yield(&item) {
				return
			}
		}
	}
}

// Names implements [Document].
func (d *Charges) Names() iter.Seq[cluster.Ref] {
	return func(yield func(cluster.Ref) bool) {
		for _, c := range d.charges {
			if !yield(subject(c)) {
				return
			}
		}
	}
}

// Explanations is the result of `explain`.
type Explanations struct {
	conf  *config.Config
	items []*explain.Explanation
	units Units
}

// NewExplanations returns the result for explanations in the order they are to be printed.
func NewExplanations(conf *config.Config, items []*explain.Explanation) *Explanations {
	return &Explanations{conf: conf, items: items, units: Units{charge.Formatter{Binary: conf.BinaryResource}}}
}

// Head implements [Document].
func (d *Explanations) Head() any {
	return listHead{TypeMeta{APIVersion, "ExplanationList"}, kueueOf(d.conf)}
}

// Items implements [Document].
func (d *Explanations) Items() iter.Seq[any] {
	return func(yield func(any) bool) {
		c := newConverter(d.units)
		for _, x := range d.items {
			item := c.explanation(x)
			if !yield(&item) {
				return
			}
		}
	}
}

// Names implements [Document].
func (d *Explanations) Names() iter.Seq[cluster.Ref] {
	return func(yield func(cluster.Ref) bool) {
		for _, x := range d.items {
			if !yield(subject(x.Charge)) {
				return
			}
		}
	}
}

// subject is the object people know a charge by: the job, else the Workload.
func subject(c *charge.Charge) cluster.Ref {
	switch {
	case c.Workload == nil:
		return cluster.Ref{}
	case !c.Workload.OwnerRef.IsZero():
		return c.Workload.OwnerRef
	}
	return c.Workload.Ref()
}
