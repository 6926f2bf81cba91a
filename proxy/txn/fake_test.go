package txn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/stream"
	"locus/proxy/trace"
	"locus/proxy/twophase"
	"locus/proxy/wire"
	"locus/router"
)

// fakeShard is a server that knows whether a transaction is open, and nothing of rows.
// What it does at a statement can be set.
type fakeShard struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu     sync.Mutex
	log    []string
	faults []fault
	locks  map[string]bool // named ones, which somebody holds
	thread uint32          // the last connection's number
}

// fault is what the server does at the next statement that begins so.
type fault struct {
	prefix string
	code   uint16 // refuse it with this error
	cut    cut
	ends   bool // the transaction has ended with it
}

type cut uint8

const (
	whole  cut = iota
	before     // the connection ends instead of an answer
	within     // after a part of the answer
)

func startShard(t testing.TB) *fakeShard {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeShard{listener: l, locks: map[string]bool{}}
	f.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f.serving.Go(func() { f.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		f.serving.Wait()
	})
	return f
}

// shardConn is one connection's state at the server.
type shardConn struct {
	shard      *fakeShard
	conn       net.Conn
	stream     *stream.Conn
	autocommit bool
	open       bool
	statements uint32
}

func (f *fakeShard) serve(conn net.Conn) {
	defer conn.Close()
	c := &shardConn{shard: f, conn: conn, stream: stream.New(conn), autocommit: true}
	f.mu.Lock()
	f.thread++
	thread := f.thread
	f.mu.Unlock()
	greeting, _ := wire.AppendGreeting(nil, wire.Greeting{
		ServerVersion: "10.11.0-MariaDB", ConnectionID: thread, Capabilities: backend.Capabilities | mysql.CLIENT_CONNECT_WITH_DB,
		Collation: 45, Status: c.status(), Plugin: mysql.AUTH_NATIVE_PASSWORD,
	})
	if _, err := conn.Write(greeting); err != nil {
		return
	}
	if _, _, err := c.stream.Payload(); err != nil {
		return
	}
	c.stream.Done()
	if c.ok(2) != nil {
		return
	}
	for {
		payload, _, err := c.stream.Payload()
		if err != nil {
			return
		}
		err = c.answer(payload[0], string(payload[1:]))
		c.stream.Done()
		if err != nil {
			return
		}
	}
}

var errCut = errors.New("cut")

func (c *shardConn) answer(command byte, text string) error {
	switch command {
	case mysql.COM_STMT_PREPARE:
		c.statements++
		out, _ := wire.AppendPrepared(nil, 1, wire.Prepared{Statement: c.statements})
		_, err := c.conn.Write(out)
		return err
	case mysql.COM_STMT_CLOSE, mysql.COM_QUIT:
		return nil
	case mysql.COM_RESET_CONNECTION:
		c.shard.note("RESET")
		c.open, c.autocommit = false, true
		return c.ok(1)
	}
	if f := c.shard.take(text); f != nil {
		if f.ends {
			c.open = false
		}
		switch {
		case f.cut == before:
			return errCut
		case f.cut == within:
			_, _ = c.conn.Write([]byte{7, 0, 0, 1, 0})
			return errCut
		case f.code != 0:
			out, _ := wire.AppendERR(nil, 1, &mysql.MyError{Code: f.code, State: "HY000", Message: "refused"}, backend.Capabilities)
			_, err := c.conn.Write(out)
			return err
		}
	}
	c.run(text)
	if names, ok := strings.CutPrefix(text, "SELECT IS_USED_LOCK("); ok {
		return c.lockRows(strings.Count(names, "IS_USED_LOCK") + 1)
	}
	return c.ok(1)
}

func (c *shardConn) run(text string) {
	word, _, _ := strings.Cut(text, " ")
	switch {
	case strings.Contains(text, "autocommit=0"):
		c.autocommit = false
	case strings.Contains(text, "autocommit="):
		c.autocommit, c.open = true, false
	case word == "BEGIN", word == "START", strings.HasPrefix(text, "XA START"):
		c.open = true
	case word == "COMMIT", word == "ROLLBACK" && !strings.Contains(text, " TO "), word == "ALTER",
		strings.HasPrefix(text, "XA COMMIT"), strings.HasPrefix(text, "XA ROLLBACK"), strings.HasPrefix(text, "XA PREPARE"):
		c.open = false
	case word == "UPDATE", word == "SELECT":
		c.open = c.open || !c.autocommit
	}
}

