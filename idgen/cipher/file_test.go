package cipher

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locus/idgen/orderid"
)

func TestCreateAndLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ring.yaml")
	made, err := Create(file)
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.Stat(file)
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", stat.Mode(), err)
	}
	loaded, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	l := layoutNamed(t, "int64")
	id, _ := l.Compose(1, made.Current(), orderid.Seq(1))
	number, err1 := made.Encode(l, id)
	back, err2 := loaded.Decode(l, number)
	if err1 != nil || err2 != nil || back != id || number == id {
		t.Errorf("%s, %s, %s, %v, %v", id, number, back, err1, err2)
	}

	before, _ := os.ReadFile(file)
	if _, err := Create(file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second Create: %v", err)
	}
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Error("the file was replaced")
	}
	other := filepath.Join(t.TempDir(), "ring.yaml")
	if _, err := Create(other); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(other); string(text) == string(before) {
		t.Error("two rings have the same key")
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ring.yaml")
	if _, err := Load(file); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("current: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil || !strings.HasPrefix(err.Error(), "load "+file+": key ring: keys are missing") {
		t.Error(err)
	}
}

func TestCheckMode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ring.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckMode(file); err != nil {
		t.Error(err)
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if err := CheckMode(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}
