// Package process runs a test's own binary as processes of a cluster that the test can command, kill and
// suspend. It owns the life of the processes. Their work is up to the binary: its TestMain checks the
// environment variable and acts on its content.
package process

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Patience bounds every wait for an expected event.
const Patience = 90 * time.Second

// Process is a slot for processes that run one after the other. Except for Addr, one goroutine uses it.
type Process struct {
	Name string
	// Variable is the environment variable with the parameters of a start, as JSON.
	Variable string
	Log      *os.File // receives its standard error

	addr  atomic.Pointer[string]
	cmd   *exec.Cmd
	input io.WriteCloser
	lines chan string
	ended chan struct{}
}

// Start runs a process, and waits until it prints "serving" and its address.
func (p *Process) Start(t testing.TB, told any) {
	t.Helper()
	text, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), p.Variable+"="+string(text))
	cmd.Stderr = p.Log
	if p.input, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	lines, ended := make(chan string, 100), make(chan struct{})
	err = Spawn(cmd, func() {
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}, func(error) {
		close(lines)
		close(ended)
	})
	if err != nil {
		t.Fatal(err)
	}
	p.cmd, p.lines, p.ended = cmd, lines, ended
	addr := p.Await(t, "serving ")
	p.addr.Store(&addr)
}

// Await waits for an output line with this prefix, and returns the rest of the line.
func (p *Process) Await(t testing.TB, prefix string) string {
	t.Helper()
	timeout := time.After(Patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("%s ended before it said %q", p.Name, prefix)
			}
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return rest
			}
		case <-timeout:
			t.Fatalf("%s did not say %q in %v", p.Name, prefix, Patience)
		}
	}
}

// Said returns the next line of the output, if one is available.
func (p *Process) Said() (line string, ok bool) {
	select {
	case line, ok = <-p.lines:
		return line, ok
	default:
		return "", false
	}
}

// Addr returns the address at which the process serves; "" before its start and after a kill. It may be called
// concurrently.
func (p *Process) Addr() string {
	if addr := p.addr.Load(); addr != nil {
		return *addr
	}
	return ""
}

// Kill kills the process with SIGKILL. It does nothing if the process was never started.
func (p *Process) Kill() {
	if p.cmd == nil {
		return
	}
	p.addr.Store(nil)
	_ = p.cmd.Process.Kill()
	for range p.lines { // drain the rest of the output
	}
	<-p.ended
}

// Signal sends the process a signal.
func (p *Process) Signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
}

// Tell writes a line to the process. It ignores errors, because the process may have died.
func (p *Process) Tell(line string) { _, _ = fmt.Fprintln(p.input, line) }
