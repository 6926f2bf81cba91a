package gomodule

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Module is a module at a version, with the checksum that go.sum would hold.
type Module struct {
	Path, Version, Sum string
}

// Copy puts the module into a directory of the test's own, which it returns.
func (m Module) Copy(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	got, err := m.download(t, dir)
	if err != nil {
		t.Fatalf("get %s@%s: %v", m.Path, m.Version, err)
	}
	to := filepath.Join(dir, filepath.Base(m.Path))
	if err := os.CopyFS(to, os.DirFS(got)); err != nil {
		t.Fatalf("copy %s: %v", got, err)
	}
	return to
}

// download makes sure that the module is in the module cache, and returns its directory.
func (m Module) download(t testing.TB, dir string) (string, error) {
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", m.Path+"@"+m.Version)
	cmd.Dir = dir // outside any module
	out, err := cmd.Output()
	var answer struct{ Dir, Sum, Error string }
	if bad := json.Unmarshal(out, &answer); bad != nil {
		return "", fmt.Errorf("%w: %w", err, bad)
	}
	switch {
	case answer.Error != "":
		return "", fmt.Errorf("%s", answer.Error)
	case answer.Sum != m.Sum:
		return "", fmt.Errorf("its checksum is %s, and was %s", answer.Sum, m.Sum)
	}
	return answer.Dir, nil
}
