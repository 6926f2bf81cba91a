package ids

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"locus/idgen/row"
	"locus/internal/test/link"
	"locus/internal/test/process"
	"locus/internal/test/servers"
	"locus/test/cluster"
)

// stage contains the servers, the nodes and their reports.
type stage struct {
	t *testing.T

	mysql         *servers.Server
	redis         [2]*servers.Process // master and replica, in this order
	other         *servers.Process    // a Redis without any of their data
	etcd          *cluster.Etcd
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
	counters                  *counters // counters from which its node has taken numbers
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
	s.etcd = cluster.StartEtcd(t, os.Stderr)
	for range nodes {
		s.slots = append(s.slots, &slot{
			etcd: link.New(t, s.etcd.Addr()), mysql: link.New(t, s.mysql.Addr()), redis: link.New(t, s.redis[0].Addr), other: link.New(t, s.other.Addr),
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

// end kills all nodes and waits until all of their reports are counted.
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

func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // between two checks of another process
	}
}
