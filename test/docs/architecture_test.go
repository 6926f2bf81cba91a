package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const architectureDocument = "docs/internals/architecture.md"

// TestStepsNameFiles checks that each file of a step exists, in the directory that is written with it or in the directory of
// the file before it.
func TestStepsNameFiles(t *testing.T) {
	steps := 0
	for line := range strings.Lines(read(t, architectureDocument)) {
		c := cells(strings.TrimSuffix(line, "\n"))
		if len(c) != 2 || !strings.Contains(c[1], ".go`") {
			continue
		}
		steps++
		directory := ""
		for name := range strings.SplitSeq(c[1], ", ") {
			name = code(name)
			if strings.Contains(name, "/") {
				directory = filepath.Dir(name)
			} else {
				name = filepath.Join(directory, name)
			}
			if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
				t.Error(fmt.Errorf("%q: %w", c[0], err))
			}
		}
	}
	if steps == 0 {
		t.Error("no step names a file")
	}
}

// mostSteps is the largest number of steps of a walk, so that a reader can keep it in mind.
const mostSteps = 8

// Each step of a walk is a function that its name finds, as PACKAGE.NAME or
// PACKAGE.TYPE.NAME.
func TestStepsNameFunctions(t *testing.T) {
	const outside = -2
	walks, steps := 0, outside
	for line := range strings.Lines(read(t, architectureDocument)) {
		c := cells(strings.TrimSuffix(line, "\n"))
		switch {
		case slices.Equal(c, []string{"step", "function"}):
			walks, steps = walks+1, -1 // the line below the head
		case c == nil:
			steps = outside
		case steps > outside:
			if steps++; steps > 0 {
				stepNamesFunction(t, c)
			}
		}
		if steps > mostSteps {
			t.Errorf("%q is step %d of its walk", c[0], steps)
		}
	}
	if walks == 0 {
		t.Error("no walk names functions")
	}
}

func stepNamesFunction(t *testing.T, c []string) {
	t.Helper()
	if len(c) != 2 {
		t.Errorf("%d cells in a step: %q", len(c), c)
		return
	}
	directory, file := filepath.Split(code(c[1]))
	last, name, _ := strings.Cut(file, ".")
	if !slices.Contains(functions(t, filepath.Join("../..", directory, last)), name) {
		t.Errorf("%q: no function %s in %s", c[0], name, filepath.Join(directory, last))
	}
}

// functions are the names of a package's functions, and of its methods as TYPE.NAME.
func functions(t *testing.T, directory string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				names = append(names, receiver(f)+f.Name.Name)
			}
		}
	}
	return names
}

// receiver returns a method's type and a dot, or "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, is := of.(*ast.StarExpr); is {
		of = star.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	return of.(*ast.Ident).Name + "."
}

func TestTestDirectoriesAreListed(t *testing.T) {
	listed := map[string]bool{}
	for _, r := range tableOf(t, read(t, architectureDocument), "directory", "what") {
		listed[code(r["directory"])] = true
	}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := "test/" + e.Name(); e.IsDir() && !listed[name] {
			t.Errorf("%s is not listed", name)
		}
	}
}
