package floors

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Only one function of the proxy plans statements. The executor never plans the parts that it sends: the planner plans all
// parts of a statement together with the statement.
func TestOneFunctionPlans(t *testing.T) {
	const planner = "proxy/session makePlan"
	var callers []string
	for _, tree := range []string{"proxy", "router"} {
		err := filepath.WalkDir(filepath.Join("../..", tree), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				ast.Inspect(d, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Make" && isIdent(s.X, "plan") {
						f, _ := d.(*ast.FuncDecl)
						folder, _ := filepath.Rel("../..", filepath.Dir(path))
						callers = append(callers, folder+" "+functionName(f))
					}
					return true
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(callers) != 1 || callers[0] != planner {
		t.Errorf("plan.Make is called by %q, want %q alone", callers, planner)
	}
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
