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
	"sync/atomic"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/generators"
	"locus/idgen/ha"
	"locus/internal/test/link"
	"locus/internal/test/servers"
	"locus/router/cluster"
	harness "locus/test/cluster"
)

// compositions are generators of generators, as declared in cluster.yaml. Each has, at every level, two members
// that don't depend on the same server. The first ones use those of the document's first example, which
// precedes them.
const compositions = `
  table_0: {kind: auto_increment, shards: [s0]}
  table_1: {kind: auto_increment, shards: [s1]}
  tables:  {kind: ha, of: [table_0, table_1], limits: %[6]s}
  soon:    {kind: queue, of: [tables], bits: %[7]d}
  voucher: {kind: format, of: [soon], template: "V{seq:17}-{check:9,31,10}"}
  both:    {kind: auto_increment, shards: [s0, s1], limits: %[6]s}
  counter: {kind: redis, server: "%[5]s", store: {mysql: {shard: s1}}}
  safe:    {kind: ha, of: [counter, shard_numbers], limits: %[6]s}
  nested:  {kind: ha, of: [numbers, tables], limits: %[6]s}
  letter:  {kind: format, of: [nested], template: "L{seq:17}"}
shards:
  s0: {address: "%[1]s", user: %[2]s, secret: shard, tls: "off"}
  s1: {address: "%[3]s", user: %[4]s, secret: shard, tls: "off"}
routes: ["0xffff s0"]
`

// careful returns the first example of docs/reference/generators.md, with small steps, so that its members
// query their servers all the time, and with matching limits.
func careful(t *testing.T, step, bits int) string {
	t.Helper()
	document, err := os.ReadFile("../../docs/reference/generators.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(document), "```yaml\n")
	text, _, _ = strings.Cut(text, "```\n")
	for long, short := range map[string]string{
		"{kind: segment}": fmt.Sprintf("{kind: segment, max_step: %d}", step),
		"{kind: ha, of: [etcd_numbers, shard_numbers]}": "{kind: ha, of: [etcd_numbers, shard_numbers], limits: " + memberLimits + "}",
		"{kind: queue, of: [numbers]}":                  fmt.Sprintf("{kind: queue, of: [numbers], bits: %d}", bits),
		"{seq:14}":                                      "{seq:17}",
	} {
		if strings.Count(text, long) != 1 {
			t.Fatalf("the first example of docs/reference/generators.md has not one %s:\n%s", long, text)
		}
		text = strings.Replace(text, long, short, 1)
	}
	return text
}

// taken contains the compositions from which numbers are taken, with the maximum per call: few if each number
// leaves a row.
var taken = map[string]int{
	"numbers": 1000, "ready": 2000, "bill": 1000, "tables": 50, "soon": 2000, "voucher": 1000, "both": 50, "safe": 500, "letter": 50,
}

const (
	memberLimits = "{slow: 200ms, timeout: 600ms, aside: 200ms}"
	slowness     = 300 * time.Millisecond // delay of each answer of a slow member
	// patient is longer than any way through the members.
	patient = 40 * time.Second
)

// composed contains the servers, the clients, and the numbers that they got.
type composed struct {
	t        *testing.T
	mysql    []*servers.Server
	redis    *servers.Process
	etcd     *harness.Etcd
	links    map[string]*link.Link
	declared *cluster.Cluster
	takers   [2]*taker
	dirs     [2]string // of the processes
	got      map[string]*got

	mu     sync.Mutex
	failed []string
}

// got contains the numbers of one composition.
type got struct {
	mu       sync.Mutex // guards what follows
	seen     numberSet
	repeated []uint64
	answers  atomic.Int64
}

// taker is a process that takes from every composition.
type taker struct {
	set    *generators.Set
	client *etcd.Client
	stop   atomic.Bool
	ended  sync.WaitGroup
}

func newComposed(t *testing.T, step, bits int) *composed {
	c := &composed{
		t: t, links: map[string]*link.Link{}, got: map[string]*got{},
	}
	c.mysql = servers.Start(t, servers.MariaDB, 2)
	c.redis, c.etcd = servers.Redis(t), harness.StartEtcd(t, os.Stderr)
	for name, addr := range map[string]string{"s0": c.mysql[0].Addr(), "s1": c.mysql[1].Addr(), "redis": c.redis.Addr, "etcd": c.etcd.Addr()} {
		c.links[name] = link.New(t, addr)
	}
	var err error
	c.declared, err = cluster.Parse([]byte(careful(t, step, bits) + fmt.Sprintf(compositions,
		c.links["s0"].Addr(), c.mysql[0].User, c.links["s1"].Addr(), c.mysql[1].User, c.links["redis"].Addr(), memberLimits, bits)))
	if err != nil {
		t.Fatal(err)
	}
	for name := range taken {
		c.got[name] = &got{seen: numberSet{}}
	}
	for i := range c.takers {
		c.dirs[i] = t.TempDir()
		c.start(i)
		t.Cleanup(func() { c.end(i) })
	}
	return c
}

// start lets a new process take numbers.
func (c *composed) start(i int) {
	// On a machine with too little CPU time, a healthy etcd may take long to answer.
	client, err := etcd.Open(etcd.Config{Endpoints: []string{c.links["etcd"].Addr()}, DialTimeout: time.Second, RequestTimeout: 10 * time.Second})
	if err != nil {
		c.t.Fatal(err)
	}
	p := &taker{client: client, set: generators.New(generators.Options{
		KV: client.Under("segments/"), Name: fmt.Sprint("taker ", i), DataDir: c.dirs[i],
		Secrets: func(string) (string, error) { return c.mysql[0].Password, nil },
	})}
	for name, most := range taken {
		p.ended.Go(func() { c.take(p, name, most) })
	}
	c.takers[i] = p
}

// end stops it.
func (c *composed) end(i int) {
	p := c.takers[i]
	if p.stop.Swap(true) {
		return
	}
	p.ended.Wait()
	if err := errors.Join(p.set.Close(), p.client.Close()); err != nil {
		c.t.Error(err)
	}
}

func (c *composed) take(p *taker, name string, most int) {
	g := c.got[name]
	for !p.stop.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		texts, err := p.set.Next(ctx, generators.Request{Declared: c.declared, Name: name, Count: most/2 + rand.IntN(most/2)})
		cancel()
		if err != nil {
			c.mu.Lock()
			c.failed = append(c.failed, fmt.Sprintf("%s: %v", name, err))
			c.mu.Unlock()
			return
		}
		if err := g.add(texts); err != nil {
			c.t.Errorf("%s: %v", name, err)
		}
		g.answers.Add(1)
	}
}

