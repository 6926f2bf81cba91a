package proxy

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"
)

// idlePause is between looks whether clients want anything.
const idlePause = 500 * time.Millisecond

// stackHalvings makes 4 KiB out of the 32 KiB that a login may have taken.
const stackHalvings = 3

// giveBackMemory returns what a burst of logins or statements took to the
// system, once no client has wanted anything for a moment: stacks that have
// grown shrink only when the garbage collector runs, and it has no cause to run
// while nothing is allocated. Each run halves those that are mostly empty.
// It returns when ctx ends.
func (p *Proxy) giveBackMemory(ctx context.Context) {
	ticker := time.NewTicker(idlePause)
	defer ticker.Stop()
	var seen, given uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := p.accepted.Load() + p.counts.Statements.Load()
		if now == seen && now != given {
			for range stackHalvings {
				runtime.GC()
			}
			debug.FreeOSMemory()
			given = now
		}
		seen = now
	}
}
