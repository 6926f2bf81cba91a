package live_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"locus/router/live"
)

func TestReadFileReadsWhatWriteFileWrote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	for revision, values := range map[int64]map[string][]byte{
		7: {"a": []byte("text"), "b/c": {0, 255, 10}, "empty": {}},
		8: {},
	} {
		if err := live.WriteFile(path, values, revision); err != nil {
			t.Fatal(err)
		}
		got, gotRevision, err := live.ReadFile(path)
		if err != nil || gotRevision != revision || !reflect.DeepEqual(got, values) {
			t.Errorf("%v at %d, %v", got, gotRevision, err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestReadFileRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if _, _, err := live.ReadFile(path); !os.IsNotExist(err) {
		t.Errorf("absent: %v", err)
	}
	for text, want := range map[string]string{
		`{"schema":1,"rev`:                      "unexpected end of JSON",
		`{"schema":2,"revision":1,"values":{}}`: "schema 2 isn't 1",
		`{}`:                                    "schema 0 isn't 1",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := live.ReadFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
