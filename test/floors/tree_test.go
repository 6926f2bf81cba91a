package floors

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// module contains the imports of the tree.
type module struct {
	path    string
	imports map[string][]fileImport // imports of the packages that ship, by package
}

// fileImport is one import declaration.
type fileImport struct {
	at   string // file and line
	path string
}

// readModule parses the imports of every Go file below root but tests, for every platform, and without building anything. The module of the
// tests is drawn with the product.
func readModule(root string) (module, error) {
	m := module{imports: map[string][]fileImport{}}
	var err error
	if m.path, err = modulePath(filepath.Join(root, "go.mod")); err != nil {
		return m, err
	}
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if file != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			if other(root, file) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		return m.readFile(file, filepath.ToSlash(relative))
	})
	return m, err
}

// other reports whether a directory is a module that is not part of the workspace.
func other(root, dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && dir != root && dir != filepath.Join(root, "test")
}

func (m *module) readFile(file, relative string) error {
	positions := token.NewFileSet()
	syntax, err := parser.ParseFile(positions, file, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	pkg := path.Dir(relative)
	if _, seen := m.imports[pkg]; !seen {
		m.imports[pkg] = nil // a package without imports is one too
	}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		at := relative + ":" + strconv.Itoa(positions.Position(spec.Pos()).Line)
		m.imports[pkg] = append(m.imports[pkg], fileImport{at: at, path: imported})
	}
	return nil
}

// own is the path of a package inside this module.
func (m *module) own(imported string) (pkg string, ok bool) {
	return strings.CutPrefix(imported, m.path+"/")
}

func modulePath(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name), nil
		}
	}
	return "", errors.New(file + " names no module")
}
