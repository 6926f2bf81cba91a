package servers

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"locus/internal/test/process"
)

// RedisCluster is a Redis Cluster of three masters, Nodes[0] to Nodes[2], and one replica of each, Nodes[3] to
// Nodes[5]. The order changes after a failover.
type RedisCluster struct{ Nodes []*Process }

const (
	clusterMasters = 3
	clusterSlots   = 16384
)

// NodeTimeout is the time after which nodes consider another node down.
const NodeTimeout = time.Second

// StartRedisCluster starts a cluster whose nodes are killed when the test ends.
func StartRedisCluster(t testing.TB) *RedisCluster {
	t.Helper()
	c := &RedisCluster{}
	for range 2 * clusterMasters {
		c.Nodes = append(c.Nodes, startProcess(t, "redis-server", func(dir, host, port string) []string {
			dir = filepath.Join(dir, port)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			return []string{
				"--bind", host, "--port", port, "--dir", dir, "--save", "", "--daemonize", "no", "--repl-diskless-sync-delay", "0",
				"--cluster-enabled", "yes", "--cluster-port", Port(t), "--cluster-node-timeout", strconv.FormatInt(NodeTimeout.Milliseconds(), 10),
				"--cluster-replica-validity-factor", "0",
			}
		}))
	}
	for i := range clusterMasters {
		first, last := i*clusterSlots/clusterMasters, (i+1)*clusterSlots/clusterMasters-1
		c.do(t, i, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(last))
	}
	for i := range c.Nodes {
		c.do(t, i, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
	}
	for i := range c.Nodes[1:] {
		host, port, _ := net.SplitHostPort(c.Nodes[i+1].Addr)
		c.do(t, 0, "CLUSTER", "MEET", host, port, c.bus(i+1))
	}
	for i := range clusterMasters {
		id := c.id(t, i)
		Eventually(t, "a replica follows its master", func() error {
			_, err := c.Nodes[i+clusterMasters].Do("CLUSTER", "REPLICATE", id)
			return err
		})
	}
	for i := range c.Nodes {
		c.Wait(t, i)
	}
	return c
}

// bus returns the port for connections between nodes.
func (c *RedisCluster) bus(i int) string {
	for n, word := range c.Nodes[i].command {
		if word == "--cluster-port" {
			return c.Nodes[i].command[n+1]
		}
	}
	return ""
}

// Seeds returns the addresses of all nodes.
func (c *RedisCluster) Seeds() []string {
	var all []string
	for _, n := range c.Nodes {
		all = append(all, n.Addr)
	}
	return all
}

// Wait waits until a node reports that the cluster is healthy and, if it is a replica, is connected to its
// master.
func (c *RedisCluster) Wait(t testing.TB, i int) {
	t.Helper()
	Eventually(t, "the cluster is well", func() error {
		said, err := c.Nodes[i].Ask("CLUSTER INFO\r\n")
		if err == nil && (!strings.Contains(said, "cluster_state:ok") || !strings.Contains(said, "cluster_known_nodes:6")) {
			err = fmt.Errorf("it says %s", said)
		}
		if err == nil {
			err = c.Nodes[i].linked()
		}
		return err
	})
}

// Master reports whether a node considers itself a master.
func (p *Process) Master() bool {
	said, err := p.Ask("INFO replication\r\n")
	return err == nil && strings.Contains(said, "role:master")
}

// linked returns an error while a replica is not connected to its master.
func (p *Process) linked() error {
	said, err := p.Ask("INFO replication\r\n")
	if err == nil && strings.Contains(said, "role:slave") && !strings.Contains(said, "master_link_status:up") {
		err = fmt.Errorf("its master is not linked: %s", said)
	}
	return err
}

func (c *RedisCluster) id(t testing.TB, i int) string {
	t.Helper()
	said, err := c.Nodes[i].Ask("CLUSTER MYID\r\n")
	words := strings.Fields(said)
	if err != nil || len(words) < 2 {
		t.Fatalf("%q, %v", said, err)
	}
	return words[1]
}

func (c *RedisCluster) do(t testing.TB, i int, words ...string) {
	t.Helper()
	if _, err := c.Nodes[i].Do(words...); err != nil {
		t.Fatalf("%s: %v", strings.Join(words, " "), err)
	}
}

// MoveSlot moves the slot of a key to another master, together with the given keys in that slot, as operators
// do after adding a node. It calls between at each step.
func (c *RedisCluster) MoveSlot(t testing.TB, of string, between func(step string), keys ...string) {
	t.Helper()
	said, err := c.Nodes[0].Do("CLUSTER", "KEYSLOT", of)
	if err != nil {
		t.Fatal(err)
	}
	slot := strings.TrimPrefix(said, ":")
	from, to := -1, -1
	for i, n := range c.Nodes {
		switch _, err := n.Do("EXISTS", of); {
		case !n.Master():
		case err == nil:
			from = i
		default: // MOVED
			to = i
		}
	}
	if from < 0 || to < 0 {
		t.Fatalf("slot %s is at %d and could go to %d", slot, from, to)
	}
	c.do(t, to, "CLUSTER", "SETSLOT", slot, "IMPORTING", c.id(t, from))
	c.do(t, from, "CLUSTER", "SETSLOT", slot, "MIGRATING", c.id(t, to))
	between("a slot is about to move")
	host, port, _ := net.SplitHostPort(c.Nodes[to].Addr)
	for _, key := range keys {
		c.do(t, from, "MIGRATE", host, port, key, "0", "1000")
	}
	between("keys have moved")
	for _, i := range []int{to, from} {
		c.do(t, i, "CLUSTER", "SETSLOT", slot, "NODE", c.id(t, to))
	}
	between("a slot has moved")
}

// Watched is a Redis master with a replica, and three sentinels that perform failovers. Master is the
// sentinels' name for it.
type Watched struct {
	Servers   [2]*Process
	Sentinels []*Process
	Master    string
}

// StartWatched starts these servers. They are killed when the test ends.
func StartWatched(t testing.TB) *Watched {
	t.Helper()
	w := &Watched{Servers: [2]*Process{Redis(t), Redis(t)}, Master: "shop"}
	host, port, _ := net.SplitHostPort(w.Servers[0].Addr)
	if _, err := w.Servers[1].Do("REPLICAOF", host, port); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "the replica follows", w.Servers[1].linked)
	for range 3 {
		w.Sentinels = append(w.Sentinels, startProcess(t, "redis-server", func(dir, own, at string) []string {
			file := filepath.Join(dir, at+".conf") // the sentinel rewrites this file
			text := fmt.Sprintf("bind %s\nport %s\ndir %s\nsentinel monitor %[4]s %[5]s %[6]s 2\nsentinel down-after-milliseconds %[4]s %[7]d\n"+
				"sentinel failover-timeout %[4]s 1500\n", own, at, dir, w.Master, host, port, NodeTimeout.Milliseconds())
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{file, "--sentinel", "--daemonize", "no"}
		}))
	}
	for _, s := range w.Sentinels {
		Eventually(t, "sentinels know each other and the replica", func() error {
			said, err := s.Ask("INFO sentinel\r\n")
			if err == nil && !strings.Contains(said, "slaves=1,sentinels=3") {
				err = fmt.Errorf("it says %s", said)
			}
			return err
		})
	}
	return w
}

// Seeds returns the addresses of the sentinels.
func (w *Watched) Seeds() []string {
	var all []string
	for _, s := range w.Sentinels {
		all = append(all, s.Addr)
	}
	return all
}

// Eventually calls look until it returns no error.
func Eventually(t testing.TB, what string, look func() error) {
	t.Helper()
	deadline := time.After(process.Patience)
	for {
		began := time.Now()
		err := look()
		if err == nil {
			return
		}
		select {
		case <-time.After(process.Rest(time.Since(began))):
		case <-deadline:
			t.Fatalf("%s: not within %v: %v", what, process.Patience, err)
		}
	}
}

// Linked waits until a replica is connected to its master.
func (w *Watched) Linked(t testing.TB, i int) {
	t.Helper()
	Eventually(t, "the replica follows", w.Servers[i].linked)
}
