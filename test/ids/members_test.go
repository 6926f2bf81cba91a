package ids

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/generators"
	"locus/idgen/ha"
	"locus/internal/test/link"
	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/router"
	"locus/router/cluster"
	harness "locus/test/cluster"
)

// members contains every kind of member that an ha generator can have, over each store. Steps are small, so
// that all of them query their servers all the time.
const members = `
  segment_etcd:    {kind: segment, max_step: 20, min_step: 1}
  segment_shard:   {kind: segment, max_step: 20, min_step: 1, store: {mysql: {shard: s0}}}
  segment_redis:   {kind: segment, max_step: 20, min_step: 1, server: "%[1]s"}
  segment_both:    {kind: segment, max_step: 20, min_step: 1, server: "%[1]s", store: {mysql: {shard: s0}}}
  redis_etcd:      {kind: redis, server: "%[1]s"}
  redis_shard:     {kind: redis, server: "%[1]s", keys: 2, store: {mysql: {shard: s0}}}
  buckets:         {kind: buckets, server: "%[1]s"}
  memcached_etcd:  {kind: memcached, server: "%[2]s"}
  memcached_shard: {kind: memcached, server: "%[2]s", store: {mysql: {shard: s0}}}
  row:             {kind: row, shards: [s0]}
  row_locked:      {kind: row, shards: [s0], lock: redis, server: "%[1]s"}
  auto_increment:  {kind: auto_increment, shards: [s0, s0], limits: %[3]s}
  ahead:           {kind: queue, of: [row], bits: 2}
  nested:          {kind: ha, of: [buckets, row_locked], limits: %[3]s}
  safe:            {kind: row, shards: [s1]}
`

// way is how a server fails, and how it recovers.
type way struct {
	name       string
	begin, end func(p *party)
}

// party is a server with the link to it.
type party struct {
	t       testing.TB
	link    *link.Link
	addr    string
	kill    func()
	restart func()
	stop    func()
	resume  func()
}

