package backend

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// orphan is a connection that was closed before its answer arrived. Its server may still execute the statement
// until it notices the close. For a statement that waits for a lock, that is when the statement has ended.
type orphan struct {
	number   uint64 // the orphan's sequence number
	threadID uint32
	addr     string
	since    time.Time
}

// orphans is a pool's list of orphans, guarded by the pool's mutex.
type orphans struct {
	list []orphan
	last uint64 // number of the last orphan
	// ending reports whether a goroutine is about to end them.
	ending bool
	// news signals an orphan to the goroutine that ends them. It is nil if there is none; orphans are then not recorded.
	news chan<- struct{}
}

// mostOrphans is how many orphans a pool remembers. If there are more, the end of the others is known only once their server
// has restarted or changed. The last entry of the list, without a threadID, represents them.
const mostOrphans = 10_000

// note records c.
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

// Orphaned returns a number for [Pool.Ended]: the number of the last connection that was closed without an answer.
func (p *Pool) Orphaned() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.orphans.last
}

// Ended reports whether the server has finished with all connections that were closed without an answer, up to the given
// number.
func (p *Pool) Ended(number uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.orphans.list) == 0 || p.orphans.list[0].number > number
}

// Pauses between two checks whether orphans have ended.
const (
	firstOrphanPause = 10 * time.Millisecond
	lastOrphanPause  = time.Second
)

// Settle waits until the servers have finished with all connections that were closed without an answer before.
func (r *Registry) Settle(ctx context.Context) error {
	tick := time.NewTicker(firstOrphanPause)
	defer tick.Stop()
	for _, p := range r.Pools() {
		for last := p.Orphaned(); !p.Ended(last); {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return fmt.Errorf("shard %s may still run a statement whose connection was lost: %w", p.Shard(), context.Cause(ctx))
			}
		}
	}
	return nil
}

// endOrphans makes the server end the orphans, until none is left or ctx ends.
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

// takeOrphans reports whether there are orphans that no other goroutine is ending. If so, the caller must end
// them.
func (p *Pool) takeOrphans() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.orphans.list) == 0 || p.orphans.ending {
		return false
	}
	p.orphans.ending = true
	return true
}

// orphansEnded reports whether nothing is left for the goroutine that took the orphans.
func (p *Pool) orphansEnded(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.orphans.ending = len(p.orphans.list) > 0 && ctx.Err() == nil && !p.closed
	return !p.orphans.ending
}

// killOrphans forgets orphans that are gone and makes the server end the others.
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
		// A restarted server has none of the earlier connections, whatever their IDs. It counts from 1 again.
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

// forgetOrphans forgets orphans up to a number that are gone and returns the others.
func (p *Pool) forgetOrphans(newest uint64, gone func(orphan) bool) []orphan {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.orphans.list = slices.DeleteFunc(p.orphans.list, func(o orphan) bool { return o.number <= newest && gone(o) })
	return slices.Clone(p.orphans.list)
}

// threads returns the server's connections that this account can see, and the earliest time at which the server may have
// started.
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
