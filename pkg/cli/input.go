package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/gpu-quota/kubectl-gpu-quota/demo"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// demoExport is the name under which --from finds the embedded demo cluster, unless a file has it.
const demoExport = "demo"

// inlet takes what is read: a cluster.Builder, or something before it.
type inlet interface {
	Sink(cluster.InputOptions) source.Sink
}

// read reads the live cluster or the export, then the files of -f over it.
func read(ctx context.Context, env Env, o *options, b inlet) error {
	if o.live {
		if err := readLive(ctx, env, o, b); err != nil {
			return err
		}
	} else if err := readExport(ctx, env, o, b); err != nil {
		return err
	}
	if len(o.filenames) == 0 {
		return nil
	}
	files := source.Options{Filenames: o.filenames, Recursive: o.recursive, Stdin: env.In, Texts: o.texts,
		Skip: o.skips}
	return source.Read(ctx, files,
		b.Sink(cluster.InputOptions{Laid: true, Whole: o.filesAlone, Namespace: o.laidNamespace}))
}

// readExport reads everything --from names. Directories are read with all below them: a must-gather is a tree.
func readExport(ctx context.Context, env Env, o *options, b inlet) error {
	o.namespace = *o.config.Namespace
	o.laidNamespace = o.namespace
	if env.Reads != nil {
		env.Reads(sizeOf(o.from))
	}
	sink := b.Sink(cluster.InputOptions{Namespace: o.namespace})
	for _, name := range o.from {
		if _, err := os.Stat(name); name == demoExport && errors.Is(err, fs.ErrNotExist) {
			if err := readDemo(ctx, sink); err != nil {
				return err
			}
			continue
		}
		if err := source.Read(ctx, source.Options{Filenames: []string{name}, Recursive: true, Stdin: env.In},
			sink); err != nil {
			return err
		}
	}
	return nil
}

// sizeOf is the size of files.
func sizeOf(names []string) (size int64) {
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return size
}

func readDemo(ctx context.Context, sink source.Sink) error {
	return fs.WalkDir(demo.Files(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(demo.Files(), path)
		if err != nil {
			return err
		}
		return source.ReadBytes(ctx, demoExport+"/"+path, content, sink)
	})
}
