package backend

import (
	"context"
	"fmt"
	"strconv"
)

// mostKills is how many connections a pool opens concurrently, beyond its limit, to kill statements. The limit may be used up
// when a shard is busiest.
const mostKills = 4

// KillQuery makes the shard's server end the statement that runs on a connection, which then answers with error 1317. It logs
// in for that and returns once the server has accepted the KILL.
//
// The caller must keep the connection borrowed until KillQuery has returned, or the kill may hit another session's statement.
// Even then the kill may come late and hit the next statement on the same connection. So it is best to discard a connection
// if its statement didn't answer with 1317 after a kill.
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

// Absorb runs an empty statement, so that a late kill hits it instead of a later statement. Its result doesn't matter, and
// the status flags are preserved.
func (c *Conn) Absorb(ctx context.Context) {
	status := c.Status()
	if _, err := c.Own().Exec(ctx, "DO 0"); err != nil {
		c.SetStatus(status)
	}
}
