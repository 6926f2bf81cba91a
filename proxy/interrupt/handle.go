package interrupt

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"locus/proxy/flavor"
)

// Client is the client's connection.
type Client interface {
	// Fill waits until there is more to read.
	Fill() error
	SetReadDeadline(t time.Time) error
	// PeerGone reports whether the client has closed the connection. It doesn't block.
	PeerGone() bool
	// GiveUp makes writes fail once the client has read nothing for d. It doesn't block.
	GiveUp(d time.Duration)
	Close() error
}

// Handle controls one session from outside. Its methods are safe for concurrent use, except those documented for the session only.
type Handle struct {
	client  Client
	flavor  func() flavor.Flavor
	session context.Context

	word atomic.Uint64 // a word; only the session begins and ends commands

	mu     sync.Mutex // guards the fields below; never held across I/O
	calm   sync.Cond  // condition on mu that killing is 0
	conns  []awaited
	cut    bool // the session was cut off, so further connections are interrupted at once
	reason Reason
	asked  time.Time // when the shards were last asked to end a statement
	// killing counts the kills in progress, during which no connection is removed.
	killing  int
	shielded bool // the command is cancelled, and the current statement must not be cut off
	wanted   uint64
	sitting  bool // the session waits for its client within a transaction
	woken    bool // that wait must end
	deadline deadline
	patient  uint64        // the command without a time limit
	idleTime time.Duration // the session's own idle limit between commands; 0 for the general one
	seen     sight
	cancel   context.CancelCauseFunc // cancels waits

	waits context.Context // used by the session's goroutine; replaced after a cancellation
}

// New returns the handle of a session that lasts as long as ctx. f returns the flavor of its errors.
func New(ctx context.Context, client Client, f func() flavor.Flavor) *Handle {
	h := &Handle{client: client, flavor: f, session: ctx}
	h.calm.L = &h.mu
	h.renew()
	return h
}

// Waits returns a context that ends when the current command is cancelled. Its cause is the error for the client. The session uses
// it for waits other than for a shard's answer: for a pool, an ID or the end of a fence. Only the session may call it.
func (h *Handle) Waits() context.Context { return h.waits }

// renew replaces waits.
func (h *Handle) renew() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits, h.cancel = context.WithCancelCause(h.session)
}

// Begin begins a command. It reports whether the session should end with it if possible. Only the session may call it.
func (h *Handle) Begin() (last bool) {
	return word(h.word.Add(uint64(command | running))).has(draining)
}

// End ends the command. running reports whether a transaction remains open. After a cancellation End makes the session usable
// again, because a late kill would hit the next statement on the connections that the session keeps. Only the session may call it.
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

// RolledBack records that the transaction reported to End no longer exists. Only the session may call it.
func (h *Handle) RolledBack() { h.word.And(^uint64(open)) }

// Leave ends everything that waits for the session. Only the session may call it, as its last call.
func (h *Handle) Leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancel(nil)
}

// Cancelled reports whether the current command must end.
func (h *Handle) Cancelled() bool { return h.look().phase() == cancelled }

// Reason returns why the command was cancelled, or 0 if it wasn't.
func (h *Handle) Reason() Reason {
	if !h.Cancelled() {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reason
}

// Unwanted returns why no further statement may be sent, or nil if it may.
func (h *Handle) Unwanted() error {
	if !h.Cancelled() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unwanted()
}

// unwanted is Unwanted for a caller that holds mu.
func (h *Handle) unwanted() error {
	if !h.Cancelled() || h.shielded {
		return nil
	}
	return h.reason.Error(h.flavor())
}
