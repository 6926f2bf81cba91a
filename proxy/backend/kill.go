package backend

import (
	"context"
	"fmt"
	"strconv"
)

// mostKills is how many connections a pool opens at once to kill statements, beyond its limit: when a shard is busiest, the
// limit is used up.
const mostKills = 4

// KillQuery has the shard's server end the statement that runs on a connection, which answers with error 1317. It logs in for
// that, and returns once the server has taken note.
//
// The caller makes sure that the connection stays borrowed until KillQuery has returned: otherwise the statement that it ends
// may be another session's. Even then the kill may come after the statement and hit the next one on the same connection, so
// a connection is best discarded after a kill whose statement didn't answer with 1317.
func (p *Pool) KillQuery(ctx context.Context, threadID uint32) error {
	select {
	case p.kills <- struct{}{}:
		defer func() { <-p.kills }()
	case <-ctx.Done():
		return fmt.Errorf("shard %s: kill query %d: %d others are being killed: %w", p.shard, threadID, mostKills, context.Cause(ctx))
	}
	if err := p.kill(ctx, threadID); err != nil {
		return fmt.Errorf("shard %s: kill query %d: %w", p.shard, threadID, err)
	}
	return nil
}

func (p *Pool) kill(ctx context.Context, threadID uint32) error {
	ctx, release := p.untilFrozen(ctx)
	defer release()
	ctx, cancel := context.WithTimeout(ctx, p.limits.ConnectTimeout)
	defer cancel()
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	c, err := p.dial(ctx, target, 0, p.limits.ConnectTimeout)
	if err != nil {
		return err
	}
	defer c.quit()
	p.counts.kills.Add(1)
	_, err = c.Own().Exec(ctx, "KILL QUERY "+strconv.FormatUint(uint64(threadID), 10))
	return err
}

// Absorb runs an empty statement, for a kill that came too late for its own to hit. Whether it does is all the same, and the
// status stays what it was.
func (c *Conn) Absorb(ctx context.Context) {
	status := c.Status()
	if _, err := c.Own().Exec(ctx, "DO 0"); err != nil {
		c.SetStatus(status)
	}
}
