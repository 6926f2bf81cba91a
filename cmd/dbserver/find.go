package dbserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNotInstalled is in the error of Find when the server is not there; the
// error's text says what would fix it.
var ErrNotInstalled = errors.New("not installed")

// MySQLDirVariable names the environment variable that says in which directory
// a Debian tree with MySQL is.
const MySQLDirVariable = "LOCUS_MYSQL_DIR"

// Find looks for a server of an engine on this machine.
//
// MariaDB is looked for on the PATH and in the directories of system programs,
// which an ordinary user's PATH often lacks. MySQL is looked for in mysqlDir, or
// if that is empty in the directory that LOCUS_MYSQL_DIR names; if neither is
// given, in a tree at ~/.cache/locus/mysql-9.7 or /opt/mysql-9.7 and then
// wherever MariaDB would be. A directory that was named and holds no MySQL is
// an error: nothing else is taken in its place.
func Find(ctx context.Context, engine Engine, mysqlDir string) (*Installation, error) {
	found, err := find(ctx, engine, mysqlDir)
	if err != nil {
		return nil, fmt.Errorf("find a %s server: %w", engine, err)
	}
	return found, nil
}

func find(ctx context.Context, engine Engine, mysqlDir string) (*Installation, error) {
	switch engine {
	case MariaDB:
		return findMariaDB(ctx)
	case MySQL:
		return findMySQL(ctx, mysqlDir)
	default:
		_, err := ParseEngine(string(engine))
		return nil, err
	}
}

func findMariaDB(ctx context.Context) (*Installation, error) {
	found, err := findProgram(ctx, MariaDB, "mariadbd", "mysqld")
	if err != nil {
		return nil, fmt.Errorf("%w; apt-get install mariadb-server-core brings it", err)
	}
	for _, name := range []string{"mariadb-install-db", "mysql_install_db"} {
		if paths := programPaths(name); len(paths) > 0 {
			found.installer = paths[0]
			return found, nil
		}
	}
	return nil, fmt.Errorf("%s is there, but mariadb-install-db is %w; apt-get install mariadb-server-core brings it",
		found.Path(), ErrNotInstalled)
}

func findMySQL(ctx context.Context, dir string) (*Installation, error) {
	if dir == "" {
		dir = os.Getenv(MySQLDirVariable)
	}
	if dir != "" {
		return openTree(ctx, dir)
	}
	for _, usual := range usualTrees() {
		found, err := openTree(ctx, usual)
		if err == nil || !errors.Is(err, ErrNotInstalled) {
			return found, err
		}
	}
	found, err := findProgram(ctx, MySQL, "mysqld")
	if err != nil {
		return nil, fmt.Errorf("%w, nor in one of %q; apt-get install mysql-server-core brings it where the "+
			"distribution has it, test/install/mysql-9.7.sh DIR puts it in a directory that %s can name",
			err, usualTrees(), MySQLDirVariable)
	}
	return found, nil
}

// findProgram takes the first program of these names that is of the engine:
// what is called mysqld is MariaDB as often as MySQL.
func findProgram(ctx context.Context, engine Engine, names ...string) (*Installation, error) {
	var broken error
	for _, name := range names {
		for _, path := range programPaths(name) {
			is, version, err := askVersion(ctx, []string{path})
			if err != nil {
				broken = errors.Join(broken, err)
			} else if is == engine {
				return &Installation{Engine: engine, Version: version, server: []string{path}}, nil
			}
		}
	}
	if broken != nil {
		return nil, broken
	}
	return nil, fmt.Errorf("%w: no %s that is %s on the PATH or in %q", ErrNotInstalled, names[0], engine, systemDirs)
}

var systemDirs = []string{"/usr/sbin", "/usr/local/sbin", "/usr/libexec"}

// programPaths are the places where a program of that name is, best first.
func programPaths(name string) []string {
	var paths []string
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), systemDirs...) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}
