package dbserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// process is a child and the goroutine that waits for it.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed once the child has been reaped
	err    error         // the result of waiting; set before exited is closed
}

// spawn starts a child that the kernel kills when this process dies.
//
// The kernel ties this to the thread that forked, not to the process. So the goroutine that starts the child
// keeps its thread until the child is gone.
func spawn(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the child at once and waits until it is gone. It is no error if the child has ended already.
func (p *process) kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.exited // SIGKILL ends a process at once, even a stopped one
	return nil
}

// signal sends a signal, unless the child has ended.
func (p *process) signal(signal syscall.Signal) error {
	err := p.cmd.Process.Signal(signal)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal process %d: %w", p.pid(), err)
	}
	return nil
}

// ending returns how the child ended. It must have ended.
func (p *process) ending() error {
	if p.err != nil {
		return p.err
	}
	return errors.New("exit status 0")
}
