package lintconfig

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// joinSorted joins errors in the order of their texts.
func joinSorted(all []error) error {
	slices.SortFunc(all, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(all...)
}

// Skips tells that a file or directory is not read: the configuration itself, and what is excluded by its path alone.
func (c *Config) Skips(path string, isDir bool) bool {
	if !isDir && filepath.Base(path) == FileName {
		return true
	}
	return slices.ContainsFunc(c.Exclude, func(e Exclusion) bool {
		return len(e.Namespaces)+len(e.Kinds)+len(e.Rules) == 0 && c.matchesPath(e.Paths, path)
	})
}

// Excluded tells that a finding is not reported, and why.
func (c *Config) Excluded(f lint.Finding) (reason string, ok bool) {
	for _, e := range c.Exclude {
		if c.applies(e, f) {
			return e.Reason, true
		}
	}
	return "", false
}

func (c *Config) applies(e Exclusion, f lint.Finding) bool {
	object := f.At.Object
	namespace := object.Namespace
	if object.GroupKind() == cluster.Namespace {
		namespace = object.Name
	}
	return (len(e.Paths) == 0 || c.matchesPath(e.Paths, f.At.File)) &&
		(len(e.Rules) == 0 || slices.Contains(e.Rules, f.Rule.ID) || slices.Contains(e.Rules, f.Rule.Name)) &&
		(len(e.Kinds) == 0 || slices.ContainsFunc(e.Kinds, func(kind string) bool { return isKind(object, kind) })) &&
		(len(e.Namespaces) == 0 || namespace != "" &&
			slices.ContainsFunc(e.Namespaces, func(p string) bool { return doublestar.MatchUnvalidated(p, namespace) }))
}

// isKind compares with Deployment or Deployment.apps.
func isKind(object cluster.Ref, kind string) bool {
	gk := object.GroupKind()
	return strings.EqualFold(gk.Kind, kind) || strings.EqualFold(gk.Kind+"."+gk.Group, kind)
}

// matchesPath tells that a file or one of the directories above it matches a pattern.
func (c *Config) matchesPath(patterns []string, file string) bool {
	if file == "" || len(patterns) == 0 {
		return false
	}
	path, err1 := filepath.Abs(file)
	dir, err2 := filepath.Abs(filepath.Dir(c.file))
	relative, err3 := filepath.Rel(dir, path)
	relative = filepath.ToSlash(relative)
	if err1 != nil || err2 != nil || err3 != nil || relative == ".." || strings.HasPrefix(relative, "../") {
		return false
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
		if !strings.Contains(pattern, "/") {
			pattern = "**/" + pattern
		}
		for at := relative; at != "."; at = filepath.ToSlash(filepath.Dir(at)) {
			if doublestar.MatchUnvalidated(pattern, at) {
				return true
			}
		}
		return false
	})
}
