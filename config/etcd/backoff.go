package etcd

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is the pause before the next attempt. It doubles from 50 ms to 2 s and is shortened by up to a half at
// random, so that processes don't reconnect together.
type backoff struct{ next time.Duration }

const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 2 * time.Second
)

// wait pauses, until the context ends at the latest.
func (b *backoff) wait(ctx context.Context) {
	b.next = min(max(b.next*2, shortestPause), longestPause)
	timer := time.NewTimer(b.next/2 + rand.N(b.next/2))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// reset makes the next pause short again.
func (b *backoff) reset() { b.next = 0 }
