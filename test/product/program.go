// Package product builds the binary and runs it, and the programs that it needs, for tests that use it only as
// its users do. It owns these processes, but not their arguments.
package product

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"locus/internal/test/process"
)

// Program is a place for a process: one after the other, with one log.
type Program struct {
	Name    string
	Command []string
	Log     string // the path

	process *os.Process
	ended   chan struct{} // closed when the process has ended; failed is then set
	failed  error
}

// NewProgram starts nothing. Its log is in a directory, and its process ends with the
// test.
func NewProgram(t *testing.T, dir, name string, command ...string) *Program {
	t.Helper()
	p := &Program{Name: name, Command: command, Log: filepath.Join(dir, name+".log")}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("%s ends:\n%s", p.Log, tail(p.Log))
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

// Start does not wait for more than that it runs.
func (p *Program) Start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd, ended := exec.Command(p.Command[0], p.Command[1:]...), make(chan struct{})
	cmd.Stdout, cmd.Stderr = log, log
	err = process.Spawn(cmd, func() {}, func(err error) {
		p.failed = err
		close(ended)
	})
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	p.process, p.ended = cmd.Process, ended
}

// PID returns the ID of the process that was started last.
func (p *Program) PID() int { return p.process.Pid }

// Ended reports whether the process has ended, and with which error.
func (p *Program) Ended() (ended bool, failed error) {
	select {
	case <-p.ended:
		return true, p.failed
	default:
		return false, nil
	}
}

// Exit waits until the process ends after a request to stop, and returns its error.
func (p *Program) Exit(t *testing.T) error {
	t.Helper()
	select {
	case <-p.ended:
		return p.failed
	case <-time.After(process.Patience):
		t.Fatalf("%s does not end", p.Name)
		return nil
	}
}

// Signal sends a signal, as a service manager or a terminal does. It has no effect on a process that has ended.
func (p *Program) Signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatalf("%s: %v", p.Name, err)
	}
}

// Kill sends SIGKILL. It has no effect on a program that was never started.
func (p *Program) Kill() {
	if p.process != nil {
		_ = p.process.Kill()
		<-p.ended
	}
}
