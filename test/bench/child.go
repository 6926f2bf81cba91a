package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// child is a process that this program started. It ends when this program does, however that comes about.
type child struct {
	cmd  *exec.Cmd
	log  string // path of its output
	done chan struct{}
}

// startChild starts cmd in its own process group, so that only stop ends it, not Ctrl-C. It must be called from
// the main thread.
func startChild(cmd *exec.Cmd, log string) (*child, error) {
	f, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cmd.Stdout, cmd.Stderr = f, f
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, log: log, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		_ = cmd.Wait()
	}()
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// stop asks the child to end, then kills its whole group, and returns when it has ended.
func (c *child) stop(patience time.Duration) {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(patience):
	}
	_ = syscall.Kill(-c.pid(), syscall.SIGKILL)
	<-c.done
}

// died describes a child that ended by itself, with the last lines that it wrote.
func (c *child) died() error {
	b, _ := os.ReadFile(c.log)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return fmt.Errorf("ended with %s:\n%s", c.cmd.ProcessState, strings.Join(lines[max(0, len(lines)-10):], "\n"))
}

// until calls tried until it succeeds, the child or ctx ends, or patience has passed. Then it returns tried's
// last error.
func (c *child) until(ctx context.Context, patience time.Duration, tried func() error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for {
		err := tried()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.done:
			return c.died()
		case <-ctx.Done():
			return fmt.Errorf("interrupted: %w", err)
		case <-late:
			return fmt.Errorf("not ready within %s: %w", patience, err)
		}
	}
}
