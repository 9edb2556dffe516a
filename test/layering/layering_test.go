package layering_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/test/layering"
)

func TestModuleKeepsTheOrder(t *testing.T) {
	packages := modulePackages(t)
	if len(packages) < 5 {
		t.Fatalf("go list found %d packages, too few to be the module", len(packages))
	}
	for _, v := range layering.Check(layering.Order, packages) {
		t.Error(v)
	}
}

// TestCheckFindsWrongImports proves that the check above is able to fail.
func TestCheckFindsWrongImports(t *testing.T) {
	const m = layering.Module + "/"
	tests := map[string]struct {
		pkg  layering.Package
		want []string
	}{
		"to the left, and other modules": {
			pkg: layering.Package{Path: m + "pkg/charge", Imports: []string{"fmt", m + "pkg/cluster", m + "pkg/device", "k8s.io/api/core/v1"}},
		},
		"inside one layer": {
			pkg: layering.Package{Path: m + "pkg/lint/rules", Imports: []string{m + "pkg/lint"}},
		},
		"to the right": {
			pkg:  layering.Package{Path: m + "pkg/charge", Imports: []string{m + "pkg/report"}},
			want: []string{m + "pkg/charge imports " + m + "pkg/report: pkg/report stands to the right of pkg/charge"},
		},
		"a package below another of a lower layer": {
			pkg:  layering.Package{Path: m + "pkg/lint/rules", Imports: []string{m + "pkg/cli/x"}},
			want: []string{m + "pkg/lint/rules imports " + m + "pkg/cli/x: pkg/cli stands to the right of pkg/lint"},
		},
		"the demo from below the command line": {
			pkg:  layering.Package{Path: m + "pkg/report", Imports: []string{m + "demo"}},
			want: []string{m + "pkg/report imports " + m + "demo: demo stands to the right of pkg/report"},
		},
		"a package nobody placed": {
			pkg:  layering.Package{Path: m + "pkg/helpers", Imports: []string{m + "pkg/charge"}},
			want: []string{m + "pkg/helpers: has no place in the table of layers; add its directory to Order"},
		},
		"a name that only begins like a layer": {
			pkg:  layering.Package{Path: m + "pkg/cli", Imports: []string{m + "pkg/sources"}},
			want: []string{m + "pkg/cli imports " + m + "pkg/sources: the imported package has no place in the table of layers"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range layering.Check(layering.Order, []layering.Package{tc.pkg}) {
				got = append(got, v.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

// modulePackages asks the go command for the module's packages.
func modulePackages(t *testing.T) []layering.Package {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []layering.Package
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			packages = append(packages, layering.Package{Path: fields[0], Imports: fields[1:]})
		}
	}
	return packages
}
