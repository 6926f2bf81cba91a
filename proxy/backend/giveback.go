package backend

import (
	"context"
	"errors"
	"time"
)

// Return gives back a borrowed connection: to the one that waits longest, or to the idle ones. What the borrower's statements
// may have left on it decides how: after Nothing it is lent on as it is, after State it is reset first, after Unknown it is
// closed. One that can't be lent on, as it broke, was interrupted, is too old or belongs to a former target, is closed too. A
// connection returned amid an answer or a transaction would show one session's data to another: that is a mistake of the
// borrower, is logged, and the connection is closed, which rolls back.
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

// lighten has nothing large kept on a connection that nobody uses: there may be thousands of them. What a reset takes away is
// left to that.
func (c *Conn) lighten() {
	if c.prepared.tooLong() || c.settings != nil && c.settings.bare != nil && c.settings.Size() > mostText {
		c.Note(State)
	}
	if cap(c.out) > mostText {
		c.out = nil
	}
}

// pass puts a connection among those that can be lent, clean. The caller holds mu, and has it released.
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
	c.lent = false // its borrower is done with it
	p.cleaning.Go(func() { p.clean(c) })
	p.mu.Unlock()
}

// clean resets a connection that was given back. It is done at once, not when the connection is lent next: locks and temporary
// tables must not outlive their session by more than a moment. The pool's end waits for it, as it waits for borrowers.
func (p *Pool) clean(c *Conn) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), p.limits.ConnectTimeout, errNoAnswer)
	defer cancel()
	want := Default.WithDatabase(c.database)
	if c.settings != nil {
		want = c.settings.parsing("") // likely to be asked for again
	}
	err := c.resetTo(ctx, want)
	p.mu.Lock()
	c.lent = true // to whom cleans
	p.mu.Unlock()
	if _, refused := errors.AsType[*ServerError](err); err != nil && !refused || c.left != 0 {
		p.Discard(c)
		return
	}
	p.Return(c)
}

// Discard gives back a borrowed connection that must not be used again, and closes it. A statement that it was running may
// go on at the server for a while, see [Pool.Ended].
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
	if c.leaving && c.generation == p.generation { // with all of its connections, though they may stand for a while
		p.generation++
		p.doomIdle(func(*Conn) bool { return true })
	}
	p.remove(c)
	p.serve(time.Now())
	p.unlock()
	p.counts.discarded.Add(1)
	c.leave()
}

// bury closes a connection that was found dead, and has the others looked at before they are lent.
func (p *Pool) bury(c *Conn) {
	p.counts.dead.Add(1)
	c.broken, c.dead = true, true
	p.Discard(c)
}

// fault says what the borrower forgot; empty: nothing.
func (c *Conn) fault() string {
	switch {
	case !c.Usable():
		return "" // it knew
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
	return !p.closed && !p.withheld() && c.generation == p.generation && now.Before(c.expires) && p.places() <= p.limits.MaxOpen
}

// put hands on a connection that is lent: to the first in the queue, or to the idle ones.
func (p *Pool) put(c *Conn) {
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
