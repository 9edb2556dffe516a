package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrappingKeepsWordsAndNumbersWhole(t *testing.T) {
	cases := map[string]struct {
		pieces          []string
		separator, lead string
		columns         int
		want            []string
	}{
		"nothing":         {columns: 20},
		"all on one line": {pieces: []string{"gpu.memory 14592Mi", "cpu 3"}, separator: ", ", columns: 40, want: []string{"gpu.memory 14592Mi, cpu 3"}},
		"amounts break after the comma, not inside": {
			pieces: []string{"gpu.memory 14592Mi", "nvidia.com/gpu 8", "cpu 3"}, separator: ", ", columns: 24,
			want: []string{"gpu.memory 14592Mi,", "nvidia.com/gpu 8, cpu 3"},
		},
		"steps start the next line with their arrow": {
			pieces: []string{"claim gpu", "template gpu-partition", "class mig.nvidia.com"}, separator: " → ", lead: "→ ", columns: 36,
			want: []string{"claim gpu → template gpu-partition", "→ class mig.nvidia.com"},
		},
		"a step that is too long breaks between its words": {
			pieces: []string{"claim gpu", "max 4864Mi over 7 matching devices × 1"}, separator: " → ", lead: "→ ", columns: 24,
			want: []string{"claim gpu", "→ max 4864Mi over 7", "  matching devices × 1"},
		},
		"a word that is too long stands alone": {
			pieces: strings.Fields("a very-long-name-that-does-not-fit-anywhere b"), separator: " ", columns: 20,
			want: []string{"a", "very-long-name-that-does-not-fit-anywhere", "b"},
		},
		"wide characters count as two": {
			pieces: strings.Fields("日本語日本語日 本語"), separator: " ", columns: 20,
			want: []string{"日本語日本語日 本語"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := wrapPieces(tc.pieces, tc.separator, tc.lead, tc.columns)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
