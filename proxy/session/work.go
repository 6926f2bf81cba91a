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

// work is the memory that a command needs while it is served. A session that waits for its client has none, because there may be
// ten thousand such sessions.
type work struct {
	answer    reply.Buffers
	exec      exec.Buffers
	notes     observe.Notes
	lexed     stmt.Lexed
	args      stmt.Args
	values    plan.Values
	bound     []stmt.Value
	params    []wire.Param
	types     []byte // the types of params, if they came with names
	execution exec.Execution
}

// idleWork contains the memory that sessions without a command have released.
var idleWork = sync.Pool{New: func() any { return new(work) }}

// acquireWork assigns memory for a command to the session.
func (s *Session) acquireWork() {
	s.work = idleWork.Get().(*work)
	s.client.Buffers, s.engine.Buffers, s.observer.Notes = &s.work.answer, &s.work.exec, &s.work.notes
}

// releaseWork releases that memory. Memory that only a long statement needs is not reused.
func (s *Session) releaseWork() {
	w := s.work
	s.work, s.client.Buffers, s.engine.Buffers, s.observer.Notes = nil, nil, nil, nil
	if w.long() {
		return
	}
	w.exec.Release()
	w.lexed.Planned()
	w.values, w.execution = plan.Values{}, exec.Execution{}
	clear(w.bound[:cap(w.bound)])
	clear(w.params[:cap(w.params)])
	idleWork.Put(w)
}

// keepBuffer is the size in bytes of the largest buffer that is kept for other commands.
const keepBuffer = 64 << 10

// long reports whether the memory has grown beyond the needs of most commands.
func (w *work) long() bool {
	const literals = keepBuffer / 64
	return cap(w.answer.Out) > keepBuffer || w.exec.Long(keepBuffer, literals) || w.notes.Size() > keepBuffer ||
		cap(w.lexed.Key) > keepBuffer || cap(w.lexed.Literals) > literals || cap(w.lexed.Cells) > literals ||
		cap(w.bound) > literals || cap(w.params) > literals
}
