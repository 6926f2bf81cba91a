package backend

import (
	"context"
	"errors"
	"time"
)

// Return gives back a borrowed connection. It goes to the borrower that has waited longest, or becomes idle.
// The state that the borrower's statements may have left decides how. After Nothing the connection is lent
// unchanged, after State it is reset first, and after Unknown it is closed. A connection that broke, was
// interrupted, is too old or belongs to a former target is closed too. A connection that is returned during an
// answer or a transaction would expose one session's data to another. That is a bug of the borrower: it is
// logged, and the connection is closed, which rolls back.
func (p *Pool) Return(c *Conn) {
	fault := c.fault()
	c.stays()
	c.stream.Release()
	c.lighten()
	now := time.Now()
	p.mu.Lock()
	if !c.lent {
		p.mu.Unlock()
		p.log.Error("connection given back twice", "thread", c.threadID)
		return
	}
	c.returned = now
	if fault == "" && c.Usable() && c.left&leftUnknown == 0 && p.keeps(c, now) {
		p.pass(c)
		return
	}
	p.mu.Unlock()
	if fault != "" {
		p.log.Error("connection returned too early and closed", "fault", fault, "thread", c.threadID)
	}
	p.Discard(c)
}

// lighten frees large buffers of a connection that is not lent, because there may be thousands of such connections. A reset
// frees the rest.
func (c *Conn) lighten() {
	if c.prepared.tooLong() || c.settings != nil && c.settings.bare() != nil && c.settings.Size() > mostText {
		c.Note(State)
	}
	if cap(c.out) > mostText {
		c.out = nil
	}
}

// pass makes a clean connection available for lending. The caller holds mu and calls unlock.
func (p *Pool) pass(c *Conn) {
	if c.changed && c.left == 0 {
		p.counts.unforeseen.Add(1)
	}
	c.changed = false
	if c.left == 0 {
		p.put(c)
		p.unlock()
		return
	}
	c.lent = false // the borrower is done with it
	p.cleaning.Go(func() { p.clean(c) })
	p.mu.Unlock()
}

// clean resets a connection that was given back. It does so at once, not when the connection is next lent, because locks and
// temporary tables must not outlive their session by more than a moment. Closing the pool waits for it, as for borrowers.
func (p *Pool) clean(c *Conn) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), p.limits.ConnectTimeout, errNoAnswer)
	defer cancel()
	want := Default.WithDatabase(c.database)
	if c.settings != nil {
		want = c.settings.parsing("") // likely to be requested again
	}
	err := c.resetTo(ctx, want)
	p.mu.Lock()
	c.lent, c.cleaned = true, true // the state that Return and Discard expect
	p.mu.Unlock()
	if _, refused := errors.AsType[*ServerError](err); err != nil && !refused || c.left != 0 {
		p.Discard(c)
		return
	}
	p.Return(c)
}

// Discard closes a borrowed connection that must not be used again. A statement running on it may continue at the server for a
// while; see [Pool.Ended].
func (p *Pool) Discard(c *Conn) {
	p.mu.Lock()
	if !c.lent {
		p.mu.Unlock()
		p.log.Error("connection given back twice", "thread", c.threadID)
		return
	}
	c.lent = false
	if c.broken {
		p.suspicion = time.Now()
	}
	if !c.Usable() && !c.dead {
		p.orphans.note(c)
	}
	if c.leaving && c.generation == p.generation { // the server leaves with all of its connections, though they may exist for a while
		p.generation++
		p.doomIdle(func(*Conn) bool { return true })
	}
	p.remove(c)
	p.serve(time.Now())
	p.unlock()
	p.counts.discarded.Add(1)
	c.leave()
}

// bury closes a connection that was found dead. The other connections are checked before they are lent.
func (p *Pool) bury(c *Conn) {
	p.counts.dead.Add(1)
	c.broken, c.dead = true, true
	p.Discard(c)
}

// fault describes the borrower's mistake, or returns "" if there is none.
func (c *Conn) fault() string {
	switch {
	case !c.Usable():
		return "" // the borrower knew it
	case len(c.stream.Unread()) > 0:
		return "a part of an answer was not read"
	case c.InTransaction():
		return "a transaction is open"
	}
	return ""
}

func (p *Pool) keeps(c *Conn, now time.Time) bool {
	if c.database != "" && c.schemas != p.schemas {
		return false
	}
	return !p.closed && !p.resting && !p.withheld() && c.generation == p.generation && now.Before(c.expires) && p.places() <= p.limits.MaxOpen
}

// put passes a lent connection on, to the first in the queue or to the idle connections.
func (p *Pool) put(c *Conn) {
	c.cleaned = false
	if p.held {
		p.doom(c)
		return
	}
	if p.queue.len() > 0 {
		p.queue.grantFirst(grant{conn: c})
		return
	}
	c.lent = false
	if len(p.idle) >= p.limits.MaxIdle {
		p.doom(c)
		return
	}
	p.idle = append(p.idle, c)
}
