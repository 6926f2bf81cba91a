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

// adminSecret returns the name of the password of a shard's admin account.
func adminSecret(name router.ShardName) string { return "shards/" + string(name) + "-admin" }

func (d *directory) secrets() config.Secrets { return config.Secrets{Dir: d.file("secrets")} }

// secret returns the secret of a name. If there is none yet, it stores the result of create.
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

// random returns a random password.
func random() string { return rand.Text() }

// keyRing returns the path of the key ring of order numbers. The first start creates the file.
func (d *directory) keyRing() (string, error) {
	path := d.file("keys.yaml")
	_, err := cipher.Create(path)
	if errors.Is(err, fs.ErrExist) {
		_, err = cipher.Load(path)
	}
	return path, err
}
