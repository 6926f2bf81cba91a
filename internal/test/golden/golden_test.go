package golden

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "testdata", "plans.txt")
	before := *update
	t.Cleanup(func() { *update = before })
	*update = false
	if Update(t, path, "first") {
		t.Error("Update reports a file without -update")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without -update the file: %v", err)
	}
	*update = true
	if !Updating() || !Update(t, path, "second") {
		t.Error("Update reports no file with -update")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "second" {
		t.Errorf("the file contains %q (%v)", text, err)
	}
}
