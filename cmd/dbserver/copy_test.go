//go:build servers

package dbserver

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestACopyIsTheSameButForAutoCnf(t *testing.T) {
	page := bytes.Repeat([]byte{7}, blockSize)
	hole := make([]byte, blockSize)
	files := map[string][]byte{
		"empty":        nil,
		"short":        []byte("short"),
		"zero":         hole,
		"ends in zero": append(append([]byte{}, page...), hole...),
		"a hole":       bytes.Join([][]byte{page, hole, page, []byte("rest")}, nil),
		"sub/in":       page[:100],
	}
	template, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(filepath.Join(template, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(template, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(template, "auto.cnf"), []byte("server-uuid"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyData(data, template); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		got, err := os.ReadFile(filepath.Join(data, name))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes, %v; want %d equal ones", name, len(got), err, len(content))
		}
	}
	if _, err := os.Stat(filepath.Join(data, "auto.cnf")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the server's UUID was copied: %v", err)
	}
}
