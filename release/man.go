package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cli"
)

// manPages are the manual pages of all commands, in a directory as MANPATH wants it.
func (r *release) manPages() ([]file, error) {
	root := cli.NewRoot(cli.Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard},
		Now:       func() time.Time { return r.time }, Getenv: func(string) string { return "" },
		TerminalWidth: func(io.Writer) (int, bool) { return 0, false },
	})
	var pages []file
	var walk func(*cobra.Command) error
	walk = func(cmd *cobra.Command) error {
		if !cmd.IsAvailableCommand() && cmd != root {
			return nil
		}
		header := &doc.GenManHeader{Section: "1", Date: &r.time, Source: "kubectl gpu-quota " + r.version,
			Manual: "kubectl gpu-quota"}
		cmd.DisableAutoGenTag = true
		cmd.Long = verbatimLists(cmd.Long)
		var page bytes.Buffer
		if err := doc.GenMan(cmd, header, &page); err != nil {
			return err
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		pages = append(pages, file{filepath.ToSlash(filepath.Join("man", "man1", name)), page.Bytes(), false})
		for _, sub := range cmd.Commands() {
			if err := walk(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return pages, walk(root)
}

// verbatimLists marks the indented lines of a help text as text whose line breaks stay.
func verbatimLists(text string) string {
	var out strings.Builder
	inList := false
	for line := range strings.Lines(text) {
		if indented := strings.HasPrefix(line, "  "); indented != inList {
			inList = indented
			out.WriteByte('\n')
		}
		if inList {
			out.WriteString("    ")
		}
		out.WriteString(line)
	}
	return out.String()
}
