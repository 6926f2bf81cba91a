package ids

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/idgen/row"
	"locus/internal/test/link"
	"locus/internal/test/process"
	"locus/internal/test/servers"
)

// stage is the servers, the nodes and what the nodes said.
type stage struct {
	t *testing.T

	mysql         *servers.Server
	redis         [2]*servers.Process // master and replica, in this order
	other         *servers.Process    // a Redis that knows nothing of them
	etcd          *etcdProcess
	slots         []*slot
	extendsPast   bool
	count         *count
	nodesStarted  int
	kindsOfANode  []int
	readersOfNode sync.WaitGroup
}

// slot is the place of one node, with its own links: who takes the place of a
// killed one has the same.
type slot struct {
	etcd, mysql, redis, other *link.Link
	command                   *exec.Cmd
	counters                  *counters // that its node has taken from
}

func newStage(t *testing.T, nodes int, kinds []int) *stage {
	s := &stage{t: t, count: newCount(), kindsOfANode: kinds}
	s.mysql = servers.Start(t, servers.MariaDB, 1)[0]
	s.mysql.Exec(t, "CREATE DATABASE ids")
	db := s.mysql.DB(t, "ids")
	for _, name := range []string{"plain", "witnessed", "pooled"} {
		table, err := row.Open(db, name, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		var tags []string
		for g := range groups {
			tags = append(tags, fmt.Sprintf("g/%05d", g))
		}
		if err := table.Create(t.Context(), 1000, tags...); err != nil {
			t.Fatal(err)
		}
	}
	s.redis = [2]*servers.Process{servers.Redis(t), servers.Redis(t)}
	s.other = servers.Redis(t)
	s.replicate()
	s.etcd = startEtcd(t)
	for range nodes {
		s.slots = append(s.slots, &slot{
			etcd: link.New(t, s.etcd.addr), mysql: link.New(t, s.mysql.Addr()), redis: link.New(t, s.redis[0].Addr), other: link.New(t, s.other.Addr),
		})
	}
	t.Cleanup(s.end)
	return s
}

// replicate makes the second Redis a replica of the first.
func (s *stage) replicate() {
	host, port, err := net.SplitHostPort(s.redis[0].Addr)
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = s.redis[1].Do("REPLICAOF", host, port)
}

func (s *stage) start(sl *slot) {
	s.nodesStarted++
	config := s.mysql.Config("ids")
	config.Addr = sl.mysql.Addr()
	text, err := json.Marshal(node{
		Name: fmt.Sprint("node ", s.nodesStarted), Kinds: s.kindsOfANode, ExtendsPastGrants: s.extendsPast,
		Etcd: sl.etcd.Addr(), Redis: sl.redis.Addr(), Other: sl.other.Addr(), DSN: config.FormatDSN(),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	command := childOf(nodeVariable, string(text))
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.readersOfNode.Add(1)
	of := newCounters()
	if err := process.Spawn(command, func() { s.count.read(output, of) }, func(error) { s.readersOfNode.Done() }); err != nil {
		s.readersOfNode.Done()
		s.t.Fatal(err)
	}
	sl.command, sl.counters = command, of
}

func childOf(variable, text string) *exec.Cmd {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), variable+"="+text)
	return command
}

func (sl *slot) signal(signal os.Signal) { _ = sl.command.Process.Signal(signal) }

// end kills all nodes and waits until everything that they said is counted.
func (s *stage) end() {
	for _, sl := range s.slots {
		if sl.command != nil {
			sl.signal(syscall.SIGKILL)
		}
	}
	s.readersOfNode.Wait()
}

func (c *count) read(output io.Reader, of *counters) {
	reader := bufio.NewReaderSize(output, 1<<16)
	var b [16]byte
	for {
		if _, err := io.ReadFull(reader, b[:]); err != nil {
			return
		}
		r := readRecord(b[:])
		of.add(r)
		c.add(r)
	}
}

// etcdProcess is an etcd that can be killed and comes back with its data.
type etcdProcess struct {
	t       *testing.T
	addr    string
	dir     string
	command *exec.Cmd
	ended   chan struct{} // closed when it is gone
}

type etcdChild struct {
	Dir  string
	Port int
}

func runEtcd(text string) error {
	var c etcdChild
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	server, err := embedded.Start(ctx, embedded.Config{Dir: c.Dir, Port: c.Port})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return server.Close()
}

func startEtcd(t *testing.T) *etcdProcess {
	e := &etcdProcess{t: t, addr: net.JoinHostPort("127.0.0.1", servers.Port(t)), dir: filepath.Join(t.TempDir(), "etcd")}
	e.start()
	t.Cleanup(e.kill)
	return e
}

func (e *etcdProcess) start() {
	_, port, _ := net.SplitHostPort(e.addr)
	n, _ := strconv.Atoi(port)
	text, _ := json.Marshal(etcdChild{e.dir, n})
	e.command = childOf(etcdVariable, string(text))
	e.command.Stderr = os.Stderr
	ended := make(chan struct{})
	if err := process.Spawn(e.command, func() {}, func(error) { close(ended) }); err != nil {
		e.t.Fatal(err)
	}
	e.ended = ended
	client, err := etcd.Open(etcd.Config{Endpoints: []string{e.addr}, RequestTimeout: time.Second, DialTimeout: time.Second})
	if err != nil {
		e.t.Fatal(err)
	}
	defer client.Close()
	until(e.t, "etcd answers", func() bool {
		_, _, err := client.Under("/").Get(e.t.Context(), "x")
		return err == nil
	})
}

func (e *etcdProcess) kill() {
	_ = e.command.Process.Kill()
	<-e.ended
}

func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // between two looks at another process
	}
}

func (e *etcdProcess) stop() { _ = e.command.Process.Signal(syscall.SIGSTOP) }
func (e *etcdProcess) goOn() { _ = e.command.Process.Signal(syscall.SIGCONT) }
