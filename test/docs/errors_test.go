package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locus/router/plan"
)

const errorsDocument = "docs/troubleshoot/errors.md"

func TestEveryRefusalIsDocumented(t *testing.T) {
	codes := constants(t, "../../router/plan/refusal.go", func(name, kind string) bool { return kind == "Code" })
	documented := map[string]row{}
	for _, r := range tableOf(t, read(t, errorsDocument), "code", "name", "errno", "SQLSTATE", "meaning", "remedy") {
		documented[code(r["name"])] = r
	}
	for name, value := range codes {
		r := documented[name]
		if r == nil {
			t.Errorf("code %s (%d) has no row", name, value)
			continue
		}
		errno, state := (&plan.Refusal{Code: plan.Code(value)}).MySQL()
		same(t, name+", code", r["code"], strconv.Itoa(value))
		same(t, name+", errno", r["errno"], strconv.Itoa(int(errno)))
		same(t, name+", SQLSTATE", r["SQLSTATE"], state)
		if r["meaning"] == "" || r["remedy"] == "" {
			t.Errorf("%s has no meaning or no remedy", name)
		}
	}
	for name := range documented {
		if _, ok := codes[name]; !ok {
			t.Errorf("%s has a row and is no code", name)
		}
	}
}

// TestEveryErrorNumberIsDocumented compares the documented MySQL error numbers with those in the packages that send errors to
// clients, and with those of refusals.
func TestEveryErrorNumberIsDocumented(t *testing.T) {
	named := constants(t, "../../proxy/session/errors.go", func(name, _ string) bool { return strings.HasPrefix(name, "er") })
	used := map[int]string{}
	for name, value := range named {
		used[value] = name
	}
	for name, value := range constants(t, "../../router/plan/refusal.go", func(_, kind string) bool { return kind == "Code" }) {
		errno, _ := (&plan.Refusal{Code: plan.Code(value)}).MySQL()
		used[int(errno)] = name
	}
	for _, file := range []string{"../../router/plan/rights.go", "../../proxy/sysvars/errors.go", "../../proxy/handshake/authenticate.go", "../../proxy/flavor/errors.go", "../../proxy/txn/errors.go", "../../proxy/wire/err.go", "../../proxy/kept/statements.go"} {
		for name, value := range constants(t, file, func(name, _ string) bool { return strings.HasPrefix(strings.ToLower(name), "er") }) {
			used[value] = name
		}
	}
	library := constants(t, goMySQL(t), func(name, _ string) bool { return strings.HasPrefix(name, "ER_") })
	for _, name := range selected(t, "mysql", "ER_", "../../proxy", "../../proxy/session", "../../proxy/handshake", "../../proxy/flavor", "../../proxy/sysvars", "../../proxy/stamp", "../../proxy/scatter", "../../proxy/txn", "../../proxy/exec", "../../proxy/ddl", "../../proxy/kept") {
		used[library[name]] = name
	}
	documented := map[int]bool{}
	for _, r := range tableOf(t, read(t, errorsDocument), "errno", "SQLSTATE", "when", "effect") {
		documented[int(number(t, r["errno"]))] = true
	}
	for _, value := range slices.Sorted(maps.Keys(used)) {
		if !documented[value] {
			t.Errorf("error %d (%s) has no row", value, used[value])
		}
	}
	for _, value := range slices.Sorted(maps.Keys(documented)) {
		if used[value] == "" {
			t.Errorf("error %d has a row and is given by no package", value)
		}
	}
}

// constants are a file's integer constants by name, those wanted by name and
// type.
func constants(t *testing.T, file string, want func(name, kind string) bool) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, declaration := range parsed(t, file).Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			s := spec.(*ast.ValueSpec)
			kind, _ := s.Type.(*ast.Ident)
			for i, name := range s.Names {
				if i >= len(s.Values) || !want(name.Name, identName(kind)) {
					continue
				}
				if literal, ok := s.Values[i].(*ast.BasicLit); ok && literal.Kind == token.INT {
					found[name.Name] = int(number(t, literal.Value))
				}
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no such constants", file)
	}
	return found
}

func identName(i *ast.Ident) string {
	if i == nil {
		return ""
	}
	return i.Name
}

// selected returns the names that follow pkg. in files, or in the non-test files of directories.
func selected(t *testing.T, pkg, prefix string, paths ...string) []string {
	t.Helper()
	names := map[string]bool{}
	for _, path := range paths {
		files := []string{path}
		if !strings.HasSuffix(path, ".go") {
			var err error
			if files, err = filepath.Glob(filepath.Join(path, "*.go")); err != nil {
				t.Fatal(err)
			}
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			ast.Inspect(parsed(t, file), func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg && strings.HasPrefix(s.Sel.Name, prefix) {
					names[s.Sel.Name] = true
				}
				return true
			})
		}
	}
	if len(names) == 0 {
		t.Fatalf("no file names a %s.%s…", pkg, prefix)
	}
	return slices.Sorted(maps.Keys(names))
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return syntax
}

// goMySQL returns the path of the file in which go-mysql numbers MySQL's errors.
func goMySQL(t *testing.T) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/go-mysql-org/go-mysql/mysql").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "errcode.go")
}
