package explain

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
)

// TestEveryRecordedMessageHasAMeaning reads the conditions that running releases of Kueue wrote.
func TestEveryRecordedMessageHasAMeaning(t *testing.T) {
	files, err := filepath.Glob("../../testdata/golden/scenarios/*/observed-*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	messages := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var recorded struct {
			Workloads []struct{ Conditions []metav1.Condition }
		}
		if err := json.Unmarshal(text, &recorded); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, w := range recorded.Workloads {
			for _, c := range w.Conditions {
				if c.Type != "QuotaReserved" && !(c.Type == "Evicted" && c.Status == metav1.ConditionTrue) {
					continue
				}
				messages++
				if len(message.Meaning(&c)) == 0 {
					t.Errorf("%s: %s=%s (%s) has no meaning: %s", filepath.Base(filepath.Dir(file)), c.Type, c.Status, c.Reason, c.Message)
				}
			}
		}
	}
	if messages < 1000 {
		t.Errorf("only %d messages were looked at", messages)
	}
}
