package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
)

// The versions of the releases. No tag has them.
const (
	version = "99.0.0"
	later   = "99.0.1"
)

// temporary is the directory of all releases.
var temporary string

func TestMain(m *testing.M) {
	runAsHelm()
	var err error
	if temporary, err = os.MkdirTemp("", "locus-packages-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := 0
	func() {
		defer os.RemoveAll(temporary)
		code = servers.Runner{M: m}.Run()
	}()
	os.Exit(code)
}

// architectures are those that a run builds: the machine's own, and in the long scale all.
func architectures() string {
	if scale.Long() {
		return "amd64,arm64"
	}
	return runtime.GOARCH
}

// snapshot returns a commit with the current tree, including changes that are not committed.
var snapshot = sync.OnceValues(func() (string, error) {
	commit, err := output(exec.Command("git", "-C", "../..", "stash", "create"))
	if err == nil && commit == "" {
		commit, err = output(exec.Command("git", "-C", "../..", "rev-parse", "HEAD"))
	}
	return commit, err
})

// clone checks the snapshot out into a new directory.
func clone(name string) (string, error) {
	commit, err := snapshot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(temporary, name)
	_, err = output(exec.Command("bash", "-euc", `
		git clone --quiet --shared --no-checkout ../.. "$1"
		git -C "$1" checkout --quiet --detach "$2"
	`, "clone", dir, commit))
	return dir, err
}

// The first release is built by the commands of the contributors' guide.
var first = sync.OnceValues(func() (string, error) {
	tree, err := clone("locus")
	if err != nil {
		return "", err
	}
	return build(tree, version)
})

// build runs make release, and returns the directory with the files.
func build(tree, version string) (string, error) {
	_, err := output(exec.Command("make", "-C", tree, "release", "VERSION=v"+version, "ARCH="+architectures()))
	return filepath.Join(tree, "dist"), err
}

// program is the program behind make release.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(temporary, "release")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = "../../deploy/release"
	cmd.Env = append(os.Environ(), "GOWORK=off")
	_, err := output(cmd)
	return path, err
})

// second builds the same commit again. Everything else about the build is different.
var second = sync.OnceValues(func() (string, error) {
	tree, err := clone("somewhere/else/a clone")
	if err != nil {
		return "", err
	}
	path, err := program()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("unshare", "--uts", "bash", "-euc", `
		hostname elsewhere
		umask 077
		chmod -R go-rwx "$1"
		git -C "$1" tag v98.0.0
		cd /
		"$4" -tree "$1" -out "$1/../out" -version "v$2" -arch "$3"
	`, "second", tree, version, architectures(), path)
	cmd.Env = append(os.Environ(), "TZ=Asia/Tokyo", "LC_ALL=C", "GOAMD64=v3", "GOFLAGS=-buildvcs=true", "CGO_ENABLED=1", "GOOS=plan9", "GOMAXPROCS=1")
	if scale.Long() { // else, packages come from the cache
		cmd.Env = append(cmd.Env, "GOCACHE="+filepath.Join(temporary, "cache"))
	}
	_, err = output(cmd)
	return filepath.Join(tree, "../out"), err
})

// upgrade is a release with another version and another example configuration.
var upgrade = sync.OnceValues(func() (string, error) {
	tree, err := clone("upgrade")
	if err != nil {
		return "", err
	}
	_, err = output(exec.Command("bash", "-euc", `
		cd "$1"
		echo '# The example of a later version.' >>deploy/one-machine/locus.yaml
		git -c user.name=test -c user.email=test@locus.invalid commit --quiet --all --message 'deploy: change the example'
	`, "upgrade", tree))
	if err != nil {
		return "", err
	}
	return build(tree, later)
})

// released returns the directory of a release, which is built once.
func released(t *testing.T, release func() (string, error)) string {
	t.Helper()
	dir, err := release()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// output returns what a command prints, without the last line's end.
func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, stdout.String(), stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// run runs a command that must succeed.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	text, err := output(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// one returns the one file of a directory that matches a pattern.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s/%s: %v (%v)", dir, pattern, found, err)
	}
	return found[0]
}

// deb returns this machine's Debian package of a release.
func deb(t *testing.T, dir string) string {
	t.Helper()
	return one(t, dir, "locus_*_"+runtime.GOARCH+".deb")
}

// rpm returns this machine's rpm of a release.
func rpm(t *testing.T, dir string) string {
	t.Helper()
	return one(t, dir, "locus-*."+map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]+".rpm")
}
