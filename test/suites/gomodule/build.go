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

// building is held while programs are built: both ends of a stand run the same ones.
var building sync.Mutex

// programs are those of the packages. They are built once, beside the module's copy.
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
		if !filepath.IsAbs(p.directory) { // what the command says of its work
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

// Build builds a program of a copied module, with these build tags, and says where it is.
func Build(t testing.TB, dir, pkg string, tags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(pkg))
	Tests{Dir: dir}.goCommand(t, "build", "-tags", strings.Join(tags, ","), "-o", path, pkg)
	return path
}

// goCommand runs one in the module, which has its own idea of what it depends on,
// and may lack sums of what only its tests need.
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
