package demo

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"locus/cmd/dbserver"
	"locus/router"
)

func open(t *testing.T, path string) *directory {
	t.Helper()
	d, err := openDirectory(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.close() })
	return d
}

func TestADirectoryIsOneDemos(t *testing.T) {
	path := t.TempDir()
	first := open(t, path)
	if _, err := openDirectory(path); err == nil || !strings.Contains(err.Error(), "another demo runs there (process ") {
		t.Errorf("error is %v", err)
	}
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

func TestADirectoryKeepsItsEngine(t *testing.T) {
	missing := errors.New("not installed")
	only := func(installed dbserver.Engine) func(dbserver.Engine) error {
		return func(e dbserver.Engine) error {
			if e == installed {
				return nil
			}
			return missing
		}
	}
	d := open(t, t.TempDir())
	if _, err := d.engine(dbserver.MariaDB, only(dbserver.MySQL)); !errors.Is(err, missing) {
		t.Errorf("error is %v", err)
	}
	for range 2 {
		if e, err := d.engine("", only(dbserver.MySQL)); err != nil || e != dbserver.MySQL {
			t.Errorf("engine is %s, %v", e, err)
		}
	}
	if _, err := d.engine(dbserver.MariaDB, only(dbserver.MariaDB)); err == nil || !strings.Contains(err.Error(), "choose another --data") {
		t.Errorf("error is %v", err)
	}
}

func TestSecretsAreMadeOnce(t *testing.T) {
	d := open(t, t.TempDir())
	first, err := d.secret("shards/s0", random)
	if err != nil || len(first) < 20 {
		t.Fatalf("secret %q, %v", first, err)
	}
	again, err := d.secret("shards/s0", random)
	if err != nil || again != first {
		t.Errorf("secret %q, %v, want the first", again, err)
	}
	if found, err := d.secrets().Lookup("shards/s0"); err != nil || found != first {
		t.Errorf("a proxy finds %q, %v", found, err)
	}
	stat, err := os.Stat(d.file("secrets/shards/s0"))
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", stat.Mode(), err)
	}
	for range 2 {
		if _, err := d.keyRing(); err != nil {
			t.Error(err)
		}
	}
}

func TestNamesOfANewAndOfAKeptCluster(t *testing.T) {
	d := open(t, t.TempDir())
	owning, spare := d.names(Options{Shards: 2, Spare: 1}, nil)
	if len(owning) != 2 || owning[1] != "s1" || len(spare) != 1 || spare[0] != "s2" {
		t.Errorf("a new cluster has %v and %v", owning, spare)
	}
	c := declaredFor(t, owning, append(spare, "s9"))
	for _, name := range []string{"s0", "s1", "s2"} { // s9 is the user's own
		if err := os.Mkdir(d.file(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	owning, spare = d.names(Options{Shards: 7}, c)
	if len(owning) != 2 || len(spare) != 1 || spare[0] != "s2" {
		t.Errorf("the kept cluster has %v and %v", owning, spare)
	}
	next, err := moved(c, map[router.ShardName][]string{"s0": {"127.0.0.1:9"}})
	if err != nil {
		t.Fatal(err)
	}
	if next.Shards["s0"].Address != "127.0.0.1:9" || !reflect.DeepEqual(next.Shards["s1"], c.Shards["s1"]) || c.Shards["s0"].Address == "127.0.0.1:9" {
		t.Errorf("moved to %v from %v", next.Shards, c.Shards)
	}
}
