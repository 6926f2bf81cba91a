package cluster

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locus/internal/test/process"
)

// Proxy is a place for a proxy's process, which also runs moves: one process after the other. It is one goroutine's, but for Addr, which
// any goroutine may call, and which is empty while no process runs.
type Proxy struct {
	*process.Process

	Wiring   string        // the change of the wiring that the next process gets, see Main
	Patience time.Duration // how long the next process's mover retries failing actions; 0: the default
	Hold     time.Duration // the longest time that the next process holds a statement, and waits for a transaction; 0: the defaults

	t *testing.T
	c *Cluster
}

// Start starts a process and waits until it serves.
func (p *Proxy) Start() {
	p.t.Helper()
	p.Process.Start(p.t, role{Proxy: &proxyRole{
		Dir: filepath.Join(p.c.dir, "identity"), Etcd: p.c.Etcd.reached(), Cluster: p.c.name,
		Wiring: p.Wiring, Patience: p.Patience, Hold: p.Hold,
	}})
}

// Stop suspends the process: its connections stay open, and nothing answers.
func (p *Proxy) Stop() {
	p.t.Helper()
	p.Signal(p.t, syscall.SIGSTOP)
}

// Continue ends a Stop.
func (p *Proxy) Continue() {
	p.t.Helper()
	p.Signal(p.t, syscall.SIGCONT)
}

// StopAt arms stop points: the process stops when it next comes to each of them. "decided*5" stops when it comes to decided for the fifth
// time. Points that were armed before are disarmed.
func (p *Proxy) StopAt(points ...string) { p.Tell("stop " + strings.Join(points, " ")) }

// Release lets the process go on from the point where it has stopped.
func (p *Proxy) Release() { p.Tell("go") }

// AwaitPoint waits until the process has stopped at a point.
func (p *Proxy) AwaitPoint(point string) {
	p.t.Helper()
	p.Await(p.t, "at "+point)
}

// Stopped returns at which of the points the process has stopped, if it has stopped at one.
func (p *Proxy) Stopped(points ...string) (point string, ok bool) {
	line, _ := p.Said()
	point = strings.TrimPrefix(line, "at ")
	return point, slices.Contains(points, point)
}
