package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/gene"
	"locus/idgen/segment"
	"locus/proxy/backend"
	"locus/proxy/ddl"
	"locus/proxy/fence"
	"locus/proxy/flavor"
	"locus/proxy/handshake"
	"locus/proxy/health"
	"locus/proxy/interrupt"
	"locus/proxy/kept"
	"locus/proxy/meter"
	"locus/proxy/mirror"
	"locus/proxy/session"
	"locus/proxy/snapshot"
	"locus/proxy/stream"
	"locus/proxy/sysvars"
	"locus/proxy/twophase"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/live"
)

// Proxy is the proxy of one process. Its methods may be called concurrently.
type Proxy struct {
	options Options
	pools   *backend.Registry
	health  *health.Watch
	live    *live.Live[state]
	builder *builder
	ids     *issuers
	numbers *numbers
	// coordinator is nil unless transactions are committed in two phases.
	coordinator *twophase.Coordinator
	services    session.Services
	login       handshake.Config
	sessions    registry
	counts      session.Counts
	meter       meter.Meter
	mirror      *mirror.Mirror
	lastID      atomic.Uint32
	places      chan struct{} // one for each client
	accepted    atomic.Uint64
	refused     atomic.Uint64
	drained     atomic.Bool
	stopping    atomic.Pointer[Stopping]
	polling     polling
	polled      polled
	spare       chan struct{} // an additional place for an admin
}

// New creates a proxy. [Proxy.Start] reads the cluster.
func New(o Options) *Proxy {
	o = o.withDefaults()
	p := &Proxy{
		options: o, pools: backend.NewRegistry(o.Backends, o.Log),
		sessions: registry{sessions: map[uint32]*session.Session{}, users: map[uint32]string{}},
		places:   make(chan struct{}, o.MaxConnections),
		spare:    make(chan struct{}, 1),
		polling:  polling{place: make(chan struct{}, 1)},
	}
	p.mirror = mirror.New(mirror.Config{Pools: p.pools, Map: p.Map, Applied: o.Applied, Log: o.Log})
	p.builder = &builder{secrets: o.Secrets, mark: cluster.ConnectionMark(o.Name), pools: p.pools, leases: o.Fence.Epochs != nil, follow: p.follow, log: o.Log}
	p.setUpRecovery()
	p.health = &health.Watch{
		Servers: func() []health.Server { return p.pools.Servers(p.builder.recovery) }, Stall: o.Stall, Log: o.Log,
	}
	config := live.Config[state]{Source: confirming{o.Declared, &p.builder.requests}, Build: p.builder.build, Save: o.Save, Log: o.Log}
	if o.Acknowledge != nil {
		config.Acknowledge = p.acknowledge
	}
	p.live = live.New(config)
	p.ids = &issuers{
		kv: o.Segments, name: o.Name, ring: o.Ring, version: o.KeyVersion, log: o.Log, tracer: o.Tracer,
		groups:   func() int { return p.live.Load().declared.Settings.CounterGroups },
		declared: func(t catalog.TableName) catalog.Declaration { return p.live.Load().declared.Tables[t] },
		otherStore: func(sizes catalog.Segments, prefix string, witness *segment.CASStore) (segment.Store, error) {
			if o.CounterStore == nil {
				return nil, errors.New("their counters are on a shard or behind a Redis, which this process can't reach: no ID was issued")
			}
			return o.CounterStore(p.Declared, sizes, prefix, witness)
		},
		byTable: map[issuerKey]*opened{},
	}
	p.sessions.counts = &p.counts
	p.meter.Slow.SetAfter(o.SlowStatement)
	p.numbers = p.newNumbers()
	p.services = session.Services{
		Services: txn.Services{
			Pools: p.pools, Spanning: o.Spanning, Coordinator: p.coordinator, Stop: o.Stop, Counts: &p.counts.Counts, Log: o.Log,
		},
		Snapshot: func() *snapshot.Snapshot { return &p.live.Load().snapshot }, Versions: p.pools.Versions,
		Sessions: &p.sessions, IDs: p.ids, Numbers: p.numbers, Generators: o.Generators, Ring: o.Ring,
		MaxStatement: o.MaxStatement, Timeouts: sysvars.Timeouts{Idle: o.IdleTimeout, Write: o.NetWriteTimeout, Read: o.NetReadTimeout},
		Memory: kept.NewMemory(o.SessionMemory), Counts: &p.counts, Meter: &p.meter, Mirror: p.mirror, Tracer: o.Tracer,
		Fencing: fence.Config{
			Changed: p.live.Changed, Leased: o.Fence.Leased, Hold: o.Fence.Hold, Places: make(chan struct{}, o.Fence.MaxHeld),
		},
		Began: time.Now(), Clients: p.sessions.len,
		Version: p.serverVersion, Hostname: hostname(), Processes: p.sessions.processes, Virtual: o.Virtual, Procedures: o.Procedures,
		Unlisted: p.pollUnlisted, Health: p.health.Load,
		Definitions: ddl.Services{
			Snapshot: func() *snapshot.Snapshot { return &p.live.Load().snapshot }, Redefined: p.redefined, Settled: p.settled,
			Declarations: o.Declarations, Renames: o.Renames, Renumber: p.numbers.Renumber, Made: o.Made,
		},
	}
	p.login = handshake.Config{
		ServerVersion: p.serverVersion, ConnectionID: func() uint32 { return p.lastID.Add(1) },
		Collation: func() byte { return p.live.Load().server.collation },
		Accounts:  accounts{p}, Digests: handshake.NewDigests(o.MaxConnections), Attempts: handshake.NewAttempts(time.Now),
		TLS: o.TLS, RSA: o.RSA, MaxPacket: o.MaxLoginPacket, Capabilities: handshake.Capabilities, Extended: p.extended,
	}
	if o.NoLocalFiles {
		p.login.Capabilities &^= mysql.CLIENT_LOCAL_FILES
	}
	return p
}

