package dbserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindSaysWhatIsMissingAndWhatMendsIt(t *testing.T) {
	empty := t.TempDir()
	t.Setenv("PATH", empty)
	t.Setenv("XDG_CACHE_HOME", empty)
	saved := systemDirs
	systemDirs = nil
	t.Cleanup(func() { systemDirs = saved })

	_, err := Find(t.Context(), MariaDB, "")
	if !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "apt-get install mariadb-server-core") {
		t.Errorf("no MariaDB: %v", err)
	}
	_, err = Find(t.Context(), MySQL, empty)
	if !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "test/install/mysql-9.7.sh "+empty) {
		t.Errorf("no MySQL in the directory that is named: %v", err)
	}
	t.Setenv(MySQLDirVariable, filepath.Join(empty, "other"))
	_, err = Find(t.Context(), MySQL, "")
	if !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), filepath.Join(empty, "other")) {
		t.Errorf("no MySQL in the directory of the environment: %v", err)
	}
	if _, err = Find(t.Context(), "oracle", ""); err == nil || !strings.Contains(err.Error(), "mariadb or mysql") {
		t.Errorf("an unknown engine: %v", err)
	}
}

// A program called mysqld is often MariaDB.
func TestFindAsksAServerWhatItIs(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	saved := systemDirs
	systemDirs = nil
	t.Cleanup(func() { systemDirs = saved })
	for name, says := range map[string]string{
		"mysqld":           "mysqld  Ver 11.4.2-MariaDB for debian-linux-gnu on x86_64 (Debian 13)",
		"mysql_install_db": "",
	} {
		script := "#!/bin/sh\necho '" + says + "'\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	found, err := Find(t.Context(), MariaDB, "")
	if err != nil || found.Version != "11.4.2-MariaDB" || found.Path() != filepath.Join(dir, "mysqld") {
		t.Errorf("found %v, %v", found, err)
	}
	if found, err := findProgram(t.Context(), MySQL, "mysqld"); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("found %v as MySQL, %v", found, err)
	}
}
