// Package lintconfig reads what a repository says about how it is linted: `.gpu-quota.yaml`, and the baseline of
// findings that were there before.
//
// In: the names of files. Out: a [Config] and a [Baseline], which say of a finding whether it is to be reported.
package lintconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// FileName is that of a configuration that is found without being named.
const FileName = ".gpu-quota.yaml"

// Config says how the manifests below its directory are linted. Flags win over it.
type Config struct {
	// FailOn is the severity from which on findings lead to exit code 1.
	FailOn string `yaml:"failOn,omitempty" jsonschema:"enum=error,enum=warning,enum=info,enum=none"`
	// KueueVersion is the version of Kueue to follow, such as v0.19.2 or main.
	KueueVersion string `yaml:"kueueVersion,omitempty"`
	// KubernetesVersion is the version of Kubernetes the manifests are for, such as "1.36".
	KubernetesVersion string `yaml:"kubernetesVersion,omitempty"`
	// Severities replace those of rules, by ID or name. A rule that is off is not applied.
	Severities map[string]lint.Severity `yaml:"severities,omitempty"`
	// RulePacks are directories with rules of your own, relative to the file.
	RulePacks []string `yaml:"rulePacks,omitempty"`
	// Baseline is a file with findings that are not reported, relative to the file.
	Baseline string `yaml:"baseline,omitempty"`
	// Exclude says what is not reported.
	Exclude []Exclusion `yaml:"exclude,omitempty"`

	// file is where it was read; empty when there is none.
	file string
	root *yamlv3.Node
}

// Exclusion leaves findings out that all its criteria apply to. With paths alone, the files are not even read.
type Exclusion struct {
	// Paths are patterns, relative to the file: ** stands for any directories, a name without a slash for a file or
	// directory anywhere, and a directory for everything below it.
	Paths []string `yaml:"paths,omitempty"`
	// Namespaces are names, or patterns with *.
	Namespaces []string `yaml:"namespaces,omitempty"`
	// Kinds are like Deployment, or Deployment.apps where the group matters.
	Kinds []string `yaml:"kinds,omitempty"`
	// Rules are IDs or names.
	Rules []string `yaml:"rules,omitempty"`
	// Reason says why.
	Reason string `yaml:"reason,omitempty"`
}

// Find looks for a configuration in the directory that holds all of the files, and upwards to the root of the
// repository. The name is empty when there is none.
func Find(files []string) string {
	dir := commonDirectory(files)
	for {
		name := filepath.Join(dir, FileName)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name
		}
		_, err := os.Stat(filepath.Join(dir, ".git"))
		parent := filepath.Dir(dir)
		if err == nil || parent == dir {
			return ""
		}
		dir = parent
	}
}

// commonDirectory is the deepest one that holds all of the files; the current one when there are none.
func commonDirectory(files []string) string {
	common := ""
	for _, f := range files {
		if f == "-" {
			continue
		}
		if at := strings.IndexAny(f, "*?["); at >= 0 {
			f = filepath.Dir(f[:at] + "x")
		}
		dir, err := filepath.Abs(f)
		if err != nil {
			continue
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			dir = filepath.Dir(dir)
		}
		for common != "" && dir != common && !strings.HasPrefix(dir, strings.TrimSuffix(common, "/")+"/") {
			common = filepath.Dir(common)
		}
		if common == "" {
			common = dir
		}
	}
	if common == "" {
		common, _ = filepath.Abs(".")
	}
	return common
}

// Load reads a configuration. Errors begin with the file and line.
func Load(name string) (*Config, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	c := &Config{file: name, root: &yamlv3.Node{}}
	decoder := yamlv3.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return nil, c.explain(err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: more than one document", name)
	}
	_ = yamlv3.Unmarshal(text, c.root) // it was read before
	return c, c.validate()
}

var (
	atLine       = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	unknownField = regexp.MustCompile(`^field (.*) not found in type .*$`)
	wrongType    = regexp.MustCompile("^cannot unmarshal !!(\\w+) (?:`(.*)` )?into .*$")
)

