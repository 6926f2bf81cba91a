// Package process runs a test's own binary as processes of a cluster, which can be
// told things, killed and stopped. It owns their lives, not what they do: the
// binary's TestMain looks for the variable, and does what it holds.
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

// Patience bounds every wait for something that must happen.
const Patience = 90 * time.Second

// Process is a place for a process: one after the other. It is one goroutine's, but
// for Addr.
type Process struct {
	Name string
	// Variable is set to what the process is told at its start, as JSON.
	Variable string
	Log      *os.File // takes what it says of errors

	addr  atomic.Pointer[string]
	cmd   *exec.Cmd
	input io.WriteCloser
	lines chan string
	ended chan struct{}
}

// Start runs a process, and waits until it says "serving" and its address.
func (p *Process) Start(t *testing.T, told any) {
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

// Await waits for a line that begins so, and gives the rest of it.
func (p *Process) Await(t *testing.T, prefix string) string {
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

// Said gives the next line that the process has said by now.
func (p *Process) Said() (line string, ok bool) {
	select {
	case line, ok = <-p.lines:
		return line, ok
	default:
		return "", false
	}
}

// Addr is where the process serves: nowhere before it has started, and after it was
// killed. Any goroutine may ask.
func (p *Process) Addr() string {
	if addr := p.addr.Load(); addr != nil {
		return *addr
	}
	return ""
}

// Kill is kill -9. A process that never began doesn't mind.
func (p *Process) Kill() {
	if p.cmd == nil {
		return
	}
	p.addr.Store(nil)
	_ = p.cmd.Process.Kill()
	for range p.lines { // what it still said
	}
	<-p.ended
}

// Signal sends the process a signal.
func (p *Process) Signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
}

// Tell writes a line to the process; one that has died doesn't mind.
func (p *Process) Tell(line string) { _, _ = fmt.Fprintln(p.input, line) }
