package session

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/interrupt"
	"locus/proxy/kept"
	"locus/proxy/meter"
	"locus/proxy/snapshot"
	"locus/proxy/stream"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
)

// sequence issues 1, 2, 3 …
type sequence struct{ last atomic.Uint64 }

func (s *sequence) Issue(_ context.Context, t *catalog.Table, g gene.Gene, n int) (orderid.Layout, orderid.ID, error) {
	id, err := t.Layout.Compose(g, min(1, t.Layout.MaxVersion()), orderid.Seq(s.last.Add(uint64(n))))
	return t.Layout, id, err
}

func bigint(name string) catalog.Column { return catalog.Column{Name: name, DataType: "bigint"} }

// catalogOf returns a catalog of tables that are known to have no triggers.
func catalogOf(shards []router.ShardName, tables ...*catalog.Table) *catalog.Catalog {
	listings := map[router.ShardName]*catalog.Listing{}
	for _, shard := range shards {
		l := &catalog.Listing{}
		for _, t := range tables {
			l.Tables = append(l.Tables, catalog.ListedTable{TableName: t.TableName, Type: "BASE TABLE"})
		}
		listings[shard] = l
	}
	return catalog.NewListed(shards, tables, nil, listings)
}

// hotServices returns the services of a cluster with one shard, which is a fake server, and one sharded table.
func hotServices(t testing.TB) (*Services, *fakeShard) {
	t.Helper()
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0xffff, Shard: "s0"}})
	if err != nil {
		t.Fatal(err)
	}
	orders, err := catalog.Resolve(catalog.TableName{Schema: "shop", Name: "orders"}, catalog.Declaration{
		Kind: catalog.Sharded, Owner: "user_id", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}, OrderNumber: "no", Version: "ver",
	}, []catalog.Column{bigint("id"), bigint("no"), bigint("user_id"), bigint("amount"), bigint("ver")}, gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := cipher.Parse([]byte("current: 1\nkeys:\n  - version: 1\n    key: 2b7e151628aed2a6abf7158809cf4f3c\n"))
	if err != nil {
		t.Fatal(err)
	}
	shard := startShard(t)
	pools := backend.NewRegistry(backend.Limits{}, slog.New(slog.DiscardHandler))
	pools.Apply([]backend.Target{{Shard: "s0", Addr: shard.addr(), User: "u", Password: func() (string, error) { return "", nil }}})
	t.Cleanup(func() {
		if err := pools.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	measured := new(meter.Meter)
	measured.Slow.SetAfter(time.Hour) // the end of each statement is timed, as in any proxy
	counts := new(Counts)
	now := &snapshot.Snapshot{Map: m, Catalog: catalogOf(m.Shards(), orders), Plans: plan.NewCache(1000), Flavor: flavor.MariaDB}
	return &Services{
		Services: txn.Services{Pools: pools, Counts: &counts.Counts, Log: slog.New(slog.DiscardHandler)},
		Snapshot: func() *snapshot.Snapshot { return now }, Versions: pools.Versions, IDs: &sequence{}, Ring: func() *cipher.Ring { return ring },
		MaxStatement: 1 << 20, Memory: kept.NewMemory(kept.DefaultMemory), Counts: counts, Meter: measured,
		Tracer: trace.New(nil, 0), // tracing is on, but these statements are not chosen
	}, shard
}

// hotClient is a client of a running session, with prebuilt packets.
type hotClient struct {
	t        testing.TB
	stream   *stream.Conn
	scanner  wire.Scanner
	session  *Session
	shard    *fakeShard
	planning *atomic.Pointer[func()] // see atNextPlan
}

// dialects contains the capabilities of old and new clients.
var dialects = map[string]uint32{"classic": backend.Capabilities, "without EOF": backend.Capabilities | mysql.CLIENT_DEPRECATE_EOF}

func newHotClient(t testing.TB, capabilities uint32) *hotClient {
	t.Helper()
	services, shard := hotServices(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := New(ctx, services, &Client{Stream: stream.New(far), Capabilities: capabilities, NextSeq: 2})
	planning, now := new(atomic.Pointer[func()]), services.Snapshot()
	services.Snapshot = func() *snapshot.Snapshot {
		if planning.Load() != nil {
			(*planning.Swap(nil))()
		}
		return now
	}
	ended := make(chan error)
	go func() { ended <- s.Serve("shop") }()
	t.Cleanup(func() {
		_ = near.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		cancel()
	})
	c := &hotClient{t: t, stream: stream.New(near), session: s, shard: shard, planning: planning}
	c.scanner.DeprecateEOF = capabilities&mysql.CLIENT_DEPRECATE_EOF != 0
	c.answer(wire.SimpleResponse)
	return c
}

// awaitRest waits until the session has finished the last command. A client has the answer before.
func (c *hotClient) awaitRest() {
	for {
		if _, busy := c.session.Interrupts().Command(); !busy {
			return
		}
		runtime.Gosched()
	}
}

// atNextPlan calls f once, when the next command first reads the snapshot.
func (c *hotClient) atNextPlan(f func()) { OnNextCommand(c.planning, c.session.Interrupts(), f) }

// OnNextCommand stores a hook that calls f once during the session's next command. The previous command may still be ending: a
// client has the answer before the session has finished with it.
func OnNextCommand(hook *atomic.Pointer[func()], h *interrupt.Handle, f func()) {
	previous, _ := h.Command()
	var call func()
	call = func() {
		if number, _ := h.Command(); number == previous {
			hook.Store(&call)
			return
		}
		f()
	}
	hook.Store(&call)
}

// run sends commands, each after the answer to the previous one.
func (c *hotClient) run(packets ...[]byte) {
	for _, p := range packets {
		c.send(p)
		c.answer(wire.QueryResponse)
	}
}

func (c *hotClient) send(packet []byte) {
	if _, err := c.stream.Write(packet); err != nil {
		c.t.Fatal(err)
	}
}

func (c *hotClient) answer(kind wire.ResponseKind) {
	if code := c.outcome(kind); code != 0 {
		c.t.Fatalf("error %d", code)
	}
}

// outcome reads an answer and returns its error code, or 0.
func (c *hotClient) outcome(kind wire.ResponseKind) uint16 {
	c.scanner.Reset(kind)
	for {
		n, state, err := c.scanner.Scan(c.stream.Unread())
		if err != nil {
			c.t.Fatal(err)
		}
		c.stream.Discard(n)
		if state == wire.Done {
			code, _ := c.scanner.ErrCode()
			return code
		}
		if err := c.stream.Fill(); err != nil {
			c.t.Fatal(err)
		}
	}
}

func textCommand(sql string) []byte {
	packet, _ := wire.AppendCommand(nil, mysql.COM_QUERY, []byte(sql))
	return packet
}

// executeCommand prepares a text and returns the command that executes it with integers.
func (c *hotClient) executeCommand(sql string, values ...int64) []byte {
	packet, _ := wire.AppendCommand(nil, mysql.COM_STMT_PREPARE, []byte(sql))
	if _, err := c.stream.Write(packet); err != nil {
		c.t.Fatal(err)
	}
	head, _, err := c.stream.Payload()
	if err != nil {
		c.t.Fatal(err)
	}
	p, err := wire.ParsePrepared(head)
	if err != nil {
		c.t.Fatalf("%v: %q", err, head)
	}
	c.stream.Done()
	packets := int(p.Params)
	if !c.scanner.DeprecateEOF {
		packets += min(1, packets)
	}
	for range packets {
		if _, _, err := c.stream.Payload(); err != nil {
			c.t.Fatal(err)
		}
		c.stream.Done()
	}
	e := wire.Execute{Statement: p.Statement}
	for _, v := range values {
		e.Params = append(e.Params, wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: binary.LittleEndian.AppendUint64(nil, uint64(v))})
	}
	packet, _ = wire.AppendExecute(nil, e)
	return packet
}

const (
	hotSelect     = "SELECT id, amount FROM orders WHERE user_id = ?"
	hotUpdate     = "UPDATE orders SET amount = amount + 1 WHERE user_id = ?"
	hotSelect4711 = "SELECT id, amount FROM orders WHERE user_id = 4711"
	hotInsert     = "INSERT INTO orders (user_id, amount) VALUES (?, 5)"
)

// hotScripts returns the statements that applications run most.
func hotScripts(c *hotClient) map[string][][]byte {
	const user = 4711
	text := func(sql string) []byte { return textCommand(strings.Replace(sql, "?", fmt.Sprint(user), 1)) }
	execute := func(sql string) []byte { return c.executeCommand(sql, user) }
	scripts := map[string][][]byte{}
	for protocol, command := range map[string]func(string) []byte{"text": text, "prepared": execute} {
		scripts["select, "+protocol] = [][]byte{command(hotSelect)}
		scripts["insert, "+protocol] = [][]byte{command(hotInsert)}
		scripts["transaction, "+protocol] = [][]byte{
			textCommand("BEGIN"), command(hotSelect), command(hotUpdate), command(hotInsert), textCommand("COMMIT"),
		}
	}
	return scripts
}

func BenchmarkStatement(b *testing.B) {
	for dialect, capabilities := range dialects {
		c := newHotClient(b, capabilities)
		for name, packets := range hotScripts(c) {
			b.Run(dialect+", "+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c.run(packets...)
				}
			})
		}
	}
}
