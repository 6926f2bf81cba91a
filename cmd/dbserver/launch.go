package dbserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

var errPortTaken = errors.New("its port is taken by another program")

// launch runs the server with these options and waits until root can log in through the socket. If that fails,
// no process is left.
func (i *Installation) launch(ctx context.Context, d *directory, args []string) (*process, error) {
	// A killed server leaves its socket behind, and MySQL a lock file. If another program now has the process
	// ID in the lock file, the server would refuse to start.
	for _, stale := range []string{d.socket, d.socket + ".lock"} {
		if err := os.Remove(stale); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("remove a stale socket: %w", err)
		}
	}
	log, err := openLog(d.file("server.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := i.command(args...)
	cmd.Dir = d.path
	cmd.Stdout, cmd.Stderr = log.File, log.File
	cmd.ExtraFiles = []*os.File{d.lock}
	p, err := spawn(cmd)
	if err != nil {
		return nil, err
	}
	if err := p.waitForLogin(ctx, d.socket); err != nil {
		killErr := p.kill()
		return nil, errors.Join(log.explain(err), killErr)
	}
	return p, nil
}

// waitForLogin polls until root can log in, the server has ended, or ctx is done.
func (p *process) waitForLogin(ctx context.Context, socket string) error {
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		conn, err := connectRoot(ctx, socket)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-p.exited:
			return fmt.Errorf("the server ended before it answered: %w", p.ending())
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w: last login: %w", context.Cause(ctx), err)
		case <-retry.C:
		}
	}
}

// runLog is the part of the server's log file that one run has written.
type runLog struct {
	*os.File
	start int64
}

func openLog(path string) (*runLog, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	start, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("log: %w", err), file.Close())
	}
	return &runLog{File: file, start: start}, nil
}

// Bounds of the part of a log that an error quotes.
const (
	loggedBytes = 16 << 10
	loggedLines = 12
)

// tail returns the last lines of this run.
func (l *runLog) tail() string {
	from := l.start
	if end, err := l.Seek(0, io.SeekEnd); err == nil {
		from = max(from, end-loggedBytes)
	}
	said, err := io.ReadAll(io.NewSectionReader(l.File, from, loggedBytes))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	return strings.Join(lines[max(0, len(lines)-loggedLines):], "\n")
}

// explain adds the end of the log to an error, and its probable cause.
func (l *runLog) explain(err error) error {
	said := l.tail()
	switch {
	case strings.Contains(said, "Address already in use"):
		err = fmt.Errorf("%w: %w", errPortTaken, err)
	case strings.Contains(said, "Permission denied"), strings.Contains(said, "errno: 13"):
		err = fmt.Errorf("%w (where the directory is this user's own, an AppArmor profile of the server may forbid it)", err)
	}
	return fmt.Errorf("%w; %s ends:\n%s", err, l.Name(), said)
}