var ways = []way{
	{"frozen", func(p *party) { p.stop() }, func(p *party) { p.resume() }},
	{"killed", func(p *party) { p.kill() }, func(p *party) { p.restart() }},
	{"cut", func(p *party) { p.link.Lead("") }, func(p *party) { p.link.Lead(p.addr) }},
	{"lossy", func(p *party) { p.link.Swallow() }, func(p *party) { p.link.Deliver() }},
	{"slow", func(p *party) { p.link.Delay(slowness) }, func(p *party) { p.link.Delay(0) }},
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func partyOf(t testing.TB, p *servers.Process) *party {
	return &party{
		t: t, link: link.New(t, p.Addr), addr: p.Addr, kill: p.Kill, restart: func() { must(t, p.Restart()) }, stop: p.Stop, resume: p.Continue,
	}
}

// matrix contains all members, each in its own ha generator next to a healthy one, and the servers.
type matrix struct {
	t        testing.TB
	parties  map[string]*party
	declared *cluster.Cluster
	names    []string // of the ha generators
	set      *generators.Set

	mu      sync.Mutex // guards the fields below
	seen    map[string]map[uint64]bool
	longest map[string]time.Duration
}

func newMatrix(t testing.TB, limits string) *matrix {
	m := &matrix{t: t, parties: map[string]*party{}, seen: map[string]map[uint64]bool{}}
	shards := servers.Start(t, servers.MariaDB, 2)
	kv := harness.StartEtcd(t, os.Stderr)
	m.parties["etcd"] = &party{t: t, link: link.New(t, kv.Addr()), addr: kv.Addr(), kill: kv.Kill, restart: kv.Start, stop: kv.Stop, resume: kv.Continue}
	m.parties["redis"], m.parties["memcached"] = partyOf(t, servers.Redis(t)), partyOf(t, servers.Memcached(t))
	m.parties["s0"] = &party{
		t: t, link: link.New(t, shards[0].Addr()), addr: shards[0].Addr(), kill: func() { must(t, shards[0].Kill()) }, restart: func() { shards[0].Restart(t) },
		stop: func() { must(t, shards[0].Pause()) }, resume: func() { must(t, shards[0].Resume()) },
	}
	text := fmt.Sprintf(members, m.parties["redis"].link.Addr(), m.parties["memcached"].link.Addr(), limits)
	for line := range strings.Lines(text) {
		if name, _, is := strings.Cut(strings.TrimSpace(line), ":"); is && name != "safe" {
			m.names = append(m.names, "with_"+name)
			text += fmt.Sprintf("  with_%s: {kind: ha, of: [%s, safe], limits: %s}\n", name, name, limits)
		}
	}
	text = "generators:" + text + fmt.Sprintf("shards:\n  s0: {address: %q, user: %s, secret: shard, tls: \"off\"}\n  s1: {address: %q, user: %s, secret: shard, tls: \"off\"}\nroutes: [\"0xffff s0\"]\n",
		m.parties["s0"].link.Addr(), shards[0].User, shards[1].Addr(), shards[1].User)
	var err error
	m.declared, err = cluster.Parse([]byte(text))
	must(t, err)
	_, err = cluster.Succeed(nil, m.declared, router.Stamp{By: "test"})
	must(t, err)
	client, err := etcd.Open(etcd.Config{Endpoints: []string{m.parties["etcd"].link.Addr()}})
	must(t, err)
	m.set = generators.New(generators.Options{
		KV: client.Under("segments/"), Name: "test", DataDir: t.TempDir(), Secrets: func(string) (string, error) { return shards[0].Password, nil },
	})
	t.Cleanup(func() {
		if err := errors.Join(m.set.Close(), client.Close()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// take takes numbers from every generator concurrently, with several callers each. Every request must succeed.
func (m *matrix) take(when string, requests int) {
	m.longest = map[string]time.Duration{}
	var callers sync.WaitGroup
	for _, name := range m.names {
		for range 3 {
			callers.Go(func() {
				for i := range requests {
					m.one(when, name, 1+i%3)
				}
			})
		}
	}
	callers.Wait()
}

func (m *matrix) one(when, name string, n int) {
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	began := time.Now()
	texts, err := m.set.Next(ctx, generators.Request{Declared: m.declared, Name: name, Count: n})
	waited := time.Since(began)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.longest[name] = max(m.longest[name], waited)
	if err != nil {
		m.t.Errorf("%s, %s beside a healthy member: %v", when, name, err)
	}
	if m.seen[name] == nil {
		m.seen[name] = map[uint64]bool{}
	}
	for _, text := range texts {
		number, err := strconv.ParseUint(text, 10, 64)
		if err != nil || m.seen[name][number] {
			m.t.Errorf("%s, %s: %s came twice: %v", when, name, text, err)
		}
		m.seen[name][number] = true
	}
}

// recovers waits until a probe of each member that was left has succeeded, so that it is used again in the next fault.
func (m *matrix) recovers(when string) {
	aside := func() map[string]bool {
		found := map[string]bool{}
		for _, s := range m.set.Status() {
			for _, one := range s.Members {
				if one.State == ha.Aside {
					found[one.Of+" of "+one.Name] = true
				}
			}
		}
		return found
	}
	waiting := aside()
	until(m.t, "every member answers "+when, func() bool {
		still := aside()
		maps.DeleteFunc(waiting, func(member string, _ bool) bool { return !still[member] })
		for _, name := range m.names { // probes begin with calls
			m.one(when, name, 1)
		}
		return len(waiting) == 0
	})
}

// report logs how long callers waited, which no test asserts.
func (m *matrix) report(when string) {
	slowest := slices.MaxFunc(m.names, func(a, b string) int { return int(m.longest[a] - m.longest[b]) })
	m.t.Logf("%s: the longest wait was %s, of %s", when, m.longest[slowest].Round(time.Millisecond), slowest)
}

// Each kind of member, next to a healthy one, while each of its servers is frozen, killed, cut off, loses
// packets, or is slow. No request fails, and no number is issued twice, even by a member that was abandoned
// while its server continued.
func TestEveryMemberCanBeLeft(t *testing.T) {
	for _, limits := range scale.Of([]string{"{slow: 50ms, timeout: 200ms, aside: 200ms}"}, []string{"{slow: 50ms, timeout: 200ms, aside: 200ms}", "{}"}) {
		m := newMatrix(t, limits)
		m.take("in the beginning", 10)
		m.report("in the beginning")
		all := matrixTroubles()
		for _, one := range all[:scale.Of(12, len(all))] {
			when := fmt.Sprintf("%s, %s %s", limits, strings.Join(one.servers, " and "), one.way.name)
			for _, server := range one.servers {
				one.way.begin(m.parties[server])
			}
			m.take(when, scale.Of(5, 40))
			for _, server := range one.servers {
				one.way.end(m.parties[server])
			}
			m.report(when)
			m.take("after "+when, 5)
			m.recovers("after " + when)
		}
	}
}

// serversIn is servers that are in trouble at the same time.
type serversIn struct {
	servers []string
	way     way
}

// matrixTroubles returns frozen servers, one and two at a time, and then the other troubles in a random order.
func matrixTroubles() []serversIn {
	var all []serversIn
	for _, frozen := range [][]string{{"etcd"}, {"redis"}, {"memcached"}, {"s0"}, {"etcd", "redis"}, {"etcd", "s0"}} {
		all = append(all, serversIn{frozen, ways[0]})
	}
	first := len(all)
	for _, server := range []string{"etcd", "redis", "memcached", "s0"} {
		for _, w := range ways[1:] {
			all = append(all, serversIn{[]string{server}, w})
		}
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(all)-first, func(i, j int) { all[first+i], all[first+j] = all[first+j], all[first+i] })
	return all
}
