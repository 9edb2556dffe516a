// Package outcome describes decisions about a cluster in the shape of the program's SimulationResult, for
// the reference, the program and their comparison alike.
package outcome
