package cluster

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"locus/internal/test/link"
	"locus/internal/test/process"
)

// Etcd is an etcd of one node, a process that keeps its data and its port through restarts. It is one goroutine's.
type Etcd struct {
	Link *link.Link // how a cluster's processes reach it; nil: directly

	t       testing.TB
	process *process.Process
	dir     string
	addr    string
}

// StartEtcd starts an etcd that is killed when the test ends. The log takes what it prints.
func StartEtcd(t testing.TB, log *os.File) *Etcd {
	t.Helper()
	e := &Etcd{t: t, process: &process.Process{Variable: variable, Name: "etcd", Log: log}, dir: filepath.Join(t.TempDir(), "etcd")}
	t.Cleanup(e.Kill)
	e.Start()
	return e
}

// Start starts the process again after [Etcd.Kill].
func (e *Etcd) Start() {
	e.t.Helper()
	port := 0
	if _, text, err := net.SplitHostPort(e.addr); err == nil {
		port, _ = strconv.Atoi(text)
	}
	e.process.Start(e.t, role{Etcd: &etcdRole{Dir: e.dir, Port: port}})
	e.addr = strings.TrimPrefix(e.process.Addr(), "http://")
}

// Addr returns the address of the server itself, which stays the same.
func (e *Etcd) Addr() string { return e.addr }

// Kill kills the process, as kill -9 does.
func (e *Etcd) Kill() { e.process.Kill() }

// Stop suspends the process: its connections stay open, and nothing answers.
func (e *Etcd) Stop() { e.process.Signal(e.t, syscall.SIGSTOP) }

// Continue ends a Stop.
func (e *Etcd) Continue() { e.process.Signal(e.t, syscall.SIGCONT) }

// reached returns the address that the cluster's processes use.
func (e *Etcd) reached() string {
	if e.Link != nil {
		return e.Link.Addr()
	}
	return e.addr
}
