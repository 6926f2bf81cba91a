package demo

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"locus/config"
	"locus/idgen/cipher"
	"locus/router"
)

// The names of secrets.
const (
	userSecret   = "users/app"
	dbaSecret    = "users/dba"
	httpSecret   = "http"
	viewerSecret = "http-viewer"
)

func shardSecret(name router.ShardName) string { return "shards/" + string(name) }

// adminSecret is of the account by which a shard's servers change roles.
func adminSecret(name router.ShardName) string { return "shards/" + string(name) + "-admin" }

func (d *directory) secrets() config.Secrets { return config.Secrets{Dir: d.file("secrets")} }

// secret is the one of that name; if there is none yet, it is made of what
// create gives and kept.
func (d *directory) secret(name string, create func() string) (string, error) {
	path := d.file("secrets", filepath.FromSlash(name))
	secret, err := config.ReadSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	secret = create()
	if err := writeFile(path, secret+"\n"); err != nil {
		return "", fmt.Errorf("keep secret %s: %w", name, err)
	}
	return secret, nil
}

// random is a password that nobody guesses.
func random() string { return rand.Text() }

// keyRing is the file of the keys of order numbers, which the first start makes.
func (d *directory) keyRing() (string, error) {
	path := d.file("keys.yaml")
	_, err := cipher.Create(path)
	if errors.Is(err, fs.ErrExist) {
		_, err = cipher.Load(path)
	}
	return path, err
}
