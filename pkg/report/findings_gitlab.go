package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// codeQuality is one entry of GitLab's code quality report.
type codeQuality struct {
	Description string           `json:"description"`
	CheckName   string           `json:"check_name"`
	Fingerprint string           `json:"fingerprint"`
	Severity    string           `json:"severity"`
	Location    codeQualityPlace `json:"location"`
}

type codeQualityPlace struct {
	Path  string           `json:"path"`
	Lines codeQualityLines `json:"lines"`
}

type codeQualityLines struct {
	Begin int `json:"begin"`
	End   int `json:"end"`
}

var gitlabSeverities = map[lint.Severity]string{lint.Error: "major", lint.Warning: "minor", lint.Info: "info"}

// writeGitLab writes a code quality report. Its fingerprints do not change when lines move.
func writeGitLab(w io.Writer, d *Findings) error {
	out := []codeQuality{}
	seen := map[string]int{}
	for _, f := range d.result.Findings {
		print := f.Fingerprint()
		seen[print]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", print, seen[print]))
		entry := codeQuality{Description: f.Rule.ID + ": " + findingText(f), CheckName: f.Rule.ID,
			Severity:    gitlabSeverities[f.Severity],
			Fingerprint: hex.EncodeToString(sum[:16])}
		entry.Location.Path = f.At.File
		if entry.Location.Path == "" {
			entry.Location.Path = f.At.Object.String()
		}
		entry.Location.Lines = codeQualityLines{max(f.At.Line, 1), max(f.At.EndLine, f.At.Line, 1)}
		out = append(out, entry)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}
