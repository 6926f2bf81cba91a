package dbserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lockPatience bounds the time for which Start waits for a directory that another server has locked. A server
// whose parent has just been killed needs a moment to exit.
const lockPatience = 10 * time.Second

// longestSocket is the greatest length of a Unix socket's path on Linux: 108 bytes including the terminating
// zero.
const longestSocket = 107

// directory is a server's own directory, locked.
type directory struct {
	path   string
	socket string
	lock   *os.File // inherited by the server, so that the lock lasts until both processes have ended
}

func (d *directory) file(name string) string { return filepath.Join(d.path, name) }

// openDirectory creates the directory if it is missing, and locks it.
func openDirectory(ctx context.Context, path string) (*directory, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("server directory: %w", err)
	}
	d := &directory{path: path}
	for _, dir := range []string{path, d.file("tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("server directory: %w", err)
		}
	}
	// Every user who can open the socket is root in the server.
	if err := os.Chmod(path, 0o700); err != nil {
		return nil, fmt.Errorf("server directory: %w", err)
	}
	d.lock, err = lockFile(ctx, d.file("lock"), lockPatience)
	if errors.Is(err, errLocked) {
		return nil, fmt.Errorf("server directory is in use by another server%s, stop that first: %w", d.holder(), err)
	}
	if err != nil {
		return nil, fmt.Errorf("server directory: %w", err)
	}
	if d.socket, err = socketIn(path); err != nil {
		return nil, errors.Join(err, d.lock.Close())
	}
	return d, nil
}

// holder describes the process that uses the directory, according to its pid file.
func (d *directory) holder() string {
	pid, err := os.ReadFile(d.file("server.pid"))
	if err != nil {
		return ""
	}
	return " (process " + strings.TrimSpace(string(pid)) + ")"
}

// close releases the directory. A server that inherited the lock keeps it.
func (d *directory) close() error {
	var err error
	if filepath.Dir(d.socket) != d.path {
		err = os.RemoveAll(filepath.Dir(d.socket))
	}
	return errors.Join(err, d.lock.Close())
}

// socketIn returns the path of a server's socket: in its directory, or, if that path would be too long, in a
// private directory below /tmp.
func socketIn(dir string) (string, error) {
	if socket := filepath.Join(dir, "server.sock"); len(socket) <= longestSocket {
		return socket, nil
	}
	short, err := os.MkdirTemp("/tmp", "locus-")
	if err != nil {
		return "", fmt.Errorf("directory for a socket: %w", err)
	}
	return filepath.Join(short, "server.sock"), nil
}

var errLocked = errors.New("locked by another process")

// lockFile opens a file and locks it exclusively. The lock belongs to the open file, so it ends when the last
// process that inherited the file has ended. The error is errLocked if another process still holds the lock
// after patience.
func lockFile(ctx context.Context, path string, patience time.Duration) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("lock %s: %w: %w", path, errLocked, context.Cause(ctx)), file.Close())
		case <-retry.C:
		}
	}
}
