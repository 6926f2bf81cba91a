package session

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/fence"
	"locus/proxy/interrupt"
	"locus/proxy/kept"
	"locus/proxy/observe"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/stamp"
	"locus/proxy/stream"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/stmt"
)

// Client is a connection that has logged in.
type Client struct {
	Stream       *stream.Conn
	ID           uint32
	User         string
	Database     string
	Capabilities uint32
	Extended     uint32 // MariaDB's own capabilities
	// Charset and Collation are the client's choice at login.
	Charset, Collation string
	// NextSeq is the sequence number of the OK that ends the login.
	NextSeq byte
	// Change conducts COM_CHANGE_USER on the session's stream, and returns the client that the session serves from then on. After
	// an error the stream is closed, and the client has been notified.
	Change func(ctx context.Context, on *stream.Conn, payload []byte, seq byte) (*Client, error)
}

// Session serves one client. Everything belongs to the goroutine of Serve, except methods that are documented as safe for
// concurrent use.
type Session struct {
	*Services
	ctx    context.Context
	client reply.Client
	id     uint32
	user   string
	change func(ctx context.Context, on *stream.Conn, payload []byte, seq byte) (*Client, error)

	initial      *backend.Settings // the settings after the login, which COM_RESET_CONNECTION restores
	vars         sysvars.State
	cellVariable func(name string) stmt.Value // vars.UserValue
	computedCell func(text string) stmt.Value // cellExpression
	cells        cellExpressions
	conns        *txn.Connections
	eval         *sysvars.Evaluator
	engine       *exec.Engine
	share        *kept.Share
	kept         *kept.Statements
	behind       []byte // the text after the current statement of the same command, from its semicolon on

	*work // the memory of the current command; nil between commands

	accountFrom *snapshot.Snapshot // the snapshot from which the engine's account was taken

	interrupts *interrupt.Handle
	last       bool // the current command may be the session's last, so that its answer is held back
	gate       *fence.Gate
	held       stamp.Held  // the numbers that the current command holds
	defining   atomic.Bool // a definition is running
	observer   *observe.Session
}

// New returns the session of a client that has logged in.
func New(ctx context.Context, services *Services, c *Client) *Session {
	s := &Session{
		Services: services, ctx: ctx, client: reply.Client{Stream: c.Stream}, id: c.ID,
	}
	s.share = kept.NewShare(services.Memory, services.MaxStatement)
	s.kept = kept.NewStatements(s.share, services.MaxStatement, &services.Counts.Prepared)
	s.interrupts = interrupt.New(ctx, c.Stream, s.flavor)
	s.vars = sysvars.New(s.flavor)
	s.gate = fence.New(&services.Fencing, func() *router.Map { return s.Snapshot().Map })
	s.client.Final = s.finalEnding
	now := func() *snapshot.Snapshot { return services.Snapshot() }
	reported := observe.Services{Meter: services.Meter, Tracer: services.Tracer, Log: services.Log}
	s.observer = observe.New(reported, c.ID, c.Stream.NetConn().RemoteAddr().String(), &s.vars, &s.client, now)
	s.conns = txn.New(&services.Services, txn.Environment{
		ID: c.ID, Context: ctx, Client: choices{&s.vars, &s.client, s.flavor}, Interrupts: interrupts{s.interrupts}, Observer: s.observer,
	})
	var numbers stamp.Numbers
	if services.Numbers != nil {
		s.held.Numbers, numbers = services.Numbers, &s.held
	}
	s.engine = exec.New(exec.Config{
		ID: c.ID, Context: ctx, Current: now, Health: s.health, Tally: &services.Counts.Tally, Log: services.Log,
		Conns: s.conns, Vars: &s.vars, Share: s.share, Client: &s.client, Gate: s.gate, Observer: s.observer,
		Interrupts: s.interrupts, Mirror: services.Mirror, Unlisted: services.Unlisted,
		Issuers: exec.Issuers{IDs: services.IDs, Numbers: numbers, Generators: services.Generators, Ring: services.Ring},
	})
	s.eval = sysvars.NewEvaluator(&s.vars, exec.FirstShard{Engine: s.engine, Plan: s.planQuery})
	s.cellVariable, s.computedCell = s.vars.UserValue, s.cellExpression
	s.identify(c)
	return s
}

// Serve answers commands until the client disconnects, which is not an error. It first ends the login with an OK, or with an
// error if the login's database can't be used.
func (s *Session) Serve(database string) error {
	defer s.leave()
	s.acquireWork()
	err := s.welcome(database)
	s.releaseWork()
	if err != nil {
		if errors.Is(err, errQuit) {
			return nil
		}
		return err
	}
	for err == nil && !s.endsDrained() {
		err = s.next()
	}
	if errors.Is(err, errQuit) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

var errQuit = errors.New("the client said goodbye")

// leave releases everything that the session holds. An open transaction is rolled back.
func (s *Session) leave() {
	s.kept.Reset()
	s.share.End()
	s.conns.Reset()
	s.interrupts.Leave()
	_ = s.client.Stream.Close()
}

// next serves one command.
func (s *Session) next() error {
	if s.interrupts.MustEnd() {
		return errQuit
	}
	if awake, err := s.awaitCommand(); !awake {
		return err
	}
	payload, seq, err := s.client.Stream.Payload()
	s.acquireWork()
	defer s.releaseWork()
	if err != nil {
		return s.refuseUnreadable(err)
	}
	return s.serve(payload, seq)
}

// serve answers a command. It is separate from next, because Go makes deferred calls cheap only in a function with few of
// them and few returns.
func (s *Session) serve(payload []byte, seq byte) error {
	defer func() { s.client.Stream.Done() }() // the stream that is the session's after the command
	if err := s.checkOrder(payload, seq); err != nil {
		return err
	}
	s.client.Seq = seq + 1
	if len(payload) == 0 {
		return s.writeError(unknownCommand())
	}
	if s.interrupts.Begin() {
		s.holdBack(payload[0])
	}
	s.observer.Begin(payload)
	defer s.endCommand()
	return s.dispatch(payload[0], payload)
}

// endCommand ends a command.
func (s *Session) endCommand() {
	s.observer.End()
	s.interrupts.End(s.conns.Running())
	s.yieldIfPreempted()
	s.gate.Rest(s.conns.Running())
	s.held.Release()
}

// User returns the name of the logged-in user. It is safe for concurrent use.
func (s *Session) User() string { return s.observer.User() }

// Process describes the session. The duration of its command is measured by the watcher, because a command may end without
// reading the clock. Process is safe for concurrent use.
func (s *Session) Process(now time.Time) sysvars.Process {
	return s.observer.Process(s.interrupts.Elapsed(now), s.interrupts.Thread(s.Snapshot().Catalog.First()))
}

// Interrupts returns the handle by which other goroutines end the session's work. It is safe for concurrent use.
func (s *Session) Interrupts() *interrupt.Handle { return s.interrupts }
