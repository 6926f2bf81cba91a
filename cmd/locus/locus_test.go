//go:build servers

package main

import (
	"os"
	"path/filepath"
	"testing"
)

func writeText(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const keyRing = `current: 1
keys:
  - version: 1
    key: 000102030405060708090a0b0c0d0e0f
`

func TestOffline(t *testing.T) {
	keys := writeText(t, "keys.yaml", keyRing)
	transcript{words: map[string]string{
		"KEYS":    keys,
		"GOOD":    writeText(t, "good.yaml", "cluster: main\nsecrets: {dir: \"\"}\nkey_ring: "+keys+"\n"),
		"BAD":     writeText(t, "bad.yaml", "cluster: main\nsecrets: {dir: \"\"}\nkey_ring: /nowhere/keys.yaml\nhttp: {password_file: /nowhere/http}\n"),
		"WRONG":   writeText(t, "cluster.yaml", "shards: {s0: {address: a:1, user: u}}\nroutes: [0xff s0]\n"),
		"MISSING": filepath.Join(t.TempDir(), "cluster.yaml"),
		"NEW":     filepath.Join(t.TempDir(), "keys.yaml"),
	}}.play(t, "testdata/offline.txt")
}
