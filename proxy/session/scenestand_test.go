package session_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/fakeshard"
	"locus/proxy/backend"
	"locus/proxy/ddl"
	"locus/proxy/fence"
	"locus/proxy/flavor"
	"locus/proxy/interrupt"
	"locus/proxy/kept"
	"locus/proxy/meter"
	"locus/proxy/session"
	"locus/proxy/snapshot"
	"locus/proxy/stream"
	"locus/proxy/sysvars"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/plan"
)

// stand is a cluster of three shards, and the sessions of one proxy in front of it.
type stand struct {
	t        testing.TB
	options  options
	shards   map[router.ShardName]*fakeshard.Server
	names    []router.ShardName
	services *session.Services
	ids      *issuer
	at       *fakeshard.Coordinator

	mu      sync.Mutex
	now     *snapshot.Snapshot
	changed chan struct{}
	holding chan struct{} // gets a value when a statement is held

	lease    atomic.Int64
	planning atomic.Pointer[func()] // called once, when a session next reads the snapshot
	looking  atomic.Pointer[func()] // called once, when the shards are next polled, which then have changed
	sessions []*person
	beside   *services
}

// options contains the options of a scene.
type options struct {
	flavor       flavor.Flavor
	spanning     txn.Spanning
	capabilities uint32
	user         string
	database     string
	charset      string
	settings     bool // the statements that apply the session's settings are shown
	opening      bool // the login is shown
	traced       bool // all statements are traced
	connections  bool // the statements of a shard are shown by connection
	statement    int  // the longest statement, in bytes
	places       int  // the number of places for held statements
}

// issuer issues 1, 2, 3 … and remembers the names of the IDs.
type issuer struct {
	ring *cipher.Ring

	mu     sync.Mutex
	last   uint64
	failed error
	names  []string // pairs of an ID in a text, and its name
}

func (i *issuer) Issue(_ context.Context, t *catalog.Table, g gene.Gene, n int) (orderid.Layout, orderid.ID, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.failed != nil {
		return t.Layout, orderid.ID{}, i.failed
	}
	var first orderid.ID
	for k := range n {
		i.last++
		id, err := t.Layout.Compose(g, 1, orderid.Seq(i.last))
		if err != nil {
			return t.Layout, id, err
		}
		if k == 0 {
			first = id
		}
		i.names = append(i.names, strconv.FormatUint(id.Lo, 10), fmt.Sprintf("<id %d>", i.last))
		if no, err := i.ring.Encode(t.Layout, id); err == nil {
			i.names = append(i.names, strconv.FormatUint(no.Lo, 10), fmt.Sprintf("<no %d>", i.last))
		}
	}
	return t.Layout, first, nil
}

// readable replaces the IDs in a text by their names.
func (i *issuer) readable(text string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return strings.NewReplacer(i.names...).Replace(text)
}

