package kueueconf

import "slices"

// Releases lists the releases of Kueue whose behaviour is known, and main, in the order of their numbers.
func Releases() []string { return slices.Clone(releases) }
