package backend

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// orphan is a connection that was closed although an answer was missing. Its server may go on with what it was sent, and let
// it take effect, for as long as it doesn't notice: for a statement that waits for a lock, until it has answered.
type orphan struct {
	number   uint64 // in the order in which they were orphaned
	threadID uint32
	addr     string
	since    time.Time
}

// orphans are those of a pool, under its mutex.
type orphans struct {
	list []orphan
	last uint64 // number
	// ending: somebody is about to end them.
	ending bool
	// news tells whoever ends them that there is one; nil: nobody does, and none is noted.
	news chan<- struct{}
}

// mostOrphans is how many a pool remembers. Of more than that it is no longer known when they have ended, other than with
// their server: the last in the list, without a threadID, stands for all of those.
const mostOrphans = 10_000

// note remembers c.
func (o *orphans) note(c *Conn) {
	if o.news == nil {
		return
	}
	o.last++
	if len(o.list) > mostOrphans {
		o.list[mostOrphans].since = time.Now()
		return
	}
	next := orphan{o.last, c.threadID, c.addr, time.Now()}
	if len(o.list) == mostOrphans {
		next.threadID = 0
	}
	o.list = append(o.list, next)
	select {
	case o.news <- struct{}{}:
	default:
	}
}

// Orphaned gives a number that [Pool.Ended] takes: that of the last connection that was closed without an answer.
func (p *Pool) Orphaned() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.orphans.last
}

// Ended reports whether nothing goes on any more at the server on the connections that were closed without an answer, up to
// the one of that number.
func (p *Pool) Ended(number uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.orphans.list) == 0 || p.orphans.list[0].number > number
}

// The pauses between two looks whether orphans have ended.
const (
	firstOrphanPause = 10 * time.Millisecond
	lastOrphanPause  = time.Second
)

// endOrphans has the server end them, until none is left or ctx ends.
func (p *Pool) endOrphans(ctx context.Context) {
	for wait := firstOrphanPause; ; wait = min(2*wait, lastOrphanPause) {
		if err := p.killOrphans(ctx); err != nil {
			p.log.Debug("end what was left behind at the server", "err", err)
		}
		if p.orphansEnded(ctx) {
			return
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// takeOrphans reports whether there are orphans that nobody is about to end; then the caller is.
func (p *Pool) takeOrphans() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.orphans.list) == 0 || p.orphans.ending {
		return false
	}
	p.orphans.ending = true
	return true
}

// orphansEnded reports whether there's nothing left to do for whoever took them.
func (p *Pool) orphansEnded(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.orphans.ending = len(p.orphans.list) > 0 && ctx.Err() == nil && !p.closed
	return !p.orphans.ending
}

// killOrphans forgets those that are gone, and has the server end the others.
func (p *Pool) killOrphans(ctx context.Context) error {
	ctx, release := p.untilFrozen(ctx)
	defer release()
	ctx, cancel := context.WithTimeout(ctx, p.limits.ConnectTimeout)
	defer cancel()
	p.mu.Lock()
	target, newest := p.target, p.orphans.last
	p.mu.Unlock()
	c, err := p.dial(ctx, target, 0, p.limits.ConnectTimeout)
	if err != nil {
		return err
	}
	defer c.quit()
	there, began, err := c.threads(ctx)
	if err != nil {
		return err
	}
	left := p.forgetOrphans(newest, func(o orphan) bool {
		// A server that was restarted has none of before, whatever their numbers; it
		// counts from 1 again.
		restarted := began.After(o.since) || c.threadID < o.threadID
		unlisted := o.threadID == 0
		return o.addr != target.Addr || restarted || !unlisted && !there[o.threadID]
	})
	for _, o := range left {
		if o.threadID == 0 {
			continue
		}
		p.counts.kills.Add(1)
		if _, err := c.Own().Exec(ctx, "KILL CONNECTION "+strconv.FormatUint(uint64(o.threadID), 10)); err != nil && !c.Usable() {
			return err
		}
	}
	return nil
}

// forgetOrphans forgets those up to a number that are gone, and gives the others.
func (p *Pool) forgetOrphans(newest uint64, gone func(orphan) bool) []orphan {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.orphans.list = slices.DeleteFunc(p.orphans.list, func(o orphan) bool { return o.number <= newest && gone(o) })
	return slices.Clone(p.orphans.list)
}

// threads gives the connections of the server that this account sees, and when it began at the earliest.
func (c *Conn) threads(ctx context.Context) (there map[uint32]bool, began time.Time, err error) {
	rows, err := c.Own().Query(ctx, "SELECT ID FROM information_schema.PROCESSLIST")
	if err != nil {
		return nil, began, err
	}
	there = make(map[uint32]bool, len(rows.Rows))
	for _, r := range rows.Rows {
		id, err := strconv.ParseUint(string(r[0]), 10, 64)
		if err != nil {
			return nil, began, fmt.Errorf("a connection's ID: %w", err)
		}
		there[uint32(id)] = true
	}
	now := time.Now()
	rows, err = c.Own().Query(ctx, "SHOW GLOBAL STATUS LIKE 'Uptime'")
	if err != nil {
		return nil, began, err
	}
	if len(rows.Rows) != 1 {
		return nil, began, errUnexpected
	}
	seconds, err := strconv.ParseInt(string(rows.Rows[0][1]), 10, 64)
	return there, now.Add(-time.Duration(seconds+1) * time.Second), err
}
