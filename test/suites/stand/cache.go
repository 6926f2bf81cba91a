package stand

import (
	"os"
	"path/filepath"
	"testing"
)

// Installed is where test/install/suites.sh put the part of that name, outside
// this tree. It fails the test if it is not there.
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
