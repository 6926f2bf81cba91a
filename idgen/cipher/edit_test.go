package cipher

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"locus/idgen/orderid"
)

// The service reads the ring as another user than root, who changes it.
func TestARingKeepsItsOwner(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.yaml")
	if _, err := Create(file); err != nil {
		t.Fatal(err)
	}
	owner := os.Getuid()
	if owner == 0 {
		owner = 12345
	}
	if err := errors.Join(os.Chmod(file, 0o640), os.Chown(file, owner, -1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Rotate(file, Rotation{Cipher: "ff1"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); int(s.Uid) != owner || info.Mode() != 0o640 {
		t.Errorf("after a rotation the owner is %d and the mode %v, not %d and -rw-r-----", s.Uid, info.Mode(), owner)
	}
}

// A number lives through rotations; a retired version is not given to another
// key unasked.
func TestRotateAndRetire(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.yaml")
	ring, err := Create(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := orderid.ByName("int64")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[orderid.ID]orderid.ID{}
	remember := func() {
		for s := range uint64(50) {
			id, err := l.Compose(7, ring.Current(), orderid.Seq(s))
			if err != nil {
				t.Fatal(err)
			}
			if numbers[id], err = ring.Encode(l, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	remember()
	for i, name := range []string{"chacha20", "aes-ctr", "ff1"} {
		version, err := Rotate(file, Rotation{Cipher: name})
		if err != nil || version != uint32(i+2) {
			t.Fatal(version, err)
		}
		if ring, err = Load(file); err != nil || ring.Current() != version || ring.Cipher(version) != name {
			t.Fatal(ring, err)
		}
		remember()
		for id, number := range numbers {
			if back, err := ring.Decode(l, number); err != nil || back != id {
				t.Fatalf("%s does not decode any more: %s, %v", number, back, err)
			}
		}
	}
	if version, err := Rotate(file, Rotation{Cipher: "ff1", Add: true}); err != nil || version != 5 {
		t.Fatal(version, err)
	}
	if ring, err = Load(file); err != nil || ring.Current() != 4 {
		t.Fatal(ring, err)
	}
	if err := Use(file, 5); err != nil {
		t.Fatal(err)
	}
	if err := Retire(file, 5); err == nil {
		t.Error("the current version is retired")
	}
	if err := Retire(file, 2); err != nil {
		t.Fatal(err)
	}
	if ring, err = Load(file); err != nil || slices.Contains(ring.Versions(), 2) || !slices.Equal(ring.Retired(), []uint32{2}) {
		t.Fatal(ring, err)
	}
	id, err := l.Compose(7, 2, orderid.Seq(1))
	if err != nil {
		t.Fatal(err)
	}
	var unknown *UnknownVersionError
	if _, err := ring.Decode(l, id); !errors.As(err, &unknown) || unknown.Version != 2 || !strings.Contains(err.Error(), "version 2 is retired") {
		t.Error(err)
	}
	if _, err := Rotate(file, Rotation{Cipher: "ff1", Version: 2}); err == nil {
		t.Error("a retired version is reused unasked")
	}
	if _, err := Rotate(file, Rotation{Cipher: "ff1", Version: 1, Reuse: true}); err == nil {
		t.Error("a version with a key gets another")
	}
	if _, err := Rotate(file, Rotation{Cipher: "ff1", Version: 2, Reuse: true}); err != nil {
		t.Error(err)
	}
	if _, err := Rotate(file, Rotation{Cipher: "rot13"}); err == nil {
		t.Error("rot13 is a cipher")
	}
	stat, err := os.Stat(file)
	if err != nil || stat.Mode().Perm() != 0o600 || CheckMode(file) != nil {
		t.Errorf("mode %v, %v", stat.Mode(), err)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "# The keys that hide") {
		t.Errorf("the comment is gone: %v", err)
	}
}
