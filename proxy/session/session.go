package session

import (
	"context"
	"errors"
	"io"
	"net"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/session/fence"
	"locus/proxy/session/interrupt"
	"locus/proxy/session/kept"
	"locus/proxy/snapshot"
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
	ctx     context.Context
	client  reply.Client
	id      uint32
	user    string
	profile backend.Profile
	change  func(ctx context.Context, on *stream.Conn, payload []byte, seq byte) (*Client, error)

	initial *backend.Settings // what COM_RESET_CONNECTION goes back to
	vars    sysvars.State
	conns   *txn.Connections
	share   *kept.Share
	kept    *kept.Statements
	unkept  error // why what the last statement assigned could not be kept: the session ends

	failed bool   // the statement ended with an error
	behind []byte // what follows the statement in the same text, from its semicolon on

	*work                     // of the command under way, nil between commands
	insertEnding reply.Ending // endInsert, made once

	under   *snapshot.Snapshot // the snapshot that account is of
	account *snapshot.Account  // never nil

	replica bool        // the statement under way may be answered by one
	partial bool        // it does with the rows of the shards that are there,
	absent  exec.Absent // and these were not
	soon    txn.Mode    // txn.Soon or txn.Elsewhere while another shard could answer what is under way

	interrupts *interrupt.Handle
	last       bool // the command under way may be the session's last: its answer is held back
	gate       *fence.Gate
	activity   activity
	host       string // of the client, with its port
}

// New makes the session of a client that has logged in.
func New(ctx context.Context, services *Services, c *Client) *Session {
	s := &Session{
		Services: services, ctx: ctx, client: reply.Client{Stream: c.Stream}, id: c.ID,
	}
	s.share = kept.NewShare(services.Memory, services.MaxStatement)
	s.kept = kept.NewStatements(s.share, services.MaxStatement, &services.Counts.Prepared)
	s.interrupts = interrupt.New(ctx, c.Stream, s.flavor)
	s.vars = sysvars.New(firstShard{s})
	s.gate = fence.New(&services.Fencing, func() *router.Map { return s.Snapshot().Map })
	s.insertEnding, s.client.Final, s.absent.Lack = s.endInsert, s.interruption, s.lack
	s.host = c.Stream.NetConn().RemoteAddr().String()
	s.conns = txn.New(&services.Services, s.environment())
	s.identify(c)
	return s
}

// Serve answers commands until the client leaves, which is no error. It ends
// the login with an OK, or an error if the database it asked for can't be used.
func (s *Session) Serve(database string) error {
	defer s.leave()
	s.takeUp()
	err := s.welcome(database)
	s.putDown()
	if err != nil {
		if errors.Is(err, errQuit) {
			return nil
		}
		return err
	}
	for err == nil && !s.parting() {
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
	if awake, err := s.sit(); !awake {
		return err
	}
	payload, seq, err := s.client.Stream.Payload()
	s.takeUp()
	defer s.putDown()
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
	s.activity.begin(payload)
	s.timing.begin()
	defer s.rest()
	return s.dispatch(payload[0], payload)
}

// rest is the end of a command.
func (s *Session) rest() {
	s.countCode()
	s.activity.end()
	s.interrupts.End(s.conns.Running())
	s.giveWay()
	s.gate.Rest(s.conns.Running())
}

// User is who has logged in. It may be called from any goroutine.
func (s *Session) User() string {
	s.activity.mu.Lock()
	defer s.activity.mu.Unlock()
	return s.activity.user
}

// Interrupts is how others end what the session does. It may be called from any goroutine.
func (s *Session) Interrupts() *interrupt.Handle { return s.interrupts }