// explain puts the file and line in front of each fault that the decoder found.
func (c *Config) explain(err error) error {
	faults := []string{err.Error()}
	var all *yamlv3.TypeError
	if errors.As(err, &all) {
		faults = all.Errors
	}
	var out []error
	for _, f := range faults {
		where := c.file
		if m := atLine.FindStringSubmatch(f); m != nil {
			where, f = where+":"+m[1], m[2]
		}
		f = unknownField.ReplaceAllString(f, `there is no field "$1"`)
		f = wrongType.ReplaceAllString(f, "a $1 can't stand here")
		out = append(out, fmt.Errorf("%s: %s", where, strings.TrimPrefix(f, "yaml: ")))
	}
	return errors.Join(out...)
}

// at is an error at the value of a path of keys and indices.
func (c *Config) at(err error, path ...any) error {
	n := c.root
	if n.Kind == yamlv3.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	for _, step := range path {
		next := child(n, step)
		if next == nil {
			break
		}
		n = next
	}
	return fmt.Errorf("%s:%d: %w", c.file, max(n.Line, 1), err)
}

func child(n *yamlv3.Node, step any) *yamlv3.Node {
	switch s := step.(type) {
	case int:
		if n.Kind == yamlv3.SequenceNode && s < len(n.Content) {
			return n.Content[s]
		}
	case string:
		for i := 0; n.Kind == yamlv3.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == s {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

func (c *Config) validate() error {
	var faults []error
	switch c.FailOn {
	case "", "none", string(lint.Error), string(lint.Warning), string(lint.Info):
	default:
		faults = append(faults,
			c.at(fmt.Errorf("failOn must be error, warning, info or none, not %q", c.FailOn), "failOn"))
	}
	if c.KubernetesVersion != "" {
		if _, err := lint.ParseKubernetes(c.KubernetesVersion); err != nil {
			faults = append(faults, c.at(fmt.Errorf("kubernetesVersion: %w", err), "kubernetesVersion"))
		}
	}
	for i, e := range c.Exclude {
		if len(e.Paths)+len(e.Namespaces)+len(e.Kinds)+len(e.Rules) == 0 {
			faults = append(faults,
				c.at(errors.New("an exclusion needs paths, namespaces, kinds or rules"), "exclude", i))
		}
		for field, patterns := range map[string][]string{"paths": e.Paths, "namespaces": e.Namespaces} {
			for j, p := range patterns {
				if !doublestar.ValidatePattern(p) {
					faults = append(faults, c.at(fmt.Errorf("%q is not a pattern", p), "exclude", i, field, j))
				}
			}
		}
	}
	return joinSorted(faults)
}

// path makes a name that is relative to the configuration one that is relative to the current directory.
func (c *Config) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(c.file), name)
}

// BaselineFile is the baseline to use; empty when there is none.
func (c *Config) BaselineFile() string { return c.path(c.Baseline) }

// RulePackDirectories are the directories of rule packs.
func (c *Config) RulePackDirectories() []string {
	var out []string
	for _, dir := range c.RulePacks {
		out = append(out, c.path(dir))
	}
	return out
}

// RuleSeverities are the severities by the ID of the rule. The error names severities and rules that do not exist.
func (c *Config) RuleSeverities(rules []*lint.Rule) (map[string]lint.Severity, error) {
	out := map[string]lint.Severity{}
	var faults []error
	for name, severity := range c.Severities {
		r := lint.Find(rules, name)
		switch {
		case r == nil:
			faults = append(faults, c.at(fmt.Errorf("there is no rule %q; kubectl gpu-quota rules list shows them, "+
				"and rules of a pack need rulePacks", name), "severities", name))
		case severity != lint.Error && severity != lint.Warning && severity != lint.Info && severity != lint.Off:
			faults = append(faults,
				c.at(fmt.Errorf("the severity of %s must be error, warning, info or off, not %q", name, severity),
					"severities", name))
		default:
			out[r.ID] = severity
		}
	}
	for i, e := range c.Exclude {
		for j, name := range e.Rules {
			if lint.Find(rules, name) == nil {
				faults = append(faults, c.at(fmt.Errorf("there is no rule %q; kubectl gpu-quota rules list shows "+
					"them, and rules of a pack need rulePacks", name), "exclude", i, "rules", j))
			}
		}
	}
	return out, joinSorted(faults)
}
