package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

// Set by the linker in a release build.
var version, commit string

// versionInfo is the result of `version`.
type versionInfo struct {
	report.TypeMeta
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`
	Date      string `json:"date,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
	// KueueVersions are the releases of Kueue whose behaviour is known.
	KueueVersions []string `json:"kueueVersions"`
	// DefaultKueueVersion is assumed when nothing tells the version.
	DefaultKueueVersion string `json:"defaultKueueVersion"`
}

func newVersion(env Env) *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:     "version [flags]",
		Short:   "Print the version, and the releases of Kueue it covers",
		Example: "  kubectl gpu-quota version\n  kubectl gpu-quota version -o json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, ok := versionFormats[output]
			if !ok {
				return usageError{fmt.Errorf("unknown output format %q; use one of json, yaml", output),
					cmd.CommandPath()}
			}
			return write(env.Out, currentVersion())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "output format: json or yaml")
	return cmd
}

var versionFormats = map[string]func(io.Writer, versionInfo) error{
	"": func(w io.Writer, v versionInfo) error {
		commit := ""
		if v.Commit != "" {
			commit = " (commit " + strings.TrimSpace(v.Commit+" "+v.Date) + ")"
		}
		_, err := fmt.Fprintf(w, "kubectl-gpu_quota %s%s, %s, %s\nKueue releases covered: %s\nassumed when nothing "+
			"tells: %s\n",
			v.Version, commit, v.GoVersion, v.Platform, strings.Join(v.KueueVersions, " "), v.DefaultKueueVersion)
		return err
	},
	"json": func(w io.Writer, v versionInfo) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "    ")
		return e.Encode(v)
	},
	"yaml": func(w io.Writer, v versionInfo) error {
		text, err := yaml.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	},
}

// currentVersion takes the version from the build, else from what the Go toolchain recorded.
func currentVersion() versionInfo {
	v := versionInfo{
		TypeMeta: report.TypeMeta{APIVersion: report.APIVersion, Kind: "Version"},
		Version:  version, Commit: commit, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		KueueVersions: release.All(), DefaultKueueVersion: release.Default,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		v.Version = cmp.Or(v.Version, "unknown")
		return v
	}
	v.Version = cmp.Or(v.Version, info.Main.Version, "unknown")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = cmp.Or(v.Commit, s.Value)
		case "vcs.time":
			v.Date = s.Value
		}
	}
	return v
}

// noArgs refuses arguments as a usage error.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no arguments, not %q", cmd.Name(), args[0]), cmd.CommandPath()}
	}
	return nil
}
