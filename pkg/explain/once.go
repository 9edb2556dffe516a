package explain

import "sync"

// onceFor compiles a table of phrases at its first use: a program that prints its help should not pay for it.
func onceFor(pairs ...string) func() []phrase {
	return sync.OnceValue(func() []phrase { return phrases(pairs...) })
}
