package interrupt

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// insistPause is the shortest interval between two requests to shards to end a statement.
const insistPause = 200 * time.Millisecond

// Cancel ends the statement of the command with the given number, as returned by [Handle.Command], or of any command if number is
// 0. It returns false if nothing can be ended, because no such command runs or it is committing, and also if the command was
// already cancelled. Cancel asks the shards to end what they run, until ctx ends at the latest. The error names shards that could
// not be asked; for some reasons the command is then cut off.
//
// A server forgets a kill of a statement that it has not started to read. So a caller that needs the end repeats Cancel until it
// comes, and the shards are asked again.
func (h *Handle) Cancel(ctx context.Context, reason Reason, number uint64) (bool, error) {
	return h.end(ctx, reason, number, reason.fallback())
}

// farewell is how long the client of a killed session may leave the end of its answer unread.
const farewell = time.Second

// Kill ends the session. A running statement is cancelled, and the client is informed and disconnected. An open transaction is
// rolled back.
func (h *Handle) Kill(ctx context.Context) error {
	h.KillSelf()
	h.client.GiveUp(farewell) // the session may be writing to a client that reads nothing
	first, err := h.end(ctx, Killed, 0, endSession)
	if err == nil && !first && h.look().phase() != finishing {
		_ = h.client.Close() // the watcher finds a command that has just begun
	}
	return err
}

// KillSelf makes the session end before its next command, even within a transaction.
func (h *Handle) KillSelf() { h.set(ending | killed) }

// MustEnd reports whether the session must end instead of waiting for a command.
func (h *Handle) MustEnd() bool {
	w := h.look()
	return w.has(ending) && (w.has(killed) || !w.has(open))
}

// Abort ends the session now. Running work fails, including a commit, and the shards finish it on their own.
func (h *Handle) Abort() {
	h.set(ending)
	h.mu.Lock()
	h.cut = true
	h.interrupt()
	h.mu.Unlock()
	_ = h.client.Close()
}

// end is Cancel, with the action for a shard that can't be asked.
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

// cancelling marks the command as cancelled and its connections as killed. It returns the connections whose work must be ended,
// and whether this call was the first.
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

// kill makes the shards end the statements on the connections, concurrently.
func kill(ctx context.Context, conns []awaited) error {
	errs := make([]error, len(conns))
	var tasks sync.WaitGroup
	for i, c := range conns {
		tasks.Go(func() { errs[i] = c.pool.KillQuery(ctx, c.conn.ThreadID()) })
	}
	tasks.Wait()
	return errors.Join(errs...)
}

// claim changes a running command's phase to cancelled. number is the command, or 0 for any. It returns whether that is the
// session's current command, and whether it was running.
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

// killed ends a kill. After an error it applies otherwise in the same critical section, so that no other command can have begun.
// It returns whether to close the client's connection.
func (h *Handle) killed(err error, otherwise fallback) (closes bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.look().has(killed) {
		otherwise = endSession
	}
	if err != nil && otherwise != leave && h.Cancelled() && !h.shielded { // otherwise it ended by itself
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
