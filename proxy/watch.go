package proxy

import (
	"context"
	"sync"
	"time"

	"locus/proxy/interrupt"
	"locus/proxy/session"
)

const (
	// watchEvery is the interval at which running commands are examined. A command that began after the last check is ignored, so
	// that short ones cost nothing.
	watchEvery = 250 * time.Millisecond
	// mostCancels is the greatest number of sessions that the watcher cancels at once.
	mostCancels = 64
	// cancelTime is the time limit of one cancellation.
	cancelTime = 5 * time.Second
)

// watcher ends statements that exceed their time limit or whose client is gone, and sessions whose client is silent for too
// long. If such a statement continues, the watcher ends it again.
type watcher struct {
	sessions *registry
	may      func(user string) interrupt.Allowance
	counts   *session.Counts
	places   chan struct{} // one for each cancellation in progress
	declared func(user string) bool
}

// run examines the sessions until ctx ends, and waits for the cancellations that it began.
func (w *watcher) run(ctx context.Context) {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			w.examine(ctx, now, &tasks)
		}
	}
}

// examine examines every session. If no place is free for a cancellation, the next call finds the session again.
func (w *watcher) examine(ctx context.Context, now time.Time, tasks *sync.WaitGroup) {
	w.sessions.mu.Lock()
	defer w.sessions.mu.Unlock()
	for _, s := range w.sessions.sessions {
		reason, command := s.Interrupts().Examine(now, w.may(s.User()))
		end := reason == interrupt.Silent || !w.declared(s.User())
		if reason == 0 && !end {
			continue
		}
		select {
		case w.places <- struct{}{}:
		default:
			return
		}
		tasks.Go(func() {
			defer func() { <-w.places }()
			if end {
				w.counts.Cancelled(reason)
				w.end(ctx, s)
				return
			}
			w.cancel(ctx, s, reason, command)
		})
	}
}

// end ends the session of a user that is no longer declared, or of a client that has been silent for too long. An open transaction
// is rolled back.
func (w *watcher) end(ctx context.Context, s *session.Session) {
	ctx, cancel := context.WithTimeout(ctx, cancelTime)
	defer cancel()
	_ = s.Interrupts().Kill(ctx) // Kill closes the session's connection if a shard doesn't obey
}

// cancel ends one command.
func (w *watcher) cancel(ctx context.Context, s *session.Session, reason interrupt.Reason, command uint64) {
	ctx, cancel := context.WithTimeout(ctx, cancelTime)
	defer cancel()
	if done, _ := s.Interrupts().Cancel(ctx, reason, command); done {
		w.counts.Cancelled(reason)
	}
}
