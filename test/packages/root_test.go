package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// debians returns the directory of the new Debians that tests copy.
var debians = sync.OnceValues(func() (string, error) { return output(exec.Command("../install/debian.sh")) })

// root is a directory with a Debian of its own.
type root struct {
	t   *testing.T
	dir string
}

// newRoot copies one of the Debians of test/install/debian.sh.
func newRoot(t *testing.T, kind string) root {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("run it as root: a package is installed into a directory")
	}
	from, err := debians()
	if err != nil {
		t.Fatal(err)
	}
	r := root{t: t, dir: filepath.Join(t.TempDir(), kind)}
	run(t, "", "cp", "-a", filepath.Join(from, kind), r.dir)
	return r
}

// path returns where a path of the Debian is on this machine.
func (r root) path(name string) string { return filepath.Join(r.dir, name) }

// bring copies files into /root of the Debian.
func (r root) bring(files ...string) {
	r.t.Helper()
	for _, f := range files {
		run(r.t, "", "cp", f, r.path("root"))
	}
}

func (r root) write(name, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), []byte(text), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

func (r root) read(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(r.path(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// has reports whether a path exists.
func (r root) has(name string) bool {
	_, err := os.Lstat(r.path(name))
	return err == nil
}

// edit replaces a text in a file. The file must contain the text.
func (r root) edit(name, old, new string) {
	r.t.Helper()
	text := r.read(name)
	if !strings.Contains(text, old) {
		r.t.Fatalf("%s has no %q:\n%s", name, old, text)
	}
	f, err := os.OpenFile(r.path(name), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.ReplaceAll(text, old, new)); err != nil {
		r.t.Fatal(err)
	}
}

// shell is how a script is run within the Debian, as root in its home: with the kernel's file systems, and processes of its own. Packages come
// from files alone, because the lists of packages are empty.
const shell = `
	mount --bind "$1" "$1"
	mount -t proc proc "$1/proc"
	mount --rbind /dev "$1/dev"
	mount -t tmpfs tmpfs "$1/tmp"
	exec chroot "$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive bash -euc "cd; $2"
`

func (r root) try(script string) (string, error) {
	return output(exec.CommandContext(r.t.Context(), "unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-euc", shell, "root", r.dir, script))
}

// run runs a script that must succeed, and returns its output.
func (r root) run(script string) string {
	r.t.Helper()
	text, err := r.try(script)
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

// status returns the mode, the owners and the name of paths.
func (r root) status(paths ...string) string {
	r.t.Helper()
	return r.run("stat -c '%A %U:%G %n' " + strings.Join(paths, " "))
}

// noted is the file in which the replacement of systemctl records its arguments.
const noted = "/var/log/systemctl"

// pretend makes the Debian appear to run systemd. Commands that need a running systemd are recorded, and others go to the real systemctl.
func (r root) pretend() {
	r.t.Helper()
	if err := os.MkdirAll(r.path("run/systemd/system"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	r.run("dpkg-divert --quiet --rename --divert /usr/bin/systemctl.real --add /usr/bin/systemctl")
	r.write("usr/bin/systemctl", `#!/bin/bash
echo "$*" >>`+noted+`
rest=()
for a in "$@"; do case $a in --now | --no-reload) ;; *) rest+=("$a") ;; esac; done
case ${rest[0]} in
  enable | disable | is-enabled) rmdir /run/systemd/system; systemctl.real "${rest[@]}"; status=$?; mkdir /run/systemd/system; exit $status ;;
esac
`)
}

// notes returns the arguments of the systemctl calls since the last call of notes.
func (r root) notes() string {
	r.t.Helper()
	text, err := os.ReadFile(r.path(noted))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	_ = os.Remove(r.path(noted))
	return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "; ")
}
