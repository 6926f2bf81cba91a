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
)

// Client is a connection that has logged in.
type Client struct {
	Stream       *stream.Conn
	ID           uint32
	User         string
	Database     string
	Capabilities uint32
	Extended     uint32 // of MariaDB's own capabilities
	// Charset and Collation are the client's choice at login.
	Charset, Collation string
	// NextSeq numbers the OK that ends the login.
	NextSeq byte
	// Change conducts COM_CHANGE_USER on the stream that the session has, and
	// gives who the client is from then on. After an error the stream is closed;
	// the client knows why.
	Change func(ctx context.Context, on *stream.Conn, payload []byte, seq byte) (*Client, error)
}

// Session is one client's. Everything but what others see and end of it belongs to
// the goroutine of Serve.
type Session struct {
	*Services
	ctx    context.Context
	client reply.Client
	id     uint32
	user   string
	change func(ctx context.Context, on *stream.Conn, payload []byte, seq byte) (*Client, error)

	initial *backend.Settings // what COM_RESET_CONNECTION goes back to
	vars    sysvars.State
	conns   *txn.Connections
	env     exec.Environment
	share   *kept.Share
	kept    *kept.Statements
	behind  []byte // what follows the statement in the same text, from its semicolon on

	*work // of the command under way, nil between commands

	under   *snapshot.Snapshot // the snapshot that account is of
	account *snapshot.Account  // never nil

	interrupts *interrupt.Handle
	last       bool // the command under way may be the session's last: its answer is held back
	gate       *fence.Gate
	held       stamp.Held  // the numbers that the command under way holds
	defining   atomic.Bool // a definition is under way
	observer   *observe.Session
}

// New makes the session of a client that has logged in.
func New(ctx context.Context, services *Services, c *Client) *Session {
	s := &Session{
		Services: services, ctx: ctx, client: reply.Client{Stream: c.Stream}, id: c.ID,
	}
	s.share = kept.NewShare(services.Memory, services.MaxStatement)
	s.kept = kept.NewStatements(s.share, services.MaxStatement, &services.Counts.Prepared)
	s.interrupts = interrupt.New(ctx, c.Stream, s.flavor)
	s.vars = sysvars.New(exec.FirstShard{Environment: &s.env})
	s.gate = fence.New(&services.Fencing, func() *router.Map { return s.Snapshot().Map })
	s.client.Final = s.finalEnding
	now := func() *snapshot.Snapshot { return services.Snapshot() }
	told := observe.Services{Meter: services.Meter, Tracer: services.Tracer, Log: services.Log}
	s.observer = observe.New(told, c.ID, c.Stream.NetConn().RemoteAddr().String(), &s.vars, &s.client, now)
	var numbers stamp.Numbers
	if services.Numbers != nil {
		s.held.Numbers, numbers = services.Numbers, &s.held
	}
	s.env.Init(exec.Environment{
		ID: c.ID, Context: ctx, Snapshot: now, Health: s.health, Tally: &services.Counts.Tally, Log: services.Log,
		Vars: &s.vars, Share: s.share, Client: &s.client, Gate: s.gate, Observer: s.observer,
		Issuers: exec.Issuers{IDs: services.IDs, Numbers: numbers, Generators: services.Generators, Ring: services.Ring},
	})
	s.conns = txn.New(&services.Services, txn.Environment{ID: c.ID, Context: ctx, Client: &s.env, Interrupts: interrupts{s.interrupts}, Observer: s.observer})
	s.env.Conns = s.conns
	s.identify(c)
	return s
}

// Serve answers commands until the client leaves, which is no error. It ends
// the login with an OK, or an error if the database it asked for can't be used.
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

// leave gives back what the session holds; an open transaction is rolled back.
func (s *Session) leave() {
	s.kept.Reset()
	s.share.End()
	s.conns.Reset()
	s.interrupts.Leave()
	_ = s.client.Stream.Close()
}

// next serves one command.
func (s *Session) next() error {
	if s.interrupts.Over() {
		return errQuit
	}
	if awake, err := s.awaitCommand(); !awake {
		return err
	}
	payload, seq, err := s.client.Stream.Payload()
	s.acquireWork()
	defer s.releaseWork()
	if err != nil {
		return s.unreadable(err)
	}
	return s.serve(payload, seq)
}

// serve answers a command. Go runs the deferred calls of this and of next for next
// to nothing only as long as neither has many of them and many returns.
func (s *Session) serve(payload []byte, seq byte) error {
	defer func() { s.client.Stream.Done() }() // of the stream that the command leaves
	if err := s.ordered(payload, seq); err != nil {
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
	defer s.rest()
	return s.dispatch(payload[0], payload)
}

// rest is the end of a command.
func (s *Session) rest() {
	s.observer.End()
	s.interrupts.End(s.conns.Running())
	s.yieldIfPreempted()
	s.gate.Rest(s.conns.Running())
	s.held.Release()
}

// User is who has logged in. It may be called from any goroutine.
func (s *Session) User() string { return s.observer.User() }

// Process describes the session. It may be called from any goroutine. How long it has been doing what it does is what
// the watcher has seen, for a command may end without a look at the clock.
func (s *Session) Process(now time.Time) sysvars.Process {
	return s.observer.Process(s.interrupts.Took(now), s.interrupts.Thread(s.Snapshot().Catalog.First()))
}

// Interrupts is how others end what the session does. It may be called from any goroutine.
func (s *Session) Interrupts() *interrupt.Handle { return s.interrupts }
