package packages

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Two builds of one commit are equal, though the directory, the time, the host's name, the time zone, the mode of new files, the environment of
// Go and the tags of the repository differ. In the long scale the caches of Go differ too.
func TestTwoBuildsAreEqual(t *testing.T) {
	a, b := contents(t, released(t, first)), contents(t, released(t, second))
	for name, text := range a {
		other, there := b[name]
		switch {
		case !there:
			t.Errorf("the second build has no %s", name)
		case !bytes.Equal(text, other):
			t.Errorf("%s: %d and %d bytes, which differ from byte %d on", name, len(text), len(other), difference(text, other))
		}
	}
	for name := range b {
		if _, there := a[name]; !there {
			t.Errorf("the first build has no %s", name)
		}
	}
	if want := 3 + 4*(1+strings.Count(architectures(), ",")); len(a) != want {
		t.Errorf("a release has %d files, not %d", len(a), want)
	}
}

// contents returns the files of a directory, by name.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, entry := range entries {
		if all[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func difference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// A release is of a commit, and of its tag if there is one. Nothing is built if these, or the version, are unclear.
func TestReleasesAreRefused(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := clone("refused")
	if err != nil {
		t.Fatal(err)
	}
	run(t, tree, "git", "tag", "v1.0.0", "HEAD~1")
	used := t.TempDir()
	if err := os.WriteFile(filepath.Join(used, "locus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused := func(reason string, args ...string) {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out")
		text, err := output(exec.CommandContext(context.Background(), path, append([]string{"-tree", tree, "-out", out}, args...)...))
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v: %q, %v; it must name %q", args, text, err, reason)
		}
		if files, _ := os.ReadDir(out); len(files) > 0 {
			t.Errorf("%v: %d files are written", args, len(files))
		}
	}
	for _, version := range []string{"", "1.0.0", "v1.0", "v1.0.0+build", "v01.0.0", "v1.0.0-", "v1.0.0-rc_1", "abc1234-dirty", "v1.0.0\n"} {
		refused("is not a semantic one", "-version", version)
	}
	refused("architecture", "-version", "v1.2.3", "-arch", "amd64,mips")
	refused("tag v1.0.0 is at commit", "-version", "v1.0.0")
	refused("is not empty", "-version", "v1.2.3", "-out", used)
	if err := os.WriteFile(filepath.Join(tree, "cmd", "locus", "new.go"), []byte("package main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("cmd/locus/new.go", "-version", "v1.2.3")
}
