package demo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"locus/cmd/dbserver"
)

// directory is the data directory, locked.
type directory struct {
	path string
	lock *os.File
}

func openDirectory(path string) (*directory, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	d := &directory{path: path}
	for _, dir := range []string{path, d.file("secrets"), d.file("logs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("--data: %w", err)
		}
	}
	if d.lock, err = os.OpenFile(d.file("lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	if err := d.claim(); err != nil {
		return nil, errors.Join(err, d.lock.Close())
	}
	return d, nil
}

// claim locks the directory until this process ends in any way.
func (d *directory) claim() error {
	err := syscall.Flock(int(d.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		pid, _ := os.ReadFile(d.lock.Name())
		return fmt.Errorf("--data %s: another demo runs there (process %s): stop it, or choose another directory",
			d.path, strings.TrimSpace(string(pid)))
	}
	if err != nil {
		return fmt.Errorf("--data %s: lock: %w", d.path, err)
	}
	if err := d.lock.Truncate(0); err != nil {
		return err
	}
	_, err = fmt.Fprintln(d.lock, os.Getpid())
	return err
}

func (d *directory) close() error { return d.lock.Close() }

func (d *directory) file(parts ...string) string {
	return filepath.Join(append([]string{d.path}, parts...)...)
}

// engine returns the engine of the directory's servers. A new directory gets the requested one, or the first
// one that find accepts.
func (d *directory) engine(asked dbserver.Engine, find func(dbserver.Engine) error) (dbserver.Engine, error) {
	text, err := os.ReadFile(d.file("engine"))
	if err == nil {
		kept, err := dbserver.ParseEngine(strings.TrimSpace(string(text)))
		if err == nil && asked != "" && asked != kept {
			err = fmt.Errorf("--engine %s: the servers in %s are %s; choose another --data", asked, d.path, kept)
		}
		return kept, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	candidates := dbserver.Engines()
	if asked != "" {
		candidates = []dbserver.Engine{asked}
	}
	var missing []error
	for _, e := range candidates {
		if err := find(e); err != nil {
			missing = append(missing, err)
			continue
		}
		return e, writeFile(d.file("engine"), string(e)+"\n")
	}
	return "", errors.Join(missing...)
}

// writeFile replaces a file atomically. Only its owner can read it.
func writeFile(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // after success the file has been renamed
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	return os.Rename(f.Name(), path)
}
