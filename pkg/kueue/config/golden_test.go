package config

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGoldenConfigurations compares with what Kueue v0.19.0 said when it was started with these configurations.
func TestGoldenConfigurations(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/golden/config/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name          string          `json:"name"`
		Configuration json.RawMessage `json:"configuration"`
		Refused       bool            `json:"refused"`
		Message       string          `json:"message"`
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			got, err := Resolve(nil,
				Options{ConfigFile: "config.yaml", ConfigData: c.Configuration, Version: "v0.19.0"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Message, got.Refusal()); diff != "" {
				t.Errorf("refusal (-Kueue +ours):\n%s", diff)
			}
			if refused := len(got.Problems) > 0; refused != c.Refused {
				t.Errorf("refused = %t, Kueue says %t", refused, c.Refused)
			}
		})
	}
}
