package quota

import "slices"

// Delta is usage prepared for one tree, to be added and taken away many times.
type Delta struct {
	ids     []int
	amounts []Amount
}

// Delta prepares usage for the node's tree. It may be used with every node of that tree.
func (n *Node) Delta(u Usage) Delta {
	d := Delta{ids: make([]int, 0, len(u)), amounts: make([]Amount, 0, len(u))}
	for _, fr := range u.Sorted() {
		d.ids = append(d.ids, n.index.number(fr))
		d.amounts = append(d.amounts, u[fr])
	}
	return d
}

// Touches tells that the usage names one of the keys, be it with nothing.
func (d Delta) Touches(ids []int) bool {
	for _, id := range d.ids {
		if slices.Contains(ids, id) {
			return true
		}
	}
	return false
}

// Of is the amount of one key.
func (d Delta) Of(id int) Amount {
	if i := slices.Index(d.ids, id); i >= 0 {
		return d.amounts[i]
	}
	return 0
}

// Add counts usage against the node, and what exceeds its guaranteed part against the cohorts above.
func (n *Node) Add(d Delta) {
	for i, id := range d.ids {
		n.add(id, d.amounts[i])
	}
}

// Remove undoes Add. An amount below zero, which Kueue reserves for a queue that holds more than it may, counts against
// the node alone both ways.
func (n *Node) Remove(d Delta) {
	for i, id := range d.ids {
		n.remove(id, d.amounts[i])
	}
}

func (n *Node) add(id int, v Amount) {
	s := n.at(id)
	local := s.localAvailable()
	s.usage = s.usage.Add(v)
	if n.parent != nil && v > local {
		n.parent.add(id, v.Sub(local))
	}
}

func (n *Node) remove(id int, v Amount) {
	s := n.at(id)
	above := s.usage.Sub(s.guaranteed())
	s.usage = s.usage.Sub(v)
	if v > 0 && above > 0 && n.parent != nil {
		n.parent.remove(id, min(v, above))
	}
}