// newNumbers returns the generator of numbers for AUTO_INCREMENT columns.
func (p *Proxy) newNumbers() *numbers {
	return &numbers{
		kv: p.options.Segments, name: p.options.Name, pools: p.pools, log: p.options.Log, tables: map[numberedTable]*numbered{},
		shards:  func() []router.ShardName { return p.live.Load().declared.ShardNames() },
		catalog: func() *catalog.Catalog { return p.live.Load().snapshot.Catalog }, lease: p.options.Fence.Leased,
		countersOf: func(name catalog.TableName) catalog.TableName { return p.live.Load().declared.CountersOf(name) },
		forgetEverywhere: func(ctx context.Context, counted catalog.Change) error {
			return both(ctx, counted, p.Renumber, p.options.Renumbered)
		},
	}
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

func (p *Proxy) serverVersion() string {
	if p.options.ServerVersion != "" {
		return p.options.ServerVersion
	}
	return p.live.Load().server.version + "-locus"
}

// extended returns MariaDB's own capabilities, or 0 if the shards are not MariaDB.
func (p *Proxy) extended() uint32 {
	if p.live.Load().snapshot.Flavor == flavor.MariaDB {
		return wire.ExtendedMetadata
	}
	return 0
}

// Start checks the build's hashes and reads the cluster from its source. If the source is unreachable, it reads the documents that
// were saved when they were last read.
func (p *Proxy) Start(ctx context.Context) error {
	if err := gene.CheckGolden(); err != nil {
		return err
	}
	err := p.live.Start(ctx)
	if err == nil || p.options.Saved == nil || p.live.Status().Away == nil {
		return err
	}
	values, revision, saved := p.options.Saved()
	if saved != nil {
		return errors.Join(err, saved)
	}
	p.options.Log.Warn("starting from the last known state", "revision", revision, "error", err)
	return p.live.Restore(ctx, values, revision)
}

// Run serves clients of the listener until ctx ends. It then accepts no more clients and lets statements and transactions in
// progress end. After the drain timeout it closes the remaining sessions. It returns nil unless the listener fails.
func (p *Proxy) Run(ctx context.Context, l net.Listener) error {
	var tasks sync.WaitGroup
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	tasks.Go(func() { _ = p.live.Run(background) })
	tasks.Go(func() { _ = p.pools.Run(background) })
	tasks.Go(func() { p.health.Run(background) })
	tasks.Go(func() { p.turnMeter(background) })
	tasks.Go(func() { p.mirror.Run(background) })
	if p.coordinator != nil {
		tasks.Go(func() { _ = p.builder.recovery.Run(background) })
		tasks.Go(func() { _ = p.coordinator.Run(background) })
	}
	tasks.Go(func() { p.watchTables(background, p.builder) })
	tasks.Go(func() { p.giveBackMemory(background) })
	tasks.Go(func() { p.limitFences(background) })
	tasks.Go(func() { p.limitHolds(background) })
	tasks.Go(func() { p.keepLeases(background) })
	w := &watcher{&p.sessions, p.allowance, &p.counts, make(chan struct{}, mostCancels), p.declared}
	tasks.Go(func() { w.run(background) })
	// Sessions outlive ctx by the drain.
	sessions, interrupt := context.WithCancel(context.WithoutCancel(ctx))
	var closing sync.WaitGroup
	closing.Add(1)
	closed := context.AfterFunc(ctx, func() {
		defer closing.Done()
		p.stopReady()
		_ = l.Close()
	})
	err := p.accept(sessions, l)
	if ctx.Err() != nil {
		err = nil
	}
	if !closed() {
		closing.Wait()
	}
	_ = l.Close()
	p.drained.Store(true)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.options.DrainTimeout)
	tasks.Go(func() { // ends with the drain
		select {
		case <-p.options.Hurry:
			cancel()
		case <-drain.Done():
		}
	})
	if left := p.sessions.drain(drain, p.options.DrainTimeout); left > 0 {
		p.options.Log.Warn("sessions cut off at the end of the drain", "sessions", left)
	}
	cancel()
	interrupt()
	stop()
	p.shut(ctx)
	tasks.Wait()
	if p.coordinator != nil {
		p.closeRecovery(ctx)
	}
	return err
}

