package interrupt

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"locus/proxy/flavor"
)

// Client is the connection that commands come from.
type Client interface {
	// Fill waits until there is more to read.
	Fill() error
	SetReadDeadline(t time.Time) error
	// PeerGone tells whether the other end has closed it. It doesn't wait.
	PeerGone() bool
	Close() error
}

// Handle is a session's. Its methods may be called from any goroutine, but for those that say that they are the session's own.
type Handle struct {
	client  Client
	flavor  func() flavor.Flavor
	session context.Context

	word atomic.Uint64 // a word. The session alone begins and ends commands

	mu     sync.Mutex // never held across I/O; guards what follows
	calm   sync.Cond  // of mu: killing is 0
	conns  []awaited
	cut    bool // the session was cut off: every further connection is interrupted at once
	reason Reason
	asked  time.Time // when the shards were asked last to end what they run
	// killing counts the kills under way, during which no connection is taken out.
	killing  int
	shielded bool // the command is cancelled, and what runs now must not be cut off
	wanted   uint64
	sitting  bool // the session waits for its client in a transaction
	woken    bool // and is to look up from that
	deadline deadline
	patient  uint64        // the command that may run for as long as it takes
	idleTime time.Duration // of the session's own, between commands; 0: that of all
	seen     sight
	cancel   context.CancelCauseFunc // of waits

	waits context.Context // of the session's goroutine; replaced after a cancellation
}

// New makes the handle of a session that lasts as long as ctx. The flavor is that of its errors.
func New(ctx context.Context, client Client, f func() flavor.Flavor) *Handle {
	h := &Handle{client: client, flavor: f, session: ctx}
	h.calm.L = &h.mu
	h.renew()
	return h
}

// Waits ends when the command under way is cancelled, with what its client is told as the cause. The session waits by it for
// what is no answer of a shard: a place in a pool, an ID, the end of a fence. It is the session's own.
func (h *Handle) Waits() context.Context { return h.waits }

// renew makes waits anew.
func (h *Handle) renew() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits, h.cancel = context.WithCancelCause(h.session)
}

// Begin begins a command, and tells whether the session is to end with it if it can. It is the session's own.
func (h *Handle) Begin() (last bool) {
	return word(h.word.Add(uint64(command | running))).has(draining)
}

// End ends it; running: a transaction goes on. It makes the session usable after a cancellation: a kill that came too late for its
// statement would hit the next one on the connections that the session keeps. It is the session's own.
func (h *Handle) End(running bool) {
	var flags word
	if running {
		flags = open
	}
	if h.rest(flags).phase() == cancelled {
		h.absorb()
		h.renew()
	}
}

// RolledBack says that the transaction that End told of is none any more. It is the session's own.
func (h *Handle) RolledBack() { h.word.And(^uint64(open)) }

// Leave ends what waits for the session. It is the session's own, and the last.
func (h *Handle) Leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancel(nil)
}

// Cancelled tells whether the command under way is to end.
func (h *Handle) Cancelled() bool { return h.look().phase() == cancelled }

// Reason is why it is; 0: it isn't.
func (h *Handle) Reason() Reason {
	if !h.Cancelled() {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reason
}

// Unwanted is why a statement is not to be sent any more; nil: it is.
func (h *Handle) Unwanted() error {
	if !h.Cancelled() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unwanted()
}

// unwanted is Unwanted under mu.
func (h *Handle) unwanted() error {
	if !h.Cancelled() || h.shielded {
		return nil
	}
	return h.reason.Error(h.flavor())
}
