package release

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestEveryBehaviorFieldIsRead: a field that nothing reads is a difference between releases that no answer knows of. The
// tables that fill the fields do not count.
func TestEveryBehaviorFieldIsRead(t *testing.T) {
	read := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			name == "behavior_table.go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok && behaviorOperand(x.X) {
				read[x.Sel.Name] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	behavior := reflect.TypeFor[Behavior]()
	for i := range behavior.NumField() {
		if name := behavior.Field(i).Name; !read[name] {
			t.Errorf("nothing reads Behavior.%s", name)
		}
	}
	if read["NoSuchField"] || len(read) < behavior.NumField() {
		t.Errorf("found %d reads, too few for the search to be right", len(read))
	}
}

// behaviorOperand tells that an expression may be a Behavior: a field or a variable named after it, as in
// `cfg.Behavior.X`, `b.X` or `g.behavior.X`.
func behaviorOperand(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "b" || x.Name == "behavior"
	case *ast.SelectorExpr:
		return x.Sel.Name == "Behavior" || x.Sel.Name == "behavior"
	}
	return false
}
