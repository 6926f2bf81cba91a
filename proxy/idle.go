package proxy

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"
)

// idlePause is the interval between checks whether clients have sent anything.
const idlePause = 500 * time.Millisecond

// stackHalvings is how often 32 KiB, the stack that a login may have used, is halved to 4 KiB.
const stackHalvings = 3

// giveBackMemory returns memory that a burst of logins or statements used to the operating system, once no client has sent anything
// for [idlePause]. Stacks that have grown shrink only when the garbage collector runs, and it doesn't run while nothing is
// allocated. Each run halves the stacks that are mostly empty. giveBackMemory returns when ctx ends.
func (p *Proxy) giveBackMemory(ctx context.Context) {
	ticker := time.NewTicker(idlePause)
	defer ticker.Stop()
	var seen, returned uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := p.accepted.Load() + p.counts.Statements.Load()
		if now == seen && now != returned {
			for range stackHalvings {
				runtime.GC()
			}
			debug.FreeOSMemory()
			returned = now
		}
		seen = now
	}
}
