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

// Services receive the records of all sessions.
type Services struct {
	// Meter counts statements by digest and by gene, and the outcomes of those on moving genes.
	Meter *meter.Meter
	// Tracer decides which statements are traced. It is nil if none are.
	Tracer *trace.Tracer
	Log    *slog.Logger
}

// Session records one session's activity. Only the session's goroutine uses it, except for Process and User.
type Session struct {
	services Services
	id       uint32
	host     string // the client's host with its port
	vars     *sysvars.State
	client   *reply.Client
	now      func() *snapshot.Snapshot
	activity activity

	*Notes
}

// New returns the record of an idle session. vars and client are the session's own. now returns the current snapshot.
func New(services Services, id uint32, host string, vars *sysvars.State, client *reply.Client, now func() *snapshot.Snapshot) *Session {
	return &Session{services: services, id: id, host: host, vars: vars, client: client, now: now}
}

// Notes describes the current command. It is nil between commands.
type Notes struct {
	Failed bool // the statement ended with an error

	began  time.Duration      // since epoch
	waited time.Duration      // time spent waiting for connections
	held   time.Duration      // time for which the statement was paused while genes changed hands
	shards []router.ShardName // the shards to which it was sent
	plan   *plan.Facts        // nil if it was not planned
	code   uint16             // code of the error sent to the client
	// gathered is true if rows of the shards were gathered on one of them.
	gathered      bool
	copied, keyed uint64           // gathered rows, and those of them that were read by keys
	trace         *trace.Statement // nil if it is not traced
	digest        []byte           // buffer for a digest's text
}

// Size returns the size of the notes' memory in bytes.
func (n *Notes) Size() int { return cap(n.digest) }

// epoch is the reference point of timestamps. Reading only the monotonic clock costs half as much as time.Now.
var epoch = meter.Epoch

// DigestText is the longest statement text in bytes that is kept and logged.
const DigestText = 500

// Begin records the start of a command.
func (s *Session) Begin(command []byte) {
	s.activity.begin(command)
	s.BeginStatement()
}

// BeginStatement records the start of a statement: the command's first, or another one of the same text.
func (s *Session) BeginStatement() {
	*s.Notes = Notes{began: time.Since(epoch), shards: s.shards[:0], digest: s.digest}
}

// End records the end of the command.
func (s *Session) End() {
	if s.code != 0 {
		s.services.Meter.Codes.Add(s.code)
	}
	s.activity.end()
}

// Waited adds time spent waiting for a connection.
func (s *Session) Waited(d time.Duration) { s.waited += d }

// Held adds time for which the statement was paused while its genes changed hands.
func (s *Session) Held(d time.Duration) { s.held += d }

// Trace returns the statement's trace, or nil if the statement is not traced.
func (s *Session) Trace() *trace.Statement { return s.trace }

// Queried records that a shard is queried on behalf of the statement.
func (s *Session) Queried(shard router.ShardName) {
	if !slices.Contains(s.shards, shard) {
		s.shards = append(s.shards, shard)
	}
}

// Gathers records that the rows of the shards are gathered on one of them.
func (s *Session) Gathers() { s.gathered = true }

// GatheredRows adds rows that were gathered. byKey is the number of those that were read by the keys of other rows.
func (s *Session) GatheredRows(rows, byKey int64) {
	s.copied, s.keyed = s.copied+uint64(rows), s.keyed+uint64(byKey)
}

// Sent records that a part of the statement is sent on a connection.
func (s *Session) Sent(l txn.Lease) {
	s.Queried(l.Shard)
	if t := s.trace; t != nil {
		t.Sent(string(l.Shard), l.Conn.Stream().NetConn().RemoteAddr().String())
	}
}

// Answered records the end of a shard's relayed answer.
func (s *Session) Answered(shard router.ShardName) {
	if t := s.trace; t != nil {
		code, _ := s.client.Scanner.ErrCode()
		t.Answered(string(shard), uint64(s.client.Scanner.Rows()), code)
	}
}

// Relayed records that the client got a shard's answer unchanged.
func (s *Session) Relayed() { s.code, s.Failed = s.client.Scanner.ErrCode() }

// ErrorSent records the code of an error that was sent to the client.
func (s *Session) ErrorSent(code uint16) {
	s.code = code
	if t := s.trace; t != nil {
		t.Code = code
	}
}
