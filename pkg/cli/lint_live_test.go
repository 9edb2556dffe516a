package cli

import (
	"strings"
	"testing"
)

const labelledFlavor = `apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100, uid: "1"}
spec: {nodeLabels: {gpu: a100}}
---
apiVersion: v1
kind: Node
metadata: {name: node-1, uid: "2", labels: {gpu: h100}}
`

// TestLintReadsTheNodesOfACluster: flavors are held to the nodes there are; where nodes may not be listed nothing is said
// about them but that.
func TestLintReadsTheNodesOfACluster(t *testing.T) {
	out, errOut, code := run(t, "lint", "--server", apiServer(t, labelledFlavor).URL)
	if !strings.Contains(out, "no node has the labels of ResourceFlavor a100 (gpu=a100)") || code != ExitOK {
		t.Errorf("exit %d, stderr %q, stdout:\n%s", code, errOut, out)
	}
	out, _, _ = run(t, "lint", "--server", apiServer(t, labelledFlavor, "/api/v1/nodes").URL)
	if strings.Contains(out, "no node has the labels") || !strings.Contains(out, "GQ403 (no Node in the input)") {
		t.Errorf("nodes may not be listed, and lint says:\n%s", out)
	}
}
