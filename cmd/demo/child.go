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

// child is another process of this program, which the kernel kills when the demo dies.
type child struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed once it has been reaped
	err  error         // the result of waiting; set before done is closed
}

// startChild starts the program and appends its output to the log. The kernel ties the child's death to the
// thread that forked it, so the goroutine keeps that thread until the child is gone.
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

// ended returns how the process ended, with the end of its log. It must have ended.
func (c *child) ended() error {
	how := "exit status 0"
	if c.err != nil {
		how = c.err.Error()
	}
	return fmt.Errorf("it ended: %s; its log %s ends with:\n%s", how, c.log, lastLines(c.log, 5))
}

// stop sends SIGTERM to the process, and kills it if ctx ends first.
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
	return fmt.Errorf("process %d didn't end after SIGTERM and was killed", c.pid())
}

func lastLines(path string, n int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
