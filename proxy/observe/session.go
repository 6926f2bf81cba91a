package observe

import (
	"log/slog"
	"slices"
	"time"

	"locus/proxy/meter"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/sysvars"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/plan"
)

// Services are who is told of what all sessions do.
type Services struct {
	// Meter counts statements by digest and by gene, and how those on moving genes fare.
	Meter *meter.Meter
	// Tracer decides which statements are traced; nil: none is.
	Tracer *trace.Tracer
	Log    *slog.Logger
}

// Session is what is noted of one. It belongs to the session's goroutine, but for Process and User.
type Session struct {
	services Services
	id       uint32
	host     string // of the client, with its port
	vars     *sysvars.State
	client   *reply.Client
	now      func() *snapshot.Snapshot
	activity activity

	*Notes
}

// New makes those of a session that does nothing yet. Vars and client are the session's own.
func New(services Services, id uint32, host string, vars *sysvars.State, client *reply.Client, now func() *snapshot.Snapshot) *Session {
	return &Session{services: services, id: id, host: host, vars: vars, client: client, now: now}
}

// Notes are of the command under way. They are nil between commands.
type Notes struct {
	Failed bool // the statement has ended with an error

	began  time.Duration      // since epoch
	waited time.Duration      // for connections
	held   time.Duration      // while genes changed hands
	shards []router.ShardName // that it was sent to
	plan   *plan.Facts        // nil: it was not planned
	code   uint16             // of the error that the client got
	trace  *trace.Statement   // nil: it is not traced
	digest []byte             // the text of one
}

// Size is how much memory they have, in bytes.
func (n *Notes) Size() int { return cap(n.digest) }

// epoch is what moments are counted from: to read the clock that tells no date costs
// half as much.
var epoch = meter.Epoch

// DigestText bounds what is kept and logged of a statement, in bytes.
const DigestText = 500

// Begin tells that a command begins.
func (s *Session) Begin(command []byte) {
	s.activity.begin(command)
	s.Next()
}

// Next tells that a statement begins: the command's, or one more of the same text.
func (s *Session) Next() {
	*s.Notes = Notes{began: time.Since(epoch), shards: s.shards[:0], digest: s.digest}
}

// End tells that the command has ended.
func (s *Session) End() {
	if s.code != 0 {
		s.services.Meter.Codes.Add(s.code)
	}
	s.activity.end()
}

// Waited tells for how long a connection was waited for.
func (s *Session) Waited(d time.Duration) { s.waited += d }

// Held tells for how long genes that the statement concerns changed hands.
func (s *Session) Held(d time.Duration) { s.held += d }

// Trace is the statement's; nil: it is not traced.
func (s *Session) Trace() *trace.Statement { return s.trace }

// Asked tells that a shard is asked something on behalf of the statement.
func (s *Session) Asked(shard router.ShardName) {
	if !slices.Contains(s.shards, shard) {
		s.shards = append(s.shards, shard)
	}
}

// Sent tells that a connection is sent a part of the statement.
func (s *Session) Sent(l txn.Lease) {
	s.Asked(l.Shard)
	if t := s.trace; t != nil {
		t.Sent(string(l.Shard), l.Conn.Stream().NetConn().RemoteAddr().String())
	}
}

// Answered tells that the answer of a shard which was relayed is over.
func (s *Session) Answered(shard router.ShardName) {
	if t := s.trace; t != nil {
		code, _ := s.client.Scanner.ErrCode()
		t.Answered(string(shard), uint64(s.client.Scanner.Rows()), code)
	}
}

// Relayed tells that the client has an answer as a shard gave it.
func (s *Session) Relayed() { s.code, s.Failed = s.client.Scanner.ErrCode() }

// Told tells the number of an error that the client was told.
func (s *Session) Told(code uint16) {
	s.code = code
	if t := s.trace; t != nil {
		t.Code = code
	}
}
