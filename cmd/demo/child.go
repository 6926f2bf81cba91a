package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// child is a process of this program that the kernel kills when the demo dies.
type child struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed once it is reaped
	err  error         // how it ended; set before done is closed
}

// startChild starts the program and adds what it says to the log. The kernel
// ties the child's death to the thread that forked it, so that thread is kept
// until the child is gone.
func startChild(log, binary string, args ...string) (*child, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	c := &child{cmd: exec.Command(binary, args...), log: log, done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = out, out
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			c.err = c.cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// ended says how the process ended, which it must have, with its last words.
func (c *child) ended() error {
	how := "exit status 0"
	if c.err != nil {
		how = c.err.Error()
	}
	return fmt.Errorf("it ended: %s; its last words in %s:\n%s", how, c.log, lastLines(c.log, 5))
}

// stop asks the process to end, and kills it when ctx is done first.
func (c *child) stop(ctx context.Context) error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
	}
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-c.done
	return fmt.Errorf("process %d didn't end when asked and was killed", c.pid())
}

func lastLines(path string, n int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
