//go:build servers

package servers

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyDeadHomesAreSwept(t *testing.T) {
	tmp := t.TempDir()
	alive := mustHome(t, tmp)
	dead := mustHome(t, tmp)
	if err := os.MkdirAll(filepath.Join(dead.dir, "mariadb", "s0"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := dead.lock.Close(); err != nil { // the kernel does this when a program ends
		t.Fatal(err)
	}
	next := mustHome(t, tmp)
	if _, err := os.Stat(dead.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the home of a dead program is still there: %v", err)
	}
	for _, h := range []home{alive, next} {
		if _, err := os.Stat(filepath.Join(h.dir, "lock")); err != nil {
			t.Errorf("the home of a living program: %v", err)
		}
	}
}

func mustHome(t *testing.T, tmp string) home {
	t.Helper()
	h, err := makeHome(tmp)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.lock.Close() })
	return h
}