// named replaces the names in a text by their IDs.
func (i *issuer) named(text string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var pairs []string
	for k := 0; k+1 < len(i.names); k += 2 {
		pairs = append(pairs, i.names[k+1], i.names[k])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// column returns a column with a data type.
func column(name, dataType string) catalog.Column {
	return catalog.Column{Name: name, DataType: dataType}
}

// shopTables returns the declared tables of the schema shop.
func shopTables(t testing.TB) (list []*catalog.Table) {
	t.Helper()
	counter := column("n", "bigint")
	counter.AutoIncrement = true
	ownGene := catalog.Column{Name: catalog.OwnGene, DataType: "mediumint", HasDefault: true, Invisible: true}
	for _, d := range []struct {
		name string
		of   catalog.Declaration
		has  []catalog.Column
	}{
		{
			"orders",
			catalog.Declaration{Kind: catalog.Sharded, Owner: "user_id", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}, OrderNumber: "no", Version: "ver"},
			[]catalog.Column{column("id", "bigint"), column("no", "bigint"), column("user_id", "bigint"), column("amount", "bigint"), column("ver", "bigint")},
		},
		{"visits", catalog.Declaration{Kind: catalog.Sharded, Owner: "user_id"}, []catalog.Column{column("user_id", "bigint"), column("page", "varchar"), ownGene}},
		{"tickets", catalog.Declaration{Kind: catalog.Sharded, Owner: "user_id"}, []catalog.Column{counter, column("user_id", "bigint"), ownGene}},
		{"carts", catalog.Declaration{Kind: catalog.Sharded, Owner: "user_id"}, []catalog.Column{column("n", "bigint"), column("user_id", "bigint"), ownGene}},
		{"rates", catalog.Declaration{Kind: catalog.Global}, []catalog.Column{column("currency", "bigint"), column("rate", "bigint")}},
		{"levels", catalog.Declaration{Kind: catalog.Global}, []catalog.Column{counter, column("name", "varchar")}},
		{"notes", catalog.Declaration{Kind: catalog.Single, Shard: "s1"}, []catalog.Column{column("id", "bigint"), column("text", "varchar")}},
	} {
		table, err := catalog.Resolve(catalog.TableName{Schema: "shop", Name: d.name}, d.of, d.has, gene.W16)
		if err != nil {
			t.Fatal(err)
		}
		if d.name == "carts" {
			table = table.WithUnique([]catalog.UniqueKey{{Name: "PRIMARY", Columns: []int{0}}})
		}
		list = append(list, table)
	}
	return list
}

// shopCatalog returns a catalog with the declared tables on each shard, and further objects on the first one.
func shopCatalog(shards []router.ShardName, tables []*catalog.Table, broken map[catalog.TableName]error) *catalog.Catalog {
	name := func(n string) catalog.TableName { return catalog.TableName{Schema: "shop", Name: n} }
	listings := map[router.ShardName]*catalog.Listing{}
	for _, shard := range shards {
		l := &catalog.Listing{}
		for _, t := range tables {
			if t.Kind != catalog.Single || t.Shard == shard {
				l.Tables = append(l.Tables, catalog.ListedTable{TableName: t.TableName, Type: "BASE TABLE"})
			}
		}
		listings[shard] = l
	}
	first := listings[shards[0]]
	if plain := name("plain"); !slices.ContainsFunc(first.Tables, func(t catalog.ListedTable) bool { return t.TableName == plain }) {
		first.Tables = append(first.Tables, catalog.ListedTable{TableName: plain, Type: "BASE TABLE"})
	}
	first.Tables = append(first.Tables,
		catalog.ListedTable{TableName: name("all_plain"), Type: "VIEW", Query: "select `shop`.`plain`.`user_id` AS `user_id` from `shop`.`plain`", Columns: []string{"user_id"}},
		catalog.ListedTable{
			TableName: name("dear"), Type: "VIEW", Query: "select `shop`.`orders`.`id` AS `id`,`shop`.`orders`.`user_id` AS `user_id` from `shop`.`orders` where `shop`.`orders`.`amount` > 100",
			Columns: []string{"id", "user_id"},
		})
	first.Programs = append(first.Programs,
		catalog.Program{TableName: name("tidy"), Type: "PROCEDURE", Body: "BEGIN DELETE FROM plain; SET @tidied = 1; END"},
		catalog.Program{TableName: name("half"), Type: "FUNCTION", Body: "RETURN n / 2"},
		catalog.Program{TableName: name("mark"), Type: "FUNCTION", Body: "BEGIN SET @marked = n; RETURN n; END"})
	return catalog.NewListed(shards, tables, broken, listings)
}

func newStand(t testing.TB, o options) *stand {
	t.Helper()
	s := &stand{t: t, options: o, shards: map[router.ShardName]*fakeshard.Server{}, names: []router.ShardName{"s0", "s1", "s2"}, at: &fakeshard.Coordinator{}, changed: make(chan struct{}), holding: make(chan struct{}, 16)}
	version := fakeshard.MariaDB
	if o.flavor == flavor.MySQL {
		version = fakeshard.MySQL
	}
	pools := backend.NewRegistry(backend.Limits{}, slog.New(slog.DiscardHandler))
	var targets []backend.Target
	for _, name := range s.names {
		shard := fakeshard.StartAs(t, version)
		for _, r := range slices.Backward(standing) {
			shard.Next(r)
		}
		s.shards[name] = shard
		targets = append(targets, shard.Target(name))
	}
	pools.Apply(targets)
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0x3fff, Shard: "s2"}, {Bound: 0x5fff, Shard: "s0"}, {Bound: 0xcfff, Shard: "s1"}, {Bound: 0xffff, Shard: "s0"}})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := cipher.Parse([]byte("current: 1\nkeys:\n  - version: 1\n    key: 2b7e151628aed2a6abf7158809cf4f3c\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.ids = &issuer{ring: ring}
	s.now = &snapshot.Snapshot{
		Map: m, Catalog: shopCatalog(s.names, shopTables(t), nil), Copies: s.names, Plans: plan.NewCache(1000), Flavor: o.flavor, Accounts: accounts(),
		Sets: new(sysvars.SetWarnings), Declared: &cluster.Cluster{Generators: declaredGenerators},
	}
	s.lease.Store(1)
	s.beside = newServices(s)
	counts, measured := new(session.Counts), new(meter.Meter)
	measured.Slow.SetAfter(time.Hour)
	s.services = &session.Services{
		Services: txn.Services{Pools: pools, Spanning: o.spanning, Coordinator: s.at, Counts: &counts.Counts, Log: slog.New(slog.DiscardHandler)},
		Snapshot: s.snapshot, Unlisted: s.lookAgain, Versions: pools.Versions, IDs: s.ids, Ring: func() *cipher.Ring { return ring }, Sessions: s,
		MaxStatement: o.statement, Memory: kept.NewMemory(kept.DefaultMemory), Counts: counts, Meter: measured,
		Fencing: fence.Config{Changed: s.change, Leased: s.lease.Load, Hold: time.Hour, Places: make(chan struct{}, o.places)},
		Began:   time.Now(), Clients: func() int { return 1 }, Version: func() string { return string(version) + "-locus" }, Hostname: "proxy1",
		Processes: s.processes, Numbers: s.beside, Generators: generators{s.beside}, Procedures: s.beside,
		Definitions: ddl.Services{
			Snapshot: s.snapshot, Redefined: s.beside.Redefined, Settled: s.beside.Settled, Declarations: s.beside, Renames: renames{s.beside},
			Renumber: s.beside.Renumber,
		},
	}
	if o.traced {
		s.services.Tracer = trace.New(s.beside, 1)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // the time to wait for connections that were not returned
		defer cancel()
		if err := pools.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// accounts returns the declared users.
func accounts() map[string]*snapshot.Account {
	return map[string]*snapshot.Account{
		"app":   {},
		"admin": {Admin: true},
		"careful": {
			Scatter: snapshot.Warn, ScatterWrites: snapshot.Warn, Unfiltered: snapshot.Warn, LargeOffset: snapshot.Warn, LargeGather: snapshot.Warn, GatherRows: 1,
		},
		"strict": {Scatter: snapshot.Refuse, ScatterWrites: snapshot.Refuse, Unfiltered: snapshot.Refuse},
		"guest":  {Rights: &plan.Rights{ID: 2, User: "guest", Tables: map[catalog.TableName]bool{{Schema: "shop", Name: "notes"}: true}}},
		"reader": {Rights: &plan.Rights{ID: 1, User: "reader", Databases: map[string]bool{"shop": true}, ReadOnly: true}},
	}
}

// standing contains the answers of the servers unless a scene sets others.
var standing = []fakeshard.Reply{
	{Prefix: "SHOW WARNINGS", Always: true, Columns: []wire.Column{fakeshard.Text("Level"), fakeshard.Number("Code"), fakeshard.Text("Message")}},
	{Prefix: "SHOW warnings", Always: true, Columns: []wire.Column{fakeshard.Text("Level"), fakeshard.Number("Code"), fakeshard.Text("Message")}},
	{Prefix: "SHOW errors", Always: true, Columns: []wire.Column{fakeshard.Text("Level"), fakeshard.Number("Code"), fakeshard.Text("Message")}},
	{Prefix: "SHOW COUNT(*)", Always: true, Columns: []wire.Column{fakeshard.Number("@@session.warning_count")}, Rows: [][]string{{"0"}}},
	{Prefix: "SELECT FOUND_ROWS()", Always: true, Columns: []wire.Column{fakeshard.Number("n")}, Rows: [][]string{{"42"}}},
	{Prefix: "SELECT LAST_INSERT_ID()", Always: true, Columns: []wire.Column{fakeshard.Number("n")}, Rows: [][]string{{"77"}}},
	{Prefix: "SELECT GET_LOCK(", Always: true, Columns: []wire.Column{fakeshard.Number("l")}, Rows: [][]string{{"1"}}},
	{Prefix: "SELECT NULL UNION ALL SELECT VARIABLE_NAME", Always: true, Columns: []wire.Column{fakeshard.Text("name")}, Rows: [][]string{{fakeshard.Null}}},
	{Prefix: "SELECT TABLE_SCHEMA, TABLE_NAME", Always: true, Columns: []wire.Column{fakeshard.Text("TABLE_SCHEMA"), fakeshard.Text("TABLE_NAME")}},
	{Prefix: "SELECT DISTINCT CONSTRAINT_NAME", Always: true, Columns: []wire.Column{fakeshard.Text("CONSTRAINT_NAME"), fakeshard.Text("REFERENCED_TABLE_SCHEMA"), fakeshard.Text("REFERENCED_TABLE_NAME")}},
	{Prefix: "SELECT", Always: true, Columns: []wire.Column{fakeshard.Number("n")}, Rows: [][]string{{"7"}}},
	{Prefix: "FIELDS", Always: true, Columns: []wire.Column{fakeshard.Number("id"), fakeshard.Text("text")}},
}

func (s *stand) lookAgain(context.Context, bool) bool {
	looking := s.looking.Swap(nil)
	if looking != nil {
		(*looking)()
	}
	return looking != nil
}

func (s *stand) snapshot() *snapshot.Snapshot {
	if s.planning.Load() != nil {
		(*s.planning.Swap(nil))()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// change notes that a statement is held, and returns the channel on which it waits for a change of the map.
func (s *stand) change() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.holding <- struct{}{}:
	default:
	}
	return s.changed
}

// publish puts another map in force.
func (s *stand) publish(m *router.Map) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := *s.now
	next.Map, s.now = m, &next
	close(s.changed)
	s.changed = make(chan struct{})
}

// processes describes all sessions.
func (s *stand) processes() (list []sysvars.Process) {
	for _, p := range s.sessions {
		list = append(list, p.session.Process(time.Now()))
	}
	return list
}

// Kill implements session.Sessions.
func (s *stand) Kill(ctx context.Context, k session.KillRequest) error {
	i := slices.IndexFunc(s.sessions, func(p *person) bool { return uint64(p.id) == k.ID })
	switch {
	case i < 0:
		return session.ErrNoSession
	case s.sessions[i].session.User() != k.By && !k.Any:
		return session.ErrOtherUsers
	case k.Query:
		_, err := s.sessions[i].session.Interrupts().Cancel(ctx, interrupt.Killed, 0)
		return err
	}
	return s.sessions[i].session.Interrupts().Kill(ctx)
}

// person is a client with its session.
type person struct {
	*client
	id      uint32
	session *session.Session
	near    *watched
	ended   chan error
	over    bool // the result was read from ended
}

// watched is the session's end of a client's connection. It records when the session waits for the next command.
type watched struct {
	*net.TCPConn
	mu      sync.Mutex
	changes sync.Cond // on mu
	read    int
	waiting bool
	over    bool
	stuck   bool // the session did not become idle in time
}

func (w *watched) Read(b []byte) (int, error) {
	w.set(func() { w.waiting = true })
	n, err := w.TCPConn.Read(b)
	w.set(func() { w.waiting, w.read = false, w.read+n })
	return n, err
}

func (w *watched) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	w.changes.Broadcast()
}

// idle waits until that many bytes were read and the session waits for more, or until the session is over.
func (w *watched) idle(read int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	impatient := time.AfterFunc(patience, func() { w.set(func() { w.stuck = true }) })
	defer impatient.Stop()
	for !w.over && !w.stuck && (!w.waiting || w.read < read) {
		w.changes.Wait()
	}
}

// patience is how long a client waits for an answer that doesn't arrive.
const patience = 20 * time.Second

// join starts a session.
func (s *stand) join(user, database string) (*person, []string) {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	defer l.Close()
	far, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	_ = far.SetDeadline(time.Now().Add(patience))
	accepted, err := l.Accept()
	if err != nil {
		s.t.Fatal(err)
	}
	near := &watched{TCPConn: accepted.(*net.TCPConn)}
	near.changes.L = &near.mu
	id := uint32(7 + len(s.sessions))
	as := &session.Client{Stream: stream.New(near), ID: id, User: user, Capabilities: s.options.capabilities, Charset: s.options.charset, NextSeq: 2}
	as.Change = func(_ context.Context, on *stream.Conn, payload []byte, seq byte) (*session.Client, error) {
		login, err := wire.ParseChangeUser(payload, s.options.capabilities)
		if err != nil || s.now.Accounts[string(login.User)] == nil {
			_ = on.Close()
			return nil, fmt.Errorf("user %q: %w", login.User, net.ErrClosed)
		}
		changed := *as
		changed.Stream, changed.User, changed.Database, changed.NextSeq = on, string(login.User), string(login.Database), seq+1
		return &changed, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &person{
		id: id, session: session.New(ctx, s.services, as), near: near, ended: make(chan error, 1),
		client: &client{
			t: s.t, net: far, packets: stream.New(far), capabilities: s.options.capabilities, seq: 1, statements: map[string]*prepared{},
			sends: func() { near.set(func() {}) },
		}, // the session must read its variables after the test has set them
	}
	s.sessions = append(s.sessions, p)
	go func() {
		err := p.session.Serve(database)
		p.ended <- err
		near.set(func() { near.over = true })
	}()
	s.t.Cleanup(func() {
		_ = far.Close()
		if !p.over {
			<-p.ended
		}
		cancel()
	})
	lines := p.answer(nil, false)
	return p, append(lines, p.rests()...)
}

// rests waits until the session waits for the next command. If the session has ended, it returns how.
func (p *person) rests() (lines []string) {
	p.near.idle(p.sent)
	p.near.mu.Lock()
	over := p.near.over
	if p.near.stuck {
		p.t.Errorf("the session does not come to rest: %+v", p.session.Process(time.Now()))
	}
	p.near.mu.Unlock()
	if !over || p.over {
		return nil
	}
	p.over = true
	if err := <-p.ended; err != nil {
		return []string{"the session ends: " + strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	return []string{"the session ends"}
}
