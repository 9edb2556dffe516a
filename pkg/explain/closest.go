package explain

// Closest picks, for each pod set, the shortages of one flavor: of the one that would be taken, else of the first that
// is not ruled out for good, else of the first.
func Closest(all []Constraint) []Constraint {
	type key struct{ podSet, flavor string }
	rank := func(b Constraint) int {
		switch {
		case b.Chosen:
			return 0
		case !b.Over:
			return 1
		}
		return 2
	}
	worst := map[key]int{}
	var order []key
	for _, b := range all {
		k := key{b.PodSet, b.Flavor}
		if _, seen := worst[k]; !seen {
			order = append(order, k)
		}
		worst[k] = max(worst[k], rank(b))
	}
	chosen := map[string]key{}
	for _, k := range order {
		if best, ok := chosen[k.podSet]; !ok || worst[k] < worst[best] {
			chosen[k.podSet] = k
		}
	}
	var out []Constraint
	for _, b := range all {
		if chosen[b.PodSet] == (key{b.PodSet, b.Flavor}) {
			out = append(out, b)
		}
	}
	return out
}
