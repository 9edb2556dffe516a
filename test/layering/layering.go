// Package layering keeps data going one way through the program: a package imports packages to its
// left in [Order], never to its right.
//
// In: the imports of every package of the module. Out: one [Violation] per import that goes the
// wrong way, and per package that has no place in the table.
package layering

import (
	"fmt"
	"slices"
	"strings"
)

// Module is the path of the module whose packages are checked.
const Module = "github.com/gpu-quota/kubectl-gpu-quota"

// Order lists the layers from the bytes read to the program run. A layer is a directory with all
// packages below it; they may import each other, and everything to the left.
var Order = []string{
	"pkg/kueue/release",
	"pkg/kueue/message",
	"pkg/kueue/selector",
	"pkg/cluster/crd",
	"pkg/kueue/jobs",
	"pkg/source",
	"pkg/cluster",
	"pkg/collect",
	"pkg/kueue/config",
	"pkg/kueue/queuestate",
	"pkg/kueue/recorded",
	"pkg/workload",
	"pkg/device",
	"pkg/fit",
	"pkg/charge",
	"pkg/quota",
	"pkg/admission",
	"pkg/pipeline",
	"pkg/explain",
	"pkg/remedy",
	"pkg/lint",
	"pkg/audit",
	"pkg/report",
	"demo", // the embedded demo cluster: input for the command line, for nothing below it
	"pkg/cli",
	"cmd",
	"test",
}

// Package is one package and what its non-test files import.
type Package struct {
	Path    string
	Imports []string
}

// Violation is one import against the order, or (Import empty) a package without a layer.
type Violation struct {
	Package, Import string
	Reason          string
}

// String is `package imports package: reason`.
func (v Violation) String() string {
	if v.Import == "" {
		return fmt.Sprintf("%s: %s", v.Package, v.Reason)
	}
	return fmt.Sprintf("%s imports %s: %s", v.Package, v.Import, v.Reason)
}

// Check returns the violations among the packages, sorted by package and import. Packages of other
// modules are free to import.
func Check(order []string, packages []Package) []Violation {
	var out []Violation
	for _, p := range packages {
		from := layerOf(order, p.Path)
		if from < 0 {
			out = append(out, Violation{Package: p.Path, Reason: "has no place in the table of layers; add its " +
				"directory to Order"})
			continue
		}
		for _, imp := range p.Imports {
			if !inModule(imp) {
				continue
			}
			switch to := layerOf(order, imp); {
			case to < 0:
				out = append(out, Violation{p.Path, imp, "the imported package has no place in the table of layers"})
			case to > from:
				out = append(out,
					Violation{p.Path, imp, fmt.Sprintf("%s stands to the right of %s", order[to], order[from])})
			}
		}
	}
	slices.SortFunc(out, func(a, b Violation) int { return strings.Compare(a.String(), b.String()) })
	return out
}

func inModule(path string) bool { return path == Module || strings.HasPrefix(path, Module+"/") }

// layerOf returns the place of a package's layer in the order, or -1.
func layerOf(order []string, path string) int {
	dir := strings.TrimPrefix(path, Module+"/")
	return slices.IndexFunc(order, func(layer string) bool {
		return dir == layer || strings.HasPrefix(dir, layer+"/")
	})
}
