package quota

import (
	"cmp"
	"math"

	corev1 "k8s.io/api/core/v1"
)

// Share is a node's dominant resource share: how much it borrows of the resource it borrows most of, in thousandths
// of what its cohort could lend, divided by its weight.
type Share struct {
	// Ratio before the weight, in thousandths.
	Ratio    float64
	Weight   float64
	Dominant corev1.ResourceName
	// Borrowing: the node uses more than its SubtreeQuota of some flavor and resource, listed in On.
	Borrowing bool
	On        []FlavorResource
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

// BorrowsAny tells that the node borrows on something that is asked for.
func (s Share) BorrowsAny(requests Usage) bool {
	for _, fr := range s.On {
		if requests[fr] > 0 {
			return true
		}
	}
	return false
}

// Share is the node's dominant resource share. A root has none: it is zero.
func (n *Node) Share() Share {
	out := Share{Weight: n.Weight}
	if n.parent == nil {
		return out
	}
	borrowed := map[corev1.ResourceName]Amount{}
	for id := range n.slots {
		s := &n.slots[id]
		if over := s.usage.Sub(s.subtree); s.defined && over > 0 {
			fr := n.index.keys[id]
			borrowed[fr.Resource] = borrowed[fr.Resource].Add(over)
			out.On = append(out.On, fr)
		}
	}
	if len(borrowed) == 0 {
		return out
	}
	out.Borrowing = true
	lendable := n.parent.lendable(borrowed)
	for name, b := range borrowed {
		if l := lendable[name]; l > 0 {
			ratio := float64(b) * 1000 / float64(l)
			if ratio > out.Ratio || ratio == out.Ratio && name < out.Dominant {
				out.Ratio, out.Dominant = ratio, name
			}
		}
	}
	return out
}

// lendable sums, for each resource asked about, what the node could get of it in all flavors.
func (n *Node) lendable(of map[corev1.ResourceName]Amount) map[corev1.ResourceName]Amount {
	root, out := n.Root(), map[corev1.ResourceName]Amount{}
	for id := range root.slots {
		if fr := n.index.keys[id]; root.slots[id].defined {
			if _, asked := of[fr.Resource]; asked {
				out[fr.Resource] = out[fr.Resource].Add(n.potential(id))
			}
		}
	}
	return out
}
