package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/pflag"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// fixGroup is the title of the flags about fixes in help.
const fixGroup = "Fixes"

// fixMode says what is done with fixes.
type fixMode int

const (
	noFix fixMode = iota
	// writeFix writes them into the files.
	writeFix
	// showFix shows what would be written.
	showFix
)

func (f *lintFlags) fixFlags() *pflag.FlagSet {
	fixes := pflag.NewFlagSet(fixGroup, pflag.ContinueOnError)
	fixes.BoolVar(&f.fix, "fix", false, "change the files of PATH or -f where a fix is safe; with - the changed text "+
		"goes to standard output, and findings to standard error")
	fixes.BoolVar(&f.diff, "diff", false, "show what --fix would change, and exit with code 1 if that is anything")
	return fixes
}

func (f *lintFlags) setFix(o *lintOptions) error {
	switch {
	case f.diff:
		o.fix = showFix
	case f.fix:
		o.fix = writeFix
	default:
		return nil
	}
	if len(o.filenames) == 0 {
		return errors.New("--fix and --diff need files to change: name them as PATH or with -f")
	}
	if f.writeBaseline {
		return errors.New("--write-baseline does not go together with --fix or --diff")
	}
	o.texts = map[string][]byte{}
	return nil
}

// maxFixRounds bounds how often the input is linted again after fixes: one may be the ground for another, and some
// change the same line.
const maxFixRounds = 10

// fixes are the files that fixes change.
type fixes struct {
	// before are the texts of files as they were read.
	before map[string][]byte
	count  int
}

// runFix applies the safe fixes until there are none, and writes or shows the files.
func runFix(ctx context.Context, env Env, o *lintOptions) error {
	f := &fixes{before: map[string][]byte{}}
	unreadableBefore := -1
	for range maxFixRounds {
		in, result, err := lintOnce(ctx, env, o)
		if err != nil {
			return err
		}
		unreadable := countUnreadable(result)
		if unreadableBefore >= 0 && unreadable > unreadableBefore {
			return errors.New("a fix would make a file unreadable; nothing was written: please report this with the " +
				"file")
		}
		unreadableBefore = unreadable
		changed, applied := lint.ApplyFixes(result.Findings,
			func(file string) ([]byte, bool) { return f.text(in, o, file) })
		if applied == 0 {
			break
		}
		f.count += applied
		maps.Copy(o.texts, changed)
	}
	return f.finish(env, o)
}

func countUnreadable(result *lint.Result) int {
	n := 0
	for _, f := range result.Findings {
		if f.Rule.ID == unreadable {
			n++
		}
	}
	return n
}

// text is the current text of a file that may be changed.
func (f *fixes) text(in *lintInput, o *lintOptions, file string) ([]byte, bool) {
	if text, ok := o.texts[file]; ok {
		if _, known := f.before[file]; !known {
			f.before[file] = text
		}
		return text, true
	}
	if !in.given(file) {
		return nil, false
	}
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil, false // what a link leads to is not among the files given
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, false
	}
	f.before[file], o.texts[file] = text, text
	return text, true
}

// finish writes or shows what has changed.
func (f *fixes) finish(env Env, o *lintOptions) error {
	var changed []string
	for _, file := range slices.Sorted(maps.Keys(f.before)) {
		if !bytes.Equal(f.before[file], o.texts[file]) {
			changed = append(changed, file)
		}
	}
	if o.fix == showFix {
		for _, file := range changed {
			name := filepath.ToSlash(file)
			if _, err := env.Out.Write(diff.Diff("a/"+name, f.before[file], "b/"+name, o.texts[file])); err != nil {
				return err
			}
		}
		if len(changed) > 0 {
			return errFindings
		}
		return nil
	}
	for _, file := range changed {
		if file == "-" {
			continue
		}
		if err := replaceFile(file, f.before[file], o.texts[file]); err != nil {
			return fmt.Errorf("--fix: %w", err)
		}
	}
	if text, ok := o.texts["-"]; ok {
		if _, err := env.Out.Write(text); err != nil {
			return err
		}
	}
	if f.count > 0 {
		fmt.Fprintf(env.ErrOut, "fixed %s in %s\n", counted(f.count, "finding"), counted(len(changed), "file"))
	}
	return nil
}

// replaceFile replaces the content of a file at once, and keeps its mode. It does not when the file has changed
// meanwhile.
func replaceFile(name string, before, after []byte) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, before) {
		return fmt.Errorf("%s has changed since it was read", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(after)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// resultTo is where the findings go: standard output, unless that takes the fixed text.
func (o *lintOptions) resultTo(env Env) io.Writer {
	if o.fix == writeFix && o.texts["-"] != nil {
		return env.ErrOut
	}
	return env.Out
}
