// Package outcome describes decisions about a cluster in the shape of the program's SimulationResult, for Kueue and
// the program alike, compares the two, and reads and writes the cases in which they once differed.
//
// In: a [Result] of each side. Out: the [Difference]s. The module test/conformance asks Kueue; package program asks
// the program.
package outcome