func (c *shardConn) status() uint16 {
	var status uint16
	if c.autocommit {
		status |= mysql.SERVER_STATUS_AUTOCOMMIT
	}
	if c.open {
		status |= mysql.SERVER_STATUS_IN_TRANS
	}
	return status
}

func (c *shardConn) ok(seq byte) error {
	out, _ := wire.AppendOK(nil, seq, wire.OK{AffectedRows: 1, Status: c.status()}, backend.Capabilities)
	_, err := c.conn.Write(out)
	return err
}

// lockRows says that each of n locks is held, or none.
func (c *shardConn) lockRows(n int) error {
	value := byte('0')
	c.shard.mu.Lock()
	if c.shard.locks["held"] {
		value = '1'
	}
	c.shard.mu.Unlock()
	out, seq := wire.AppendColumnCount(nil, 1, n)
	var row []byte
	for range n {
		out, seq = wire.AppendColumn(out, seq, wire.Column{Name: []byte("x"), Charset: 45, Type: mysql.MYSQL_TYPE_LONGLONG})
		row = append(row, 1, value)
	}
	out, seq = wire.AppendEOF(out, seq, wire.EOF{Status: c.status()})
	out, seq = wire.AppendPacket(out, seq, row)
	out, _ = wire.AppendEOF(out, seq, wire.EOF{Status: c.status()})
	_, err := c.conn.Write(out)
	return err
}

func (f *fakeShard) note(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, text)
}

// take notes a statement, and gives what is to go wrong with it.
func (f *fakeShard) take(text string) *fault {
	f.note(text)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, one := range f.faults {
		if strings.HasPrefix(text, one.prefix) {
			f.faults = slices.Delete(f.faults, i, i+1)
			return &one
		}
	}
	return nil
}

func (f *fakeShard) fail(faults ...fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, faults...)
}

// sent gives what came since the last time, but for settings.
func (f *fakeShard) sent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := slices.DeleteFunc(f.log, func(text string) bool {
		return strings.HasPrefix(text, "SET ") && !strings.HasPrefix(text, "SET TRANSACTION") || text == "RESET"
	})
	f.log = nil
	for i := range taken {
		taken[i] = strings.ReplaceAll(taken[i], fmt.Sprintf("'t1','s0',%d", twophase.Format), "t1")
	}
	return taken
}

// fakeClient is a session as its connections see it.
type fakeClient struct {
	t          testing.TB
	settings   *backend.Settings
	autocommit bool
	flavor     flavor.Flavor

	unwanted, refused error
	awaited           []*backend.Conn
	killed            bool // whatever is taken out was hit by a kill
	shielded, shields int
	waited            int
	changes           int
}

func (c *fakeClient) Settings() *backend.Settings {
	if !c.autocommit {
		return c.settings.With("autocommit", "0")
	}
	return c.settings
}
func (c *fakeClient) Profile() backend.Profile { return 0 }
func (c *fakeClient) Autocommit() bool         { return c.autocommit }
func (c *fakeClient) Flavor() flavor.Flavor    { return c.flavor }
func (c *fakeClient) Unwanted() error          { return c.unwanted }
func (c *fakeClient) Waits() context.Context   { return context.Background() }
func (c *fakeClient) Shield()                  { c.shielded++; c.shields++ }
func (c *fakeClient) Unshield()                { c.shielded-- }
func (c *fakeClient) Waited(time.Duration)     { c.waited++ }
func (c *fakeClient) Trace() *trace.Statement  { return nil }
func (c *fakeClient) Reserves()                { c.changes++ }

func (c *fakeClient) Await(_ *backend.Pool, conn *backend.Conn) error {
	if c.refused != nil {
		return c.refused
	}
	c.awaited = append(c.awaited, conn)
	return nil
}

func (c *fakeClient) Remove(conn *backend.Conn) bool {
	if !slices.Contains(c.awaited, conn) {
		c.t.Errorf("a connection to %s is given back twice", conn.Shard())
	}
	c.awaited = slices.DeleteFunc(c.awaited, func(other *backend.Conn) bool { return other == conn })
	return c.killed
}

// fakeCoordinator names transactions t1, t2, …
type fakeCoordinator struct {
	names   int
	unready map[router.ShardName]error
	verdict twophase.Verdict
	settled error
	calls   []string
}

func (f *fakeCoordinator) Ready(_ context.Context, shard router.ShardName) error {
	return f.unready[shard]
}

func (f *fakeCoordinator) Name(home router.ShardName) twophase.Name {
	f.names++
	return twophase.Name{Transaction: fmt.Sprintf("t%d", f.names), Home: home}
}

func (f *fakeCoordinator) Decide(_ twophase.Name, branches []router.ShardName) string {
	return fmt.Sprintf("INSERT decision %v", branches)
}

