package lintconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// baselineVersion and baselineKind head a baseline.
const (
	baselineVersion = "gpuquota.dev/v1alpha1"
	baselineKind    = "LintBaseline"
)

// Baseline is the findings that were there when it was written. They are told by rule, file, object, field and message,
// so that they are known again when lines move.
type Baseline struct {
	// left counts, for each finding, how many more are covered.
	left map[known]int
	dir  string
}

// known is a finding in a baseline.
type known struct {
	Rule string `json:"rule"`
	// File is relative to the baseline.
	File    string `json:"file,omitempty"`
	Object  string `json:"object,omitempty"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

// entry counts findings that differ in their place only.
type entry struct {
	known
	Count int `json:"count"`
}

type baselineFile struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Findings   []entry `json:"findings"`
}

// LoadBaseline reads a baseline.
func LoadBaseline(name string) (*Baseline, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var file baselineFile
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s:%d: %w; write it anew with --write-baseline", name, lineOfJSON(text, err), err)
	}
	if file.APIVersion != baselineVersion || file.Kind != baselineKind {
		return nil, fmt.Errorf("%s is not a baseline: it must begin with apiVersion %s and kind %s", name,
			baselineVersion, baselineKind)
	}
	b := &Baseline{left: map[known]int{}, dir: filepath.Dir(name)}
	for _, e := range file.Findings {
		b.left[e.known] += e.Count
	}
	return b, nil
}

// lineOfJSON is the line at which decoding stopped.
func lineOfJSON(text []byte, err error) int {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	offset := int64(0)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &wrong):
		offset = wrong.Offset
	}
	return bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n")) + 1
}

// Covers tells that a finding is in the baseline. Each entry covers as many findings as it counts.
func (b *Baseline) Covers(f lint.Finding) bool {
	k := knownAs(f, b.dir)
	if b.left[k] == 0 {
		return false
	}
	b.left[k]--
	return true
}

func knownAs(f lint.Finding, dir string) known {
	k := known{Rule: f.Rule.ID, File: f.At.File, Path: f.At.Path, Message: f.Message}
	if !f.At.Object.IsZero() {
		k.Object = f.At.Object.String()
	}
	if k.File == "" || k.File == "-" {
		return k
	}
	from, err1 := filepath.Abs(dir)
	to, err2 := filepath.Abs(k.File)
	if relative, err := filepath.Rel(from, to); err1 == nil && err2 == nil && err == nil {
		k.File = filepath.ToSlash(relative)
	}
	return k
}

// WriteBaseline writes a baseline that covers findings. Its lines do not depend on the order of the findings.
func WriteBaseline(name string, findings []lint.Finding) error {
	counts := map[known]int{}
	for _, f := range findings {
		counts[knownAs(f, filepath.Dir(name))]++
	}
	file := baselineFile{APIVersion: baselineVersion, Kind: baselineKind, Findings: []entry{}}
	for k, n := range counts {
		file.Findings = append(file.Findings, entry{k, n})
	}
	slices.SortFunc(file.Findings, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(file); err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o644)
}
