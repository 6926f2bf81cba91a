package histories

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something that must happen.
const patience = 90 * time.Second

// process is a place for a process of the cluster: one after the other.
type process struct {
	name string
	log  *os.File
	addr atomic.Pointer[string] // nil while there is none

	cmd   *exec.Cmd
	input io.WriteCloser
	lines chan string
	ended chan struct{}
}

// start runs a process, and waits until it serves.
func (p *process) start(t *testing.T, c child) {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = p.log
	if p.input, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	started, lines, ended := make(chan error), make(chan string, 100), make(chan struct{})
	go func() { // the kernel ties the child's death to the thread that forked it
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		defer close(lines)
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			lines <- scanner.Text()
		}
		_ = cmd.Wait()
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	p.cmd, p.lines, p.ended = cmd, lines, ended
	addr := p.awaitServing(t)
	p.addr.Store(&addr)
}

func (p *process) awaitServing(t *testing.T) string {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("%s ended before it served", p.name)
			}
			if addr, ok := strings.CutPrefix(line, "serving "); ok {
				return addr
			}
		case <-timeout:
			t.Fatalf("%s does not serve after %v", p.name, patience)
		}
	}
}

// kill is kill -9.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if p.cmd == nil {
		return
	}
	p.addr.Store(nil)
	_ = p.cmd.Process.Kill()
	for range p.lines { // what it still said
	}
	<-p.ended
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
}

// tell writes a line to the process; one that has died doesn't mind.
func (p *process) tell(line string) { _, _ = fmt.Fprintln(p.input, line) }