func (g *got) add(texts []string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, text := range texts {
		digits, _, _ := strings.Cut(strings.TrimLeft(text, "BVL"), "-")
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			return err
		}
		if !g.seen.add(n) {
			g.repeated = append(g.repeated, n)
		}
	}
	return nil
}

// trouble is something that happens to one server, and its end.
type trouble struct {
	name       string
	begin, end func(c *composed)
	bites      bool // some member is set aside while it lasts
}

// troubles happen one after the other: two servers are never down at the same time.
func troubles() []trouble {
	all := []trouble{
		{"etcd is killed", func(c *composed) { c.etcd.Kill() }, func(c *composed) { c.etcd.Start() }, true},
		{"etcd is stopped", func(c *composed) { c.etcd.Stop() }, func(c *composed) { c.etcd.Continue() }, true},
		{"Redis is killed", func(c *composed) { c.redis.Kill() }, func(c *composed) { c.must(c.redis.Restart()) }, false},
		{"Redis is stopped", func(c *composed) { c.redis.Stop() }, func(c *composed) { c.redis.Continue() }, false},
	}
	for i, shard := range []string{"s0", "s1"} {
		all = append(all,
			trouble{shard + " is killed", func(c *composed) { c.must(c.mysql[i].Kill()) }, func(c *composed) { c.mysql[i].Restart(c.t) }, true},
			trouble{shard + " is stopped", func(c *composed) { c.must(c.mysql[i].Pause()) }, func(c *composed) { c.must(c.mysql[i].Resume()) }, true})
	}
	for _, server := range []string{"etcd", "redis", "s0", "s1"} {
		all = append(all, trouble{
			server + " is slow", func(c *composed) { c.links[server].Delay(slowness) }, func(c *composed) { c.links[server].Delay(0) }, false,
		})
	}
	return all
}