func (f *fakeCoordinator) Doubt(shard router.ShardName) {
	f.calls = append(f.calls, "doubt "+string(shard))
}

func (f *fakeCoordinator) Settle(context.Context, twophase.Name) (twophase.Verdict, error) {
	f.calls = append(f.calls, "settle")
	return f.verdict, f.settled
}

func (f *fakeCoordinator) Forget(n twophase.Name) { f.calls = append(f.calls, "forget "+n.Transaction) }

func (f *fakeCoordinator) Leave(n twophase.Name) { f.calls = append(f.calls, "leave "+n.Transaction) }

// stand is a session's connections to three shards. When the test ends, each pool must have
// got everything back.
type stand struct {
	t testing.TB
	*Connections
	client      *fakeClient
	coordinator *fakeCoordinator
	shards      map[router.ShardName]*fakeShard
	stops       []string
}

func newStand(t testing.TB, spanning Spanning) *stand {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	pools := backend.NewRegistry(backend.Limits{}, log)
	s := &stand{
		t: t, client: &fakeClient{t: t, settings: backend.Default, autocommit: true}, coordinator: &fakeCoordinator{},
		shards: map[router.ShardName]*fakeShard{},
	}
	var targets []backend.Target
	for _, name := range []router.ShardName{"s0", "s1", "s2"} {
		s.shards[name] = startShard(t)
		targets = append(targets, backend.Target{Shard: name, Addr: s.shards[name].listener.Addr().String(), User: "u", Password: func() (string, error) { return "", nil }})
	}
	pools.Apply(targets)
	services := &Services{
		Pools: pools, Spanning: spanning, Coordinator: s.coordinator, Counts: &Counts{}, Log: log,
		Stop: func(point string) { s.stops = append(s.stops, point) },
	}
	s.Connections = New(services, Environment{ID: 7, Context: context.Background(), Client: s.client, Interrupts: s.client, Observer: s.client})
	t.Cleanup(func() {
		s.Reset()
		if n := len(s.client.awaited); n != 0 {
			t.Errorf("%d connections are still awaited", n)
		}
		if s.client.shielded != 0 {
			t.Errorf("shielded %d times more than unshielded", s.client.shielded)
		}
		for _, r := range Reasons() {
			if now, _ := s.Counts.Reserved(r); now != 0 {
				t.Errorf("%d are still reserved for %s", now, r)
			}
		}
		if err := pools.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// run runs a statement as a session would.
func (s *stand) run(shard router.ShardName, text string, m Mode) error {
	l, err := s.Acquire(shard, m)
	if err != nil {
		return err
	}
	for _, sql := range append(slices.Clone(l.Opening()), text) {
		if _, err := l.Conn.Run(context.Background(), sql, backend.Nothing); err != nil {
			l.Fail(err)
			return err
		}
	}
	l.Done(l.Conn.Status())
	return nil
}

// must is run of what goes well.
func (s *stand) must(shard router.ShardName, text string, m Mode) {
	s.t.Helper()
	if err := s.run(shard, text, m); err != nil {
		s.t.Fatalf("%s on %s: %v", text, shard, err)
	}
}

func (s *stand) acquire(shard router.ShardName, m Mode) Lease {
	s.t.Helper()
	l, err := s.Acquire(shard, m)
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

// sent checks what a shard was sent since the last time.
func (s *stand) sent(shard router.ShardName, want ...string) {
	s.t.Helper()
	if got := s.shards[shard].sent(); !slices.Equal(got, want) {
		s.t.Errorf("%s was sent %q, want %q", shard, got, want)
	}
}

// is checks what the session has.
func (s *stand) is(running bool, shards ...router.ShardName) {
	s.t.Helper()
	if s.Running() != running || !slices.Equal(s.Shards(), shards) {
		s.t.Errorf("running: %t on %v, want %t on %v", s.Running(), s.Shards(), running, shards)
	}
}

// ended checks how many transactions on one and on several shards have ended so.
func (s *stand) ended(v twophase.Verdict, one, several uint64) {
	s.t.Helper()
	if a, b := s.Counts.Transactions.One(v), s.Counts.Transactions.Several(v); a != one || b != several {
		s.t.Errorf("%d and %d are %v, want %d and %d", a, b, v, one, several)
	}
}

// says checks an error's number and a part of its text.
func says(t testing.TB, err error, code uint16, text string) {
	t.Helper()
	e, ok := errors.AsType[*mysql.MyError](err)
	if code != 0 && (!ok || e.Code != code) || err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want error %d with %q", err, code, text)
	}
}
