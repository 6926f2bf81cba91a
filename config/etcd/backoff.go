package etcd

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is the pause before the next attempt: it doubles from 50 ms to 2 s,
// less up to a half, so that many processes don't come back together.
type backoff struct{ next time.Duration }

const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 2 * time.Second
)

// wait pauses, less long if the context ends.
func (b *backoff) wait(ctx context.Context) {
	b.next = min(max(b.next*2, shortestPause), longestPause)
	timer := time.NewTimer(b.next/2 + rand.N(b.next/2))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// reset makes the next pause a short one.
func (b *backoff) reset() { b.next = 0 }
