package interrupt

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// insistPause is how long shards are left alone after they were asked to end what they run.
const insistPause = 200 * time.Millisecond

// Cancel ends the statement of a command that is under way: number is the command's as [Handle.Command] gave it, 0 for whichever
// it is. It tells false if there is nothing that could be ended: no command, another one, or a commit; and for one that was
// cancelled before. The shards are asked to end what they run, which takes as long as ctx at most. An error says which of them
// could not be: then some reasons cut the command off.
//
// A server forgets a kill of a statement that it has not begun to read. Whoever needs the end cancels again until it has come:
// then the shards are asked again.
func (h *Handle) Cancel(ctx context.Context, reason Reason, number uint64) (bool, error) {
	return h.end(ctx, reason, number, reason.fallback())
}

// Kill ends the session: a statement under way is cancelled, and its client is told so and cut off; an open transaction is rolled
// back.
func (h *Handle) Kill(ctx context.Context) error {
	h.KillSelf()
	first, err := h.end(ctx, Killed, 0, endSession)
	if err == nil && !first && h.look().phase() != finishing {
		_ = h.client.Close() // a command that has just begun is found by the watcher
	}
	return err
}

// KillSelf has the session end before its next command, amid a transaction too.
func (h *Handle) KillSelf() { h.set(ending | killed) }

// Over tells whether the session ends rather than wait for a command.
func (h *Handle) Over() bool {
	w := h.look()
	return w.has(ending) && (w.has(killed) || !w.has(open))
}

// Abort ends the session now. What is under way fails, a commit too, and the shards go on with it.
func (h *Handle) Abort() {
	h.set(ending)
	h.mu.Lock()
	h.cut = true
	h.interrupt()
	h.mu.Unlock()
	_ = h.client.Close()
}

// end is Cancel with what is done if a shard can't be asked.
func (h *Handle) end(ctx context.Context, reason Reason, number uint64, otherwise fallback) (first bool, err error) {
	conns, first := h.cancelling(reason, number)
	if len(conns) == 0 {
		return first, nil
	}
	err = kill(ctx, conns)
	if h.killed(err, otherwise) {
		_ = h.client.Close()
	}
	return first, err
}

// cancelling marks the command as cancelled, and its connections as killed: those are to be asked to end what they run. It tells
// whether it was the first to.
func (h *Handle) cancelling(reason Reason, number uint64) (conns []awaited, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	there, first := h.claim(number)
	if !there {
		return nil, false
	}
	now := time.Now()
	switch {
	case first:
		h.reason = reason
		h.cancel(reason.Error(h.flavor()))
	case !h.Cancelled(), h.shielded, now.Sub(h.asked) < insistPause:
		return nil, false
	}
	h.asked = now
	if len(h.conns) == 0 {
		return nil, first
	}
	h.killing++
	for i := range h.conns {
		h.conns[i].killed = true
	}
	return slices.Clone(h.conns), first
}

// kill has the shards end what runs on the connections, all at once.
func kill(ctx context.Context, conns []awaited) error {
	errs := make([]error, len(conns))
	var tasks sync.WaitGroup
	for i, c := range conns {
		tasks.Go(func() { errs[i] = c.pool.KillQuery(ctx, c.conn.ThreadID()) })
	}
	tasks.Wait()
	return errors.Join(errs...)
}

// claim takes a running command to its cancellation: number is which, 0 any. It tells whether that is the session's command now,
// and whether it was running.
func (h *Handle) claim(number uint64) (there, first bool) {
	for {
		w := h.look()
		if number != 0 && number != w.number() {
			return false, false
		}
		if w.phase() != running {
			return true, false
		}
		if h.word.CompareAndSwap(uint64(w), uint64(w-running+cancelled)) {
			return true, true
		}
	}
}

// killed ends a kill, and with an error does what is to be done otherwise, at one go: no other command can have begun. It tells
// whether the client's connection is to be closed.
func (h *Handle) killed(err error, otherwise fallback) (closes bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.look().has(killed) {
		otherwise = endSession
	}
	if err != nil && otherwise != leave && h.Cancelled() && !h.shielded { // else it has ended by itself
		h.interrupt()
		if closes = otherwise == endSession; closes {
			h.set(ending)
			h.cut = true
		}
	}
	if h.killing--; h.killing == 0 {
		h.calm.Broadcast()
	}
	return closes
}
