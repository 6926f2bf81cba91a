package dbserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// loaders holds the dynamic loaders of the architectures for which Debian packages MySQL, by GOARCH.
var loaders = map[string]struct{ triplet, loader string }{
	"amd64": {"x86_64-linux-gnu", "ld-linux-x86-64.so.2"},
	"arm64": {"aarch64-linux-gnu", "ld-linux-aarch64.so.1"},
}

// usualTrees returns the default directories of a Debian tree with MySQL.
func usualTrees() []string {
	var dirs []string
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "locus", "mysql-9.7"))
	}
	return append(dirs, "/opt/mysql-9.7")
}

// openTree opens a directory that contains a Debian system with MySQL, newer than this machine's. Its programs
// need their own C library. So they are run through their own dynamic loader, without chroot or container, with
// ordinary paths.
func openTree(ctx context.Context, dir string) (*Installation, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("directory of MySQL: %w", err)
	}
	arch, ok := loaders[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("a Debian tree with MySQL can't be run on %s, only on amd64 and arm64", runtime.GOARCH)
	}
	libraries := filepath.Join(dir, "usr/lib", arch.triplet)
	loader := filepath.Join(libraries, arch.loader)
	program := filepath.Join(dir, "usr/sbin/mysqld")
	for _, file := range []string{program, loader} {
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%w: %w; test/install/mysql-9.7.sh %s puts it there", ErrNotInstalled, err, dir)
		}
	}
	path := strings.Join([]string{libraries, filepath.Join(dir, "usr/lib/mysql/private")}, ":")
	command := []string{loader, "--library-path", path, program}
	engine, version, err := askVersion(ctx, command)
	if err != nil {
		return nil, err
	}
	if engine != MySQL {
		return nil, fmt.Errorf("%s is %s %s, not MySQL", program, engine, version)
	}
	return &Installation{Engine: engine, Version: version, server: command}, nil
}
