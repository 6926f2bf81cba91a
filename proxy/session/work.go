package session

import (
	"sync"

	"locus/proxy/exec"
	"locus/proxy/observe"
	"locus/proxy/reply"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// work is the memory that a command needs while it is served. Sessions that
// wait for their client have none: there may be ten thousand of them.
type work struct {
	answer reply.Buffers
	exec   exec.Buffers
	notes  observe.Notes
	lexed  stmt.Lexed
	args   stmt.Args
	values plan.Values
	bound  []stmt.Value
	params []wire.Param
	types  []byte // of params, where they came with names
	route  plan.Route
}

// idleWork is what sessions without a command share.
var idleWork = sync.Pool{New: func() any { return new(work) }}

// acquireWork gives the session memory for a command.
func (s *Session) acquireWork() {
	s.work = idleWork.Get().(*work)
	s.client.Buffers, s.env.Buffers, s.observer.Notes = &s.work.answer, &s.work.exec, &s.work.notes
}

// releaseWork gives it back, but for what only a long statement needs.
func (s *Session) releaseWork() {
	w := s.work
	s.work, s.client.Buffers, s.env.Buffers, s.observer.Notes = nil, nil, nil, nil
	if w.long() {
		return
	}
	w.exec.Release()
	w.lexed.Planned()
	w.values = plan.Values{}
	clear(w.bound[:cap(w.bound)])
	clear(w.params[:cap(w.params)])
	idleWork.Put(w)
}

// keepBuffer is the largest buffer, in bytes, that is kept for other commands.
const keepBuffer = 64 << 10

// long tells memory that grew beyond what most commands need.
func (w *work) long() bool {
	const literals = keepBuffer / 64
	return cap(w.answer.Out) > keepBuffer || w.exec.Long(keepBuffer, literals) || w.notes.Size() > keepBuffer ||
		cap(w.lexed.Key) > keepBuffer || cap(w.lexed.Literals) > literals || cap(w.lexed.Cells) > literals ||
		cap(w.bound) > literals || cap(w.params) > literals
}
