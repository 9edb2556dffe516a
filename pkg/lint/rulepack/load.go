package rulepack

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// Set holds the rules of the packs loaded, ready to be applied.
type Set struct {
	compiled []*compiled
}

// Load reads rule packs. A path is a file, or a directory whose .yaml and .yml files are read with those of all
// directories below it. The error is an [Errors] for mistakes in packs, else says which file can't be read.
func Load(paths ...string) (*Set, error) {
	l := &loader{set: &Set{}, known: map[string]string{}}
	if len(paths) == 0 {
		return l.set, nil // the environment of CEL takes its time
	}
	var err error
	if l.env, err = newEnv(); err != nil {
		return nil, err
	}
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, fmt.Errorf("rule packs: %w", err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("rule packs: %w", err)
			}
			l.file(file, data)
		}
	}
	return l.finish()
}

// Parse is Load for the text of one file.
func Parse(file string, data []byte) (*Set, error) {
	l := &loader{set: &Set{}, known: map[string]string{}}
	var err error
	if l.env, err = newEnv(); err != nil {
		return nil, err
	}
	l.file(file, data)
	return l.finish()
}

func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var out []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) {
			out = append(out, name)
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("there is no .yaml file in %s", path)
	}
	return out, err
}

// loader collects the rules of several files.
type loader struct {
	env      *environment
	set      *Set
	problems Errors
	// known says where an ID or a name was used before.
	known map[string]string
}

func (l *loader) finish() (*Set, error) {
	if len(l.problems) > 0 {
		return nil, l.problems.sorted()
	}
	slices.SortFunc(l.set.compiled, func(a, b *compiled) int { return strings.Compare(a.of.ID, b.of.ID) })
	return l.set, nil
}

func (l *loader) file(name string, data []byte) {
	documents, problems := read(name, data)
	l.problems = append(l.problems, problems...)
	if len(documents) == 0 && len(problems) == 0 {
		l.problems = append(l.problems, &Error{File: name, Message: "it holds no rule pack"})
	}
	for _, d := range documents {
		if d.pack.APIVersion != APIVersion || d.pack.Kind != Kind {
			l.problems = append(l.problems, d.at("", fmt.Sprintf("%s %q is no rule pack: it must be of apiVersion %s "+
				"and kind %s", d.pack.APIVersion, d.pack.Kind, APIVersion, Kind)))
			continue
		}
		if len(d.pack.Spec.Rules) == 0 {
			l.problems = append(l.problems, d.at("", "spec.rules holds no rule", "spec", "rules"))
		}
		for i := range d.pack.Spec.Rules {
			l.rule(d, i)
		}
	}
}

var (
	ruleID   = regexp.MustCompile(`^[A-Z]{2,16}[0-9]{3}$`)
	ruleName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
)

// severities of rules by how they are written.
var severities = map[string]lint.Severity{
	"": lint.Warning, "error": lint.Error, "warning": lint.Warning, "info": lint.Info,
}

// rule checks and compiles one rule of a document.
func (l *loader) rule(d *document, i int) {
	r := &d.pack.Spec.Rules[i]
	before := len(l.problems)
	wrong := func(message string, path ...any) {
		l.problems = append(l.problems, d.at(r.ID, message, append([]any{"spec", "rules", i}, path...)...))
	}
	switch {
	case !ruleID.MatchString(r.ID):
		wrong(fmt.Sprintf("id %q must be two to sixteen capital letters and three digits, such as HOUSE001", r.ID),
			"id")
	case strings.HasPrefix(r.ID, "GQ"):
		wrong(fmt.Sprintf("id %s: GQ is reserved for the program's own rules", r.ID), "id")
	}
	if !ruleName.MatchString(r.Name) {
		wrong(fmt.Sprintf("name %q must be lower-case words joined with dashes, such as gpus-per-workload", r.Name),
			"name")
	}
	for _, field := range []struct{ name, value string }{{"id", r.ID}, {"name", r.Name}} {
		if at := l.known[field.value]; at != "" && field.value != "" {
			wrong(fmt.Sprintf("%s %s is used before, at %s", field.name, field.value, at), field.name)
		}
		l.known[field.value] = fmt.Sprintf("%s:%d", d.file, d.node("spec", "rules", i).Line)
	}
	if _, known := severities[r.Severity]; !known {
		wrong(fmt.Sprintf("severity %q must be error, warning or info", r.Severity), "severity")
	}
	for _, field := range []struct{ name, value string }{{"title", r.Title}, {"expression", r.Expression}} {
		if strings.TrimSpace(field.value) == "" {
			wrong(field.name + " is missing")
		}
	}
	if r.Message == "" && r.MessageExpression == "" {
		wrong("it needs a message or a messageExpression")
	}
	if r.Path != "" && r.PathExpression != "" {
		wrong("it has both a path and a pathExpression", "pathExpression")
	}
	c := &compiled{of: r, document: d, index: i}
	l.problems = append(l.problems, c.selects()...)
	l.problems = append(l.problems, c.compile(l.env)...)
	if len(l.problems) == before {
		l.set.compiled = append(l.set.compiled, c)
	}
}
