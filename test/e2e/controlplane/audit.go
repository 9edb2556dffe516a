package controlplane

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
)

// Request is one request the API server has recorded.
type Request struct {
	User struct{ Username string }
	// ImpersonatedUser is who the user asked to be.
	ImpersonatedUser struct{ Username string }
	// Verb is one of Kubernetes: get, list, watch, create, …
	Verb, RequestURI, UserAgent string
	ObjectRef                   struct{ Resource, Namespace, Name, APIGroup, Subresource string }
	ResponseStatus              struct{ Code int }
}

func (cp *ControlPlane) auditLog() string { return filepath.Join(cp.dir, "audit.log") }

// Requests returns what the API server has recorded so far, in order.
func (cp *ControlPlane) Requests() ([]Request, error) {
	file, err := os.Open(cp.auditLog())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out []Request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, lines.Err()
}
