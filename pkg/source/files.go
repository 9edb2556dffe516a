package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// stdinName stands for standard input.
const stdinName = "-"

// extensions are those of the files read from a directory. A file named by itself may have any.
var extensions = map[string]bool{".yaml": true, ".yml": true, ".json": true, ".jsonl": true, ".ndjson": true}

const extensionList = ".yaml, .yml, .json, .jsonl or .ndjson"

// findFiles turns names into files, each once, in the order given and, within a directory or glob, by path.
func findFiles(opts Options, out *emitter) []string {
	x := expansion{recursive: opts.Recursive, skip: opts.Skip, out: out, seen: map[string]bool{}}
	if x.skip == nil {
		x.skip = func(string, bool) bool { return false }
	}
	for _, name := range opts.Filenames {
		x.name(name)
	}
	return x.files
}

type expansion struct {
	recursive bool
	skip      func(path string, isDir bool) bool
	out       *emitter
	files     []string
	// seen holds the real paths of files and directories: a file is read once, and loops of links end.
	seen map[string]bool
	// found tells that a directory held a file, read before or not.
	found bool
}

func (x *expansion) name(name string) {
	if name == stdinName {
		x.add(name, name)
		return
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, `*?[`) {
		x.glob(name)
		return
	}
	switch {
	case err != nil:
		x.problem(name, err)
	case info.IsDir():
		x.found = false
		if x.directory(name); !x.found {
			x.out.begin(name)
			x.out.problem(0, x.nothing())
		}
	default:
		x.file(name)
	}
}

func (x *expansion) glob(pattern string) {
	matches, err := filepath.Glob(pattern)
	if err != nil || len(matches) == 0 {
		x.out.begin(pattern)
		x.out.problem(0, "no such file, and no file matches it as a pattern")
		return
	}
	for _, m := range matches {
		x.name(m)
	}
}

func (x *expansion) file(name string) { x.add(name, realPath(name)) }

func (x *expansion) add(name, real string) {
	x.found = true
	if name != stdinName && x.skip(name, false) {
		return
	}
	if !x.seen[real] {
		x.seen[real] = true
		x.files = append(x.files, name)
	}
}

// directory adds the files of a directory. os.ReadDir sorts them by name.
func (x *expansion) directory(dir string) {
	real := realPath(dir)
	if x.seen[real] {
		x.found = true
		return
	}
	x.seen[real] = true
	if x.skip(dir, true) {
		x.found = true
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		x.found = true
		x.problem(dir, err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			// A link is what it leads to; one that leads nowhere is of no interest unless it is named as an input.
			info, err := os.Stat(path)
			if err != nil && !extensions[filepath.Ext(path)] {
				continue
			}
			isDir = err == nil && info.IsDir()
		}
		switch {
		case isDir && x.recursive:
			x.directory(path)
		case !isDir && extensions[strings.ToLower(filepath.Ext(path))]:
			if e.Type().IsRegular() {
				x.add(path, filepath.Join(real, e.Name()))
			} else {
				x.file(path)
			}
		}
	}
}

// nothing is the reason for a directory without files.
func (x *expansion) nothing() string {
	if x.recursive {
		return "no " + extensionList + " file in this directory or below"
	}
	return "no " + extensionList + " file in this directory; -R reads those below it, too"
}

func (x *expansion) problem(name string, err error) {
	x.out.begin(name)
	x.out.problem(0, plain(err))
}

// plain is the error without the path, which the problem names already.
func plain(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return err.Error()
}

func realPath(name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		real = name
	}
	if abs, err := filepath.Abs(real); err == nil {
		return abs
	}
	return real
}
