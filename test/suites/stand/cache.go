package stand

import (
	"os"
	"path/filepath"
	"testing"
)

// Installed returns the directory where test/install/suites.sh has put the part of that name, outside of this
// tree. It fails the test if there is none.
func Installed(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("LOCUS_SUITES_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "locus", "suites")
	}
	dir = filepath.Join(dir, name)
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("test/install/suites.sh installs what this test needs: %v", err)
	}
	return dir
}
