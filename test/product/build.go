package product

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Build builds a version of the binary and returns its path. The binary stays in the user's cache, so that all packages of a test run
// share it: `go build` links only what has changed since. A lock keeps packages from building it at the same time.
func Build(version string) (path string, err error) {
	dir, err := binaries()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "locus-"+version)
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	build := exec.Command("go", "build", "-ldflags", "-X main.version="+version, "-o", path, "locus/cmd/locus")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build locus: %w\n%s", err, out)
	}
	return path, nil
}

// binaries returns the directory of the binaries of this tree: other trees of the same user have others.
func binaries() (string, error) {
	tree, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "locus").Output()
	if err != nil {
		return "", fmt.Errorf("find the tree of locus: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil { // a user without a home
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "locus", "binaries", fmt.Sprintf("%x", sha256.Sum256(tree))[:16])
	return dir, os.MkdirAll(dir, 0o700)
}
