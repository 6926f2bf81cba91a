package servers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locus/cmd/dbserver"
)

// Program returns the command line of a program that comes with an engine, such as its command-line client or
// its dump program. If the program is missing, the test fails.
func Program(t testing.TB, engine Engine, name string) []string {
	t.Helper()
	installation, err := dbserver.Find(t.Context(), engine, "")
	if err != nil {
		t.Fatal(err)
	}
	usr, inTree := strings.CutSuffix(installation.Path(), "/sbin/mysqld")
	libraries, _ := filepath.Glob(filepath.Join(usr, "lib/*-linux-gnu"))
	loaders, _ := filepath.Glob(filepath.Join(usr, "lib/*-linux-gnu/ld-linux-*.so.*"))
	program := filepath.Join(usr, "bin", name)
	if _, err := os.Stat(program); err == nil && inTree && usr != "/usr" && len(libraries) == 1 && len(loaders) == 1 {
		return []string{loaders[0], "--library-path", libraries[0] + ":" + filepath.Join(usr, "lib/mysql/private"), program}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s of %s: %v", name, engine, err)
	}
	return []string{path}
}
