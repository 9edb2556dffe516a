package explain

// Remedy is a change after which the workload would be admitted. It was tried.
type Remedy struct {
	// Action says what to do, and Effect what comes of it.
	Action, Effect string
	// Patch is the command that makes the change; empty when no single command does.
	Patch string
}

func (e *Explainer) remedies(*Explanation) []Remedy { return nil }
