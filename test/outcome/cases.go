package outcome

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Case is a cluster about which Kueue was asked, with its answers. It is kept as one txtar file: what the case is
// about, dump.yaml, and VERSION/MODE.json for each version and mode; a second answer, where chance decides, is in
// VERSION/MODE-2.json.
type Case struct {
	Name, Comment string
	Dump          []byte
	// Answers of Kueue by version and mode, such as v0.19.2/replay.
	Answers map[string][]*Result
}

const (
	caseEnding = ".txtar"
	dumpFile   = "dump.yaml"
)

// ReadCases reads all cases of a directory, sorted by name.
func ReadCases(directory string) ([]*Case, error) {
	files, err := filepath.Glob(filepath.Join(directory, "*"+caseEnding))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var cases []*Case
	for _, file := range files {
		c, err := readCase(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func readCase(file string) (*Case, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	archive := txtar.Parse(text)
	c := &Case{
		Name:    strings.TrimSuffix(filepath.Base(file), caseEnding),
		Comment: strings.TrimSpace(string(archive.Comment)),
		Answers: map[string][]*Result{},
	}
	for _, part := range archive.Files {
		if part.Name == dumpFile {
			c.Dump = part.Data
			continue
		}
		answer := &Result{}
		if err := json.Unmarshal(part.Data, answer); err != nil {
			return nil, fmt.Errorf("%s: %w", part.Name, err)
		}
		key := answerKey(part.Name)
		c.Answers[key] = append(c.Answers[key], answer)
	}
	if c.Dump == nil {
		return nil, fmt.Errorf("there is no %s in it", dumpFile)
	}
	return c, nil
}

// answerKey is version and mode of the name of a part.
func answerKey(name string) string {
	mode, _, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".json"), "-")
	return path.Dir(name) + "/" + mode
}

// Write writes the case into a directory.
func (c *Case) Write(directory string) error {
	archive := &txtar.Archive{Comment: []byte(c.Comment + "\n"), Files: []txtar.File{{Name: dumpFile, Data: c.Dump}}}
	keys := make([]string, 0, len(c.Answers))
	for key := range c.Answers {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		for i, answer := range c.Answers[key] {
			name := key + ".json"
			if i > 0 {
				name = fmt.Sprintf("%s-%d.json", key, i+1)
			}
			text, err := answer.lines()
			if err != nil {
				return err
			}
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: text})
		}
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, c.Name+caseEnding), txtar.Format(archive), 0o644)
}

// lines is the result as JSON, one Workload, cycle or queue a line.
func (r *Result) lines() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"kind\": %q, \"mode\": %q, \"unsettled\": %t", r.Kind, r.Mode, r.Unsettled)
	for _, list := range []struct {
		name  string
		items []any
	}{{"workloads", anys(r.Workloads)}, {"timeline", anys(r.Timeline)}, {"clusterQueues",
		anys(r.ClusterQueues)}, {"next", anys(r.Next)}} {
		if len(list.items) == 0 {
			continue
		}
		fmt.Fprintf(&out, ",\n %q: [", list.name)
		for i, item := range list.items {
			text, err := compact(item)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(&out, "\n  %s", text)
		}
		out.WriteByte(']')
	}
	out.WriteString("}\n")
	return out.Bytes(), nil
}

func compact(item any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(item)
	return bytes.TrimSpace(out.Bytes()), err
}

func anys[T any](items []T) []any {
	var all []any
	for _, item := range items {
		all = append(all, item)
	}
	return all
}