// stopReady makes the proxy unready, so that load balancers notice before it stops accepting clients. It returns after the drain
// delay.
func (p *Proxy) stopReady() {
	now := time.Now()
	p.stopping.Store(&Stopping{Since: now, PortCloses: now.Add(p.options.DrainDelay)})
	p.drained.Store(true)
	if p.options.DrainDelay > 0 {
		select {
		case <-time.After(p.options.DrainDelay):
		case <-p.options.Hurry:
		}
	}
}

func (p *Proxy) shut(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	p.ids.close(ctx)
	if err := p.pools.Close(ctx); err != nil {
		p.options.Log.Warn("close connections to shards", "error", err)
	}
}

func (p *Proxy) accept(ctx context.Context, l net.Listener) error {
	for {
		conn, err := l.Accept()
		if isTemporary(err) {
			p.options.Log.Warn("accept a client", "error", err)
			select {
			case <-time.After(50 * time.Millisecond):
				continue
			case <-ctx.Done():
			}
		}
		if err != nil {
			return fmt.Errorf("accept clients: %w", err)
		}
		p.sessions.running.Go(func() { p.serve(ctx, conn) })
	}
}

// isTemporary reports whether an error of Accept is transient, such as too many open files.
func isTemporary(err error) bool {
	var e interface{ Temporary() bool }
	return errors.As(err, &e) && e.Temporary()
}

// serve serves one client from the login to the end of its connection.
func (p *Proxy) serve(ctx context.Context, conn net.Conn) {
	spare := false
	select {
	case p.places <- struct{}{}:
		defer func() { <-p.places }()
	default:
		select {
		case p.spare <- struct{}{}:
			spare = true
			defer func() { <-p.spare }()
		default:
			p.refused.Add(1)
			p.turnAway(conn)
			return
		}
	}
	p.accepted.Add(1)
	login, cancel := context.WithTimeout(ctx, p.options.LoginTimeout)
	client, err := handshake.Accept(login, conn, &p.login)
	cancel()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			p.options.Log.Info("login failed", "error", err)
		}
		return
	}
	if spare && !p.account(client.User).Admin {
		p.refused.Add(1)
		p.dismiss(client, p.tooMany())
		return
	}
	p.session(ctx, client)
}

