package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// moduleDirs tells where the source of each module is.
type moduleDirs map[string]string

// modules asks the go command where the modules are that the program for a platform is made of.
func (r *release) modules(ctx context.Context, p platform) (moduleDirs, error) {
	list, err := r.goCommand(ctx, p, "list", "-deps", "-f", "{{with .Module}}{{.Path}}@{{.Version}} {{.Dir}}{{end}}",
		"./cmd/"+program)
	if err != nil {
		return nil, err
	}
	goRoot, err := r.goCommand(ctx, p, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	dirs := moduleDirs{"stdlib": strings.TrimSpace(goRoot)}
	for line := range strings.Lines(list) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		dirs[name] = dir
	}
	return dirs, nil
}

// goCommand runs the go command in the source tree, for a platform, and returns what it prints.
func (r *release) goCommand(ctx context.Context, p platform, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = r.root
	cmd.Env = p.environment()
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%s: %w: %s", cmd, err, failed.Stderr)
	}
	return string(out), err
}

// licenceFile matches the files that must go with a copy.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([-.].*)?$`)

// accepted are words of the licences that the program may be linked with.
var accepted = regexp.MustCompile(`Apache License|Permission is hereby granted, free of charge|Redistribution and use in source and binary forms|Permission to use, copy, modify, and(/or)? distribute`)

// licences are the licences and notices of modules, as they ask to be passed on. A module without a known
// licence is an error.
func (d moduleDirs) licences(modules []used) ([]byte, error) {
	var out bytes.Buffer
	for _, m := range modules {
		dir := d[m.path+"@"+m.version]
		if m.path == "stdlib" {
			dir = d[m.path]
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: its source is not there: %w", m.purl(), err)
		}
		known := false
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			known = known || accepted.Match(text)
			fmt.Fprintf(&out, "%s\n%s %s: %s\n\n%s\n\n", strings.Repeat("=", 80), m.path, m.version, e.Name(),
				bytes.TrimSpace(text))
		}
		if !known {
			return nil, fmt.Errorf("%s %s has no licence that is known to allow this", m.path, m.version)
		}
	}
	return out.Bytes(), nil
}
