package dbserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNotInstalled is wrapped by the error of Find if the server is not installed. The error's text contains the
// remedy.
var ErrNotInstalled = errors.New("not installed")

// MySQLDirVariable is the environment variable with the directory of a Debian tree that contains MySQL.
const MySQLDirVariable = "LOCUS_MYSQL_DIR"

// Find finds a server of an engine on this machine.
//
// It searches MariaDB in the PATH and in the directories of system programs, which are often missing in an
// ordinary user's PATH. It searches MySQL in mysqlDir, or, if that is empty, in the directory in
// LOCUS_MYSQL_DIR. If neither is given, it searches a tree at ~/.cache/locus/mysql-9.7 or /opt/mysql-9.7, and
// then the same directories as for MariaDB. If a given directory contains no MySQL, Find returns an error and
// searches nowhere else.
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
		return nil, fmt.Errorf("%w; apt-get install mariadb-server-core installs it", err)
	}
	for _, name := range []string{"mariadb-install-db", "mysql_install_db"} {
		if paths := programPaths(name); len(paths) > 0 {
			found.installer = paths[0]
			return found, nil
		}
	}
	return nil, fmt.Errorf("%s is there, but mariadb-install-db is %w; apt-get install mariadb-server-core installs it",
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

// findProgram returns the first program of these names that belongs to the engine. A program called mysqld may
// be MariaDB or MySQL.
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

// programPaths returns the paths of the programs with that name, in order of preference.
func programPaths(name string) []string {
	var paths []string
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), systemDirs...) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}