func (c *composed) must(err error) {
	if err != nil {
		c.t.Fatal(err)
	}
}

// torment lets every trouble happen once. During it each composition must work, also in a process that starts
// in that time.
func (c *composed) torment() {
	c.goesOn("in the beginning")
	all := troubles()
	for _, i := range rand.Perm(len(all)) {
		one, before, began := all[i], c.total(), time.Now()
		c.recovers(one.name)
		one.begin(c)
		if one.bites {
			until(c.t, "a member is set aside: "+one.name, func() bool { return len(c.aside()) > 0 })
		}
		c.end(1)
		c.start(1)
		c.goesOn(one.name)
		one.end(c)
		c.t.Logf("%12d numbers in %s: %s", c.total()-before, time.Since(began).Round(time.Millisecond), one.name)
	}
}

// recovers waits until each member that was set aside has answered a probe. It doesn't wait until none is set
// aside, because on a slow machine there is always one.
func (c *composed) recovers(before string) {
	deadline := time.Now().Add(2 * time.Minute)
	waiting := c.aside()
	still := waiting
	for len(waiting) > 0 {
		c.mu.Lock()
		failed := strings.Join(c.failed, "\n")
		c.mu.Unlock()
		if failed != "" { // without requests there are no probes
			c.t.Fatalf("before %s, one member of two being well, requests failed:\n%s", before, failed)
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("two minutes later, before %s, members have been aside all the time:\n%s\nnow:\n%s", before,
				strings.Join(slices.Collect(maps.Values(waiting)), "\n"), strings.Join(slices.Collect(maps.Values(still)), "\n"))
		}
		wait(10 * time.Millisecond) // the interval of polling
		still = c.aside()
		maps.DeleteFunc(waiting, func(member, _ string) bool { return still[member] == "" })
	}
}

// goesOn waits until every composition has answered several times more, or one has failed.
func (c *composed) goesOn(when string) {
	const more = 8
	before := map[string]int64{}
	for name, g := range c.got {
		before[name] = g.answers.Load()
	}
	until(c.t, "every composition goes on: "+when, func() bool {
		c.mu.Lock()
		failed := len(c.failed)
		c.mu.Unlock()
		for name, g := range c.got {
			if g.answers.Load() < before[name]+more {
				return failed > 0
			}
		}
		return true
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.failed) > 0 {
		c.t.Fatalf("while %s, one member of two being well, requests failed:\n%s", when, strings.Join(c.failed, "\n"))
	}
}

// aside returns the members that a process asks last, and why. On a slow machine members may be too slow.
func (c *composed) aside() map[string]string {
	aside := map[string]string{}
	for i, p := range c.takers {
		for _, s := range p.set.Status() {
			for _, m := range s.Members {
				if m.State == ha.Aside {
					name := fmt.Sprintf("of process %d, %s's %s", i, m.Of, m.Name)
					aside[name] = fmt.Sprintf("%s: %v", name, m.Err)
				}
			}
		}
	}
	return aside
}

func (c *composed) total() uint64 {
	n := uint64(0)
	for _, g := range c.got {
		g.mu.Lock()
		n += g.seen.count()
		g.mu.Unlock()
	}
	return n
}

// check checks at the end that no number was issued twice.
func (c *composed) check() {
	for i := range c.takers {
		c.end(i)
	}
	for name, g := range c.got {
		if len(g.repeated) > 0 {
			c.t.Errorf("%s: %d numbers came twice: %v", name, len(g.repeated), g.repeated[:min(10, len(g.repeated))])
		}
		c.t.Logf("%s: %d numbers in %d answers, none failed", name, g.seen.count(), g.answers.Load())
	}
}

// Members are killed, suspended and slowed down, one server after the other. Every composition continues, no
// request fails, and no number is issued twice.
func TestCompositionsGoOn(t *testing.T) {
	c := newComposed(t, 2000, 8)
	c.torment()
	c.check()
}
