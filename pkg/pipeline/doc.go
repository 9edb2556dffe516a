// Package pipeline puts the layers together: what every command, lint, audit and trials of changes rest on, and the
// door for programs that want an answer without a command line.
//
// In: a snapshot and the configuration of Kueue, or the bytes of a dump. Out: [Layers], which give workloads, charges,
// decisions and simulations, each computed when first asked for. Layers may be asked by several goroutines; the engines
// behind them answer one question at a time.
package pipeline
