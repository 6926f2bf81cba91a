package floors

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The workspace resolves imports of either module everywhere: without these tests, the product would depend on the module of the tests
// unnoticed, and be built with other versions than its own go.mod names.

func TestTestsOfTheProductImportNothingOfTheOtherModule(t *testing.T) {
	read := 0
	err := filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path == "../../test" || entry.Name() == ".git" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		read++
		m := module{imports: map[string][]fileImport{}}
		if err := m.readFile(path, strings.TrimPrefix(filepath.ToSlash(path), "../../")); err != nil {
			return err
		}
		for pkg, imports := range m.imports {
			for _, i := range imports {
				if within(i.path, "locus/test") {
					t.Errorf("%s: tests of %s must not import %s: it is of another module; see internal/test", i.at, pkg, i.path)
				}
			}
		}
		return nil
	})
	if err != nil || read < 100 {
		t.Errorf("%d files are read (%v)", read, err)
	}
}

func TestBothModulesRequireTheSameVersions(t *testing.T) {
	product, tests := requirements(t, "../../go.mod"), requirements(t, "../go.mod")
	same := 0
	for path, version := range tests {
		switch product[path] {
		case version:
			same++
		case "": // the tests' own
		default:
			t.Errorf("test/go.mod requires %s %s, and go.mod %s", path, version, product[path])
		}
	}
	if same < 20 {
		t.Errorf("%d common modules are read", same)
	}
}

var requirement = regexp.MustCompile(`(?m)^(?:require)?\s+(\S+) (v\S+)`)

// requirements reads the versions that a go.mod requires.
func requirements(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, m := range requirement.FindAllStringSubmatch(string(text), -1) {
		versions[m[1]] = m[2]
	}
	return versions
}