// account returns the declaration of a user, or a zero Account if the user is not declared.
func (p *Proxy) account(user string) snapshot.Account {
	if a := p.live.Load().snapshot.Accounts[user]; a != nil {
		return *a
	}
	return snapshot.Account{}
}

// declared reports whether a user is declared.
func (p *Proxy) declared(user string) bool { return p.live.Load().snapshot.Accounts[user] != nil }

// dismiss sends an error to a client that has logged in, and closes its connection.
func (p *Proxy) dismiss(c *handshake.Client, e *mysql.MyError) {
	defer c.Stream.Close()
	packet, _ := wire.AppendERR(nil, c.NextSeq, e, c.Capabilities)
	_ = c.Stream.SetDeadline(time.Now().Add(time.Second))
	_, _ = c.Stream.Write(packet)
}

func (p *Proxy) session(ctx context.Context, c *handshake.Client) {
	if err := p.sessions.admit(c.ConnectionID, c.User, p.account(c.User).MaxConnections); err != nil {
		p.refused.Add(1)
		p.dismiss(c, err)
		return
	}
	c.Stream = compress(c)
	s := session.New(ctx, &p.services, p.client(c))
	if !p.sessions.add(c.ConnectionID, s) {
		_ = c.Stream.Close()
	}
	defer p.sessions.remove(c.ConnectionID)
	if err := s.Serve(c.Database); err != nil {
		p.logEnd(s, c, err)
	}
}

// logEnd logs why a session has ended. It counts clients that have read or sent nothing for too long.
func (p *Proxy) logEnd(s *session.Session, c *handshake.Client, err error) {
	attributes := []any{"session", c.ConnectionID, "user", s.User(), "error", err}
	stalled, is := errors.AsType[*stream.StalledError](err)
	if !is {
		p.options.Log.Info("session ended", attributes...)
		return
	}
	p.counts.Stalled(stalled.Reading)
	p.options.Log.Warn("session ended: its client stalled", append(attributes, "address", c.Stream.NetConn().RemoteAddr().String())...)
}

// client returns the logged-in client as its session needs it.
func (p *Proxy) client(c *handshake.Client) *session.Client {
	set := p.live.Load().server.charsets[c.Collation]
	return &session.Client{
		Stream: c.Stream, ID: c.ConnectionID, User: c.User, Database: c.Database, Capabilities: c.Capabilities, Extended: c.Extended,
		Charset: set.charset, Collation: set.collation, NextSeq: c.NextSeq,
		Change: func(ctx context.Context, on *stream.Conn, payload []byte, seq byte) (*session.Client, error) {
			ctx, cancel := context.WithTimeout(ctx, p.options.LoginTimeout)
			defer cancel()
			before := *c
			before.Stream = on
			after, err := before.ChangeUser(ctx, &p.login, payload, seq)
			if err != nil {
				return nil, err
			}
			if err := p.sessions.admit(c.ConnectionID, after.User, p.account(after.User).MaxConnections); err != nil {
				p.dismiss(after, err)
				return nil, err
			}
			return p.client(after), nil
		},
	}
}

// allowance returns the time limits of a user's sessions.
func (p *Proxy) allowance(user string) interrupt.Allowance {
	may := interrupt.Allowance{Statement: p.options.StatementTimeout, Idle: p.options.IdleTimeout}
	if own := p.account(user).StatementTimeout; own != nil {
		may.Statement = *own
	}
	return may
}

// turnAway sends an unauthenticated client the error that there is no place for it, and closes the connection.
func (p *Proxy) turnAway(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	packet, _ := wire.AppendERR(nil, 0, p.tooMany(), mysql.CLIENT_PROTOCOL_41)
	_, _ = conn.Write(packet)
}

func (p *Proxy) tooMany() *mysql.MyError {
	return &mysql.MyError{
		Code: mysql.ER_CON_COUNT_ERROR, State: "08004",
		Message: fmt.Sprintf("Too many connections: locus serves %d clients at once (proxy.max_connections)", p.options.MaxConnections),
	}
}
