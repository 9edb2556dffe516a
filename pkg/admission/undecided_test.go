package admission

import (
	"os"
	"strings"
	"testing"
)

// TestWhatIsNotDecidedIsDocumented: docs/admission.md has a row for each feature that is left undecided.
func TestWhatIsNotDecidedIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/admission.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range undecidedFeatures {
		if !strings.Contains(string(doc), "\n| "+u.feature+" | ") {
			t.Errorf("docs/admission.md has no row %q", u.feature)
		}
	}
}
