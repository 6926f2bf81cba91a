package cipher

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Load reads a key-ring file; see Parse. It doesn't check the file's mode; see CheckMode.
func Load(file string) (*Ring, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("load key ring: %w", err)
	}
	ring, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", file, err)
	}
	return ring, nil
}

// CheckMode returns an error if anybody but the file's owner can read it. It is meant as a warning. Secrets mounted by
// an orchestrator are often readable by a group, and the proxy can't change that.
func CheckMode(file string) error {
	stat, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("check mode of key ring: %w", err)
	}
	if open := stat.Mode().Perm() & 0o077; open != 0 {
		return fmt.Errorf("key ring %s has mode %04o, so others than its owner can use its keys: chmod 600 it", file, stat.Mode().Perm())
	}
	return nil
}

// Create writes a new key ring, readable only by its owner, and loads it. The ring has one random AES-256 key of cipher
// ff1 with version 1. If the file exists, Create returns an error and doesn't change it, because its keys may have
// hidden numbers.
func Create(file string) (*Ring, error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create key ring: %w: its keys decode existing order numbers, so it is not replaced", err)
	}
	if err != nil {
		return nil, fmt.Errorf("create key ring: %w", err)
	}
	text := generate()
	if err := writeDurably(f, text); err != nil {
		return nil, errors.Join(fmt.Errorf("create key ring: %w: no ring was created", err), os.Remove(file))
	}
	return Parse(text)
}

func generate() []byte {
	var key [32]byte
	rand.Read(key[:]) // never returns an error
	var text bytes.Buffer
	fmt.Fprintf(&text, `# The keys that hide the sequence of order numbers. Keep every version whose
# numbers are still in use; a reader of this file can count the orders.
current: 1
keys:
  - version: 1
    cipher: ff1
    key: %x
`, key)
	return text.Bytes()
}

func writeDurably(f *os.File, text []byte) error {
	_, err := io.Copy(f, bytes.NewReader(text))
	return errors.Join(err, f.Sync(), f.Close())
}
