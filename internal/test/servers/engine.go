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

// Mostly runs a test that takes long, and in which the engines differ little, on one of them, and in the long scale on every one. Tests
// divide the engines between them: of other people's suites, such that the clients of each language have all engines.
func Mostly(t *testing.T, engine Engine, test func(*testing.T, Engine)) {
	t.Helper()
	if scale.Long() {
		Engines(t, test)
		return
	}
	t.Run(string(engine), func(t *testing.T) { test(t, engine) })
}

// scripts are what installs an engine for tests.
var scripts = map[Engine]string{
	MariaDB: "test/install/servers.sh",
	MySQL:   "test/install/mysql-9.7.sh",
}

// find fails the test when the engine is not installed.
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
