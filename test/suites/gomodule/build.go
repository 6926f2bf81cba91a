package gomodule

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/test/suites/stand"
)

// program is a package's tests, built.
type program struct{ directory, path string }

// building is locked while programs are built, because both ends of a stand run the same programs.
var building sync.Mutex

// programs returns the test programs of the packages. They are built once, next to the module's copy.
func (s Tests) programs(t testing.TB) (programs []program) {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	if s.Packages == nil {
		s.Packages = []string{"."}
	}
	directories := s.goCommand(t, append([]string{"list", "-tags", s.Tags, "-f", "{{.Dir}}"}, s.Packages...)...)
	for directory := range strings.Lines(directories) {
		p := program{directory: strings.TrimSpace(directory)}
		if !filepath.IsAbs(p.directory) { // the directory that the command reports
			continue
		}
		p.path = filepath.Join(filepath.Dir(s.Dir), "tests-of-"+strings.ReplaceAll(p.directory, "/", "-"))
		if _, err := os.Stat(p.path); errors.Is(err, fs.ErrNotExist) {
			s.goCommand(t, "test", "-c", "-vet=off", "-tags", s.Tags, "-o", p.path, p.directory)
		}
		if _, err := os.Stat(p.path); err == nil { // a package may have no tests
			programs = append(programs, p)
		}
	}
	return programs
}

// Build builds a program of a copied module, with the given build tags, and returns its path.
func Build(t testing.TB, dir, pkg string, tags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(pkg))
	Tests{Dir: dir}.goCommand(t, "build", "-tags", strings.Join(tags, ","), "-o", path, pkg)
	return path
}

// goCommand runs a go command in the module. The module has dependencies of its own, and may lack checksums of modules that
// only its tests need.
func (s Tests) goCommand(t testing.TB, args ...string) string {
	t.Helper()
	c := stand.Command{
		Dir: s.Dir, Env: []string{"GOFLAGS=-mod=mod", "GOWORK=off"}, Limit: 5 * time.Minute,
		Args: append([]string{"sh", "-c", `go "$@" || echo "exit status $?"`, "go"}, args...),
	}
	out := string(c.Output(t))
	if strings.Contains(out, "exit status ") {
		t.Fatal(fmt.Errorf("go %s: %s", strings.Join(args, " "), out))
	}
	return out
}
