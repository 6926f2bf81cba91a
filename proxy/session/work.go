package session

import (
	"sync"

	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/proxy/stamp"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// work is the memory that a command needs while it is served. Sessions that
// wait for their client have none: there may be ten thousand of them.
type work struct {
	answer  reply.Buffers
	command []byte // a changed text
	lexed   stmt.Lexed
	args    stmt.Args
	values  plan.Values
	bound   []stmt.Value
	params  []wire.Param
	// executed is what a cursor was asked for, on its connection.
	executed *backend.Statement
	types    []byte // of params, where they came with names
	route    plan.Route
	stamper  stamp.Stamper
	timing   timing
	digest   []byte    // the text of one
	insert   inserting // the stamped INSERT under way
	// generated are parameters of a spliced statement, integers the bytes of
	// those that were generated.
	generated []wire.Param
	integers  []byte
}

// idleWork is what sessions without a command share.
var idleWork = sync.Pool{New: func() any { return new(work) }}

// takeUp gives the session memory for a command.
func (s *Session) takeUp() {
	s.work = idleWork.Get().(*work)
	s.client.Buffers = &s.work.answer
}

// putDown gives it back, but for what only a long statement needs.
func (s *Session) putDown() {
	w := s.work
	s.work, s.client.Buffers = nil, nil
	if w.long() {
		return
	}
	w.stamper.Release()
	w.executed = nil
	w.lexed.Planned()
	w.values, w.insert = plan.Values{}, inserting{}
	clear(w.bound[:cap(w.bound)])
	clear(w.params[:cap(w.params)])
	clear(w.generated[:cap(w.generated)])
	idleWork.Put(w)
}

// keepBuffer is the largest buffer, in bytes, that is kept for other commands.
const keepBuffer = 64 << 10

// long tells memory that grew beyond what most commands need.
func (w *work) long() bool {
	const literals = keepBuffer / 64
	return cap(w.answer.Out) > keepBuffer || cap(w.command) > keepBuffer || cap(w.integers) > keepBuffer || cap(w.digest) > keepBuffer ||
		cap(w.lexed.Key) > keepBuffer || cap(w.lexed.Literals) > literals || cap(w.lexed.Cells) > literals ||
		cap(w.bound) > literals || cap(w.params) > literals || cap(w.generated) > literals
}
