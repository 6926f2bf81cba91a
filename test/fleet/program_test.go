package fleet

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something that must happen.
const patience = 90 * time.Second

// program is a place for a process: one after the other, with one log.
type program struct {
	name    string
	command []string
	log     string

	process *os.Process
	ended   chan struct{} // closed once it has; failed is then what of
	failed  error
}

// newProgram starts nothing. Its process ends with the test.
func newProgram(t *testing.T, dir, name string, command ...string) *program {
	t.Helper()
	p := &program{name: name, command: command, log: filepath.Join(dir, name+".log")}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s ends:\n%s", p.log, tail(p.log))
		}
	})
	return p
}

func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

func (p *program) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(p.command[0], p.command[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan struct{})
	go func() { // the kernel ties the child's death to the thread that forked it
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if started <- err; err == nil {
			p.failed = cmd.Wait()
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	p.process, p.ended = cmd.Process, ended
}

// exit waits for the end that somebody asked for, and tells how it ended.
func (p *program) exit(t *testing.T) error {
	t.Helper()
	select {
	case <-p.ended:
		return p.failed
	case <-time.After(patience):
		t.Fatalf("%s does not end", p.name)
		return nil
	}
}

// terminate is what a service manager does.
func (p *program) terminate(t *testing.T) {
	t.Helper()
	if err := p.process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatalf("%s: %v", p.name, err)
	}
}

func (p *program) kill() {
	if p.process != nil {
		_ = p.process.Kill()
		<-p.ended
	}
}

// eventually looks until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); !holds(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}
