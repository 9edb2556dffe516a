package quota

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Share is a node's dominant resource share: how much it borrows of the resource it borrows most of, in thousandths
// of what its cohort could lend, divided by its weight.
type Share struct {
	// Ratio before the weight, in thousandths.
	Ratio    float64
	Weight   float64
	Dominant corev1.ResourceName
	// Borrowing: the node uses more than its SubtreeQuota of some flavor and resource.
	Borrowing bool
}

// NoShare ranks below every share there is.
func NoShare() Share { return Share{Ratio: -1, Weight: 1} }

// Value is the weighted share: zero without borrowing, infinite for a borrower of weight zero.
func (s Share) Value() float64 {
	switch {
	case s.Ratio == 0:
		return 0
	case s.Weight == 0:
		return math.Inf(1)
	}
	return s.Ratio / s.Weight
}

// Compare orders shares; of two borrowers of weight zero the one with the smaller ratio is the smaller.
func (s Share) Compare(o Share) int {
	a, b := s.Weight == 0 && s.Ratio != 0, o.Weight == 0 && o.Ratio != 0
	switch {
	case a && b:
		return cmp.Compare(s.Ratio, o.Ratio)
	case a:
		return 1
	case b:
		return -1
	}
	return cmp.Compare(s.Value(), o.Value())
}

// BorrowsAny tells that the node uses more than its SubtreeQuota of something that is in the usage.
func (n *Node) BorrowsAny(d Delta) bool {
	for i, id := range d.ids {
		if s := n.get(id); d.amounts[i] > 0 && s.defined && s.usage > s.subtree {
			return true
		}
	}
	return false
}

// Share is the node's dominant resource share. A root has none: it is zero.
func (n *Node) Share() Share {
	if !n.shared {
		n.share, n.shared = n.weigh(), true
	}
	return n.share
}

func (n *Node) weigh() Share {
	out := Share{Weight: n.Weight}
	if n.parent == nil {
		return out
	}
	// Resources are few, and this runs often: a short list serves better than a map.
	var few [8]borrowed
	all := few[:0]
	for id := range n.slots {
		s := &n.slots[id]
		over := s.usage.Sub(s.subtree)
		if !s.defined || over <= 0 {
			continue
		}
		name := n.index.keys[id].Resource
		if i := slices.IndexFunc(all, func(b borrowed) bool { return b.of == name }); i >= 0 {
			all[i].amount = all[i].amount.Add(over)
		} else {
			all = append(all, borrowed{name, over})
		}
	}
	out.Borrowing = len(all) > 0
	for _, b := range all {
		if l := n.parent.lends(b.of); l > 0 {
			ratio := float64(b.amount) * 1000 / float64(l)
			if ratio > out.Ratio || ratio == out.Ratio && b.of < out.Dominant {
				out.Ratio, out.Dominant = ratio, b.of
			}
		}
	}
	return out
}

// borrowed is what a node uses of a resource beyond what it owns.
type borrowed struct {
	of     corev1.ResourceName
	amount Amount
}

// lends is what the node could get of a resource in all flavors. It changes with limits only.
func (n *Node) lends(name corev1.ResourceName) Amount {
	if n.lendable == nil {
		n.lendable = map[corev1.ResourceName]Amount{}
		root := n.Root()
		for id := range root.slots {
			if root.slots[id].defined {
				of := n.index.keys[id].Resource
				n.lendable[of] = n.lendable[of].Add(n.potential(id))
			}
		}
	}
	return n.lendable[name]
}
