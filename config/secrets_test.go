package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locus/config"
)

func TestSecretComesFromFileThenEnvironment(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "shards", "s0"), "from file\n")
	t.Setenv("LOCUS_SECRET_SHARDS_S0", "hidden by the file")
	t.Setenv("LOCUS_SECRET_SHARDS_S1", "from environment")
	secrets := config.Secrets{Dir: dir}
	for name, want := range map[string]string{"shards/s0": "from file", "shards/s1": "from environment"} {
		if got, err := secrets.Lookup(name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	write(t, filepath.Join(dir, "shards", "s0"), "rotated")
	if got, err := secrets.Lookup("shards/s0"); err != nil || got != "rotated" {
		t.Errorf("a changed file: %q, %v", got, err)
	}
	got, err := config.Secrets{}.Lookup("shards/s1")
	if err != nil || got != "from environment" {
		t.Errorf("without a directory: %q, %v", got, err)
	}
}

func TestSecretKeepsItsInnerSpace(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x"), " two words \n\r\n")
	if got, err := (config.Secrets{Dir: dir}).Lookup("x"); err != nil || got != " two words \n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSecretRefusals(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "empty"), "\n")
	t.Setenv("LOCUS_SECRET_EMPTY", "not reached: the file is there")
	secrets := config.Secrets{Dir: dir}
	for name, want := range map[string]string{
		"absent":        "looked for file " + filepath.Join(dir, "absent") + " and the environment's LOCUS_SECRET_ABSENT",
		"empty":         "is empty",
		"../etc/passwd": "a name is",
		"a/../b":        "a name is",
		"/etc/passwd":   "a name is",
		"":              "a name is",
	} {
		if got, err := secrets.Lookup(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
