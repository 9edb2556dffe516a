package explain

import "github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"

// Remedy is a change after which the workload would be admitted. It was tried; package remedy finds them.
type Remedy struct {
	// Action says what to do, and Effect what comes of it.
	Action, Effect string
	// Patch is the command that makes the change; empty when no single command does.
	Patch string
	// Changes are what was tried.
	Changes []cluster.Change
}
