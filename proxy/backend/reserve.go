package backend

import (
	"context"
	"fmt"
	"time"
)

// Reserve waits for permission to take several connections one after the other. A third of the limit may have it at
// once, so that its holders always find another connection. release ends it. The errors are those of Borrow; nothing
// was sent.
func (p *Pool) Reserve(ctx context.Context) (release func(), err error) {
	select {
	case p.several <- struct{}{}:
		return func() { <-p.several }, nil
	default:
	}
	began := time.Now()
	patience := time.NewTimer(p.limits.WaitTimeout)
	defer patience.Stop()
	select {
	case p.several <- struct{}{}:
		return func() { <-p.several }, nil
	case <-patience.C:
		return nil, &ExhaustedError{Shard: p.shard, Limit: cap(p.several), Open: len(p.several), Waited: time.Since(began)}
	case <-ctx.Done():
		return nil, fmt.Errorf("shard %s: wait for several connections: %w", p.shard, context.Cause(ctx))
	}
}

// severalOf returns how many borrowers may take several connections at once.
func severalOf(t Target, l Limits) int {
	most := l.MaxOpen
	if t.MaxOpen > 0 {
		most = t.MaxOpen
	}
	return max(1, most/3)
}
