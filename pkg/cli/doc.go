// Package cli is the command line: one file per subcommand, each flags → options → validate → run.
// It is the only package that knows cobra. Streams, clock, environment and terminal are injected by
// [Env]; nothing is global, and only main exits.
//
// The layers below are wired in one place, pipeline.go.
package cli
