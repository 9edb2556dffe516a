package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Exit codes.
const (
	// ExitOK is a clean run.
	ExitOK = 0
	// ExitFindings is a finding at or above --fail-on.
	ExitFindings = 1
	// ExitUnusable is a usage error, or input that could not be read.
	ExitUnusable = 2
	// ExitIncomplete is missing evidence under --strict.
	ExitIncomplete = 3
)

// Interrupted is what a command says that was interrupted.
const Interrupted = "error: interrupted"

// usageError is a mistake in the command line; it is printed with a pointer to the help.
type usageError struct {
	error
	command string
}

func (e usageError) Unwrap() error { return e.error }

// errUnreadable ends a run whose input had unreadable parts. They have been printed already.
var errUnreadable = errors.New("some of the input could not be read")

// errFindings ends a run that found something at or above --fail-on. The findings are the result, so nothing more is
// said.
var errFindings = errors.New("there are findings")

// errIncomplete ends a run under --strict that lacked evidence.
type errIncomplete struct {
	// unknown counts what is unknown: charges of workloads, unless what says otherwise.
	unknown int
	what    string
	// unread counts kinds the cluster did not let us list.
	unread int
}

func (e errIncomplete) Error() string {
	var parts []string
	if e.unknown > 0 {
		parts = append(parts, fmt.Sprintf("%s: %d", cmp.Or(e.what, "workloads with unknown charge"), e.unknown))
	}
	if e.unread > 0 {
		parts = append(parts, fmt.Sprintf("kinds that could not be read: %d", e.unread))
	}
	return "incomplete evidence (--strict): " + strings.Join(parts, ", ")
}

// exitCode maps an error to the exit code.
func exitCode(err error) int {
	var incomplete errIncomplete
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errFindings):
		return ExitFindings
	case errors.As(err, &incomplete) && !errors.Is(err, errUnreadable):
		return ExitIncomplete
	}
	return ExitUnusable
}
