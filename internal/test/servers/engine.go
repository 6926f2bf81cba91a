package servers

import (
	"errors"
	"testing"

	"locus/cmd/dbserver"
	"locus/internal/test/scale"
)

// Engine is a kind of database server.
type Engine = dbserver.Engine

const (
	MariaDB = dbserver.MariaDB
	MySQL   = dbserver.MySQL
)

// Engines runs a test once for every engine, as a subtest of its name.
func Engines(t *testing.T, test func(*testing.T, Engine)) {
	t.Helper()
	for _, engine := range dbserver.Engines() {
		t.Run(string(engine), func(t *testing.T) { test(t, engine) })
	}
}

// Mostly runs a long test, in which the engines hardly differ, on one engine; in the long scale it runs on
// every engine. The callers divide the engines among themselves. For example, the test suites of other projects
// use them so that the clients of each language meet all engines.
func Mostly(t *testing.T, engine Engine, test func(*testing.T, Engine)) {
	t.Helper()
	if scale.Long() {
		Engines(t, test)
		return
	}
	t.Run(string(engine), func(t *testing.T) { test(t, engine) })
}

// scripts holds the scripts that install the engines for tests.
var scripts = map[Engine]string{
	MariaDB: "test/install/servers.sh",
	MySQL:   "test/install/mysql-9.7.sh",
}

// find returns the installed engine, and fails the test if it is not installed.
func find(t testing.TB, engine Engine) *dbserver.Installation {
	t.Helper()
	installation, err := dbserver.Find(t.Context(), engine, "")
	if errors.Is(err, dbserver.ErrNotInstalled) {
		t.Fatalf("%s installs what this test needs: %v", scripts[engine], err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return installation
}
