package transfers

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

// patience bounds every wait for something that must happen.
const patience = 90 * time.Second

// proxyProcess is a place for a proxy: one process after the other.
type proxyProcess struct {
	bank *bank
	addr atomic.Pointer[string] // nil while there is none

	cmd   *exec.Cmd
	input io.WriteCloser
	lines chan string
	ended chan struct{}
}

// start runs a process that stops at a point, and waits until it serves.
func (p *proxyProcess) start(t *testing.T, point string, hits int64) {
	t.Helper()
	text, err := json.Marshal(child{Documents: p.bank.documents, Password: p.bank.servers[0].Password, Dir: t.TempDir(), Stop: point, Hits: hits})
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.Stderr = p.bank.log
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, ended := make(chan string, 10), make(chan struct{})
	p.lines, p.ended = lines, ended
	cmd := p.cmd
	go func() {
		defer close(ended)
		defer close(lines)
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			lines <- scanner.Text()
		}
		_ = cmd.Wait()
	}()
	addr := strings.TrimPrefix(p.await(t, "serving "), "serving ")
	p.addr.Store(&addr)
}

// await waits for a line of the process.
func (p *proxyProcess) await(t *testing.T, prefix string) string {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("a proxy ended before it said %q", prefix)
			}
			if strings.HasPrefix(line, prefix) {
				return line
			}
		case <-timeout:
			t.Fatalf("a proxy did not say %q in %v", prefix, patience)
		}
	}
}

// kill is kill -9.
func (p *proxyProcess) kill(t *testing.T) {
	t.Helper()
	p.addr.Store(nil)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	for range p.lines { // what it still said
	}
	<-p.ended
}

// goOn lets the commit that stopped go on.
func (p *proxyProcess) goOn(t *testing.T) {
	t.Helper()
	if _, err := fmt.Fprintln(p.input); err != nil {
		t.Error(err)
	}
}
