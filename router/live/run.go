package live

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

const (
	// Pauses after failures double from shortestPause to longestPause, or to Refresh if that is shorter.
	shortestPause = 100 * time.Millisecond
	longestPause  = 10 * time.Second
)

// Run follows the source until the context ends, and returns the context's error, or an error if the source ended for
// good. It reads everything at every change, and also at intervals in case a change wasn't reported. Load keeps its
// last state afterwards.
func (l *Live[S]) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { l.acknowledge(ctx) })
	beside.Go(func() { l.save(ctx) })
	changes := l.config.Source.Changes(ctx, l.revision)
	defer func() {
		cancel()
		for range changes { // until the source has finished with it
		}
		beside.Wait()
	}()
	return l.follow(ctx, changes)
}

func (l *Live[S]) follow(ctx context.Context, changes <-chan int64) error {
	var failures pause
	next := time.NewTimer(l.firstWait())
	defer next.Stop()
	for {
		since := int64(0)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case revision, ok := <-changes:
			if !ok {
				return endOf(ctx)
			}
			if revision <= l.revision {
				continue // already read
			}
			since = revision
		case <-l.soon:
		case <-l.again:
			l.values = nil // forces the next Build
		case <-next.C:
		}
		if err := l.read(ctx, since); err != nil {
			next.Reset(min(failures.next(), l.config.Refresh))
		} else {
			failures = 0
			next.Reset(l.config.Refresh)
		}
	}
}

// firstWait is 0 if Start did not succeed, so that Run reads at once.
func (l *Live[S]) firstWait() time.Duration {
	if st := l.Status(); st.Confirmed.IsZero() || st.Refused != nil {
		return 0
	}
	return l.config.Refresh
}

func endOf(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New("the source has ended")
}

// savePause is the delay before a state is saved. Another process may be waiting for its acknowledgement, such
// as a step that has paused statements, and must not wait for the disk as well. Of several states in quick
// succession, only the last is saved. The saved state may be older than the state in force in any case. A proxy
// that starts from it without its source refuses statements on genes that move according to it. A move is
// announced longer than savePause before any gene changes hands.
const savePause = time.Second

// save saves the newest state in force until the context ends, and then a state that wasn't saved yet.
func (l *Live[S]) save(ctx context.Context) {
	for {
		select {
		case v := <-l.unsaved:
			l.saveOne(l.newestOf(ctx, v))
			continue
		case <-ctx.Done():
		}
		select {
		case v := <-l.unsaved:
			l.saveOne(v)
		default:
		}
		return
	}
}

// newestOf returns a state, or the last one that comes within savePause of it.
func (l *Live[S]) newestOf(ctx context.Context, v saving) saving {
	select {
	case <-ctx.Done():
	case <-time.After(savePause):
	}
	select {
	case v = <-l.unsaved:
	default:
	}
	return v
}

func (l *Live[S]) saveOne(v saving) {
	if l.config.Save == nil {
		return
	}
	if err := l.config.Save(v.values, v.revision); err != nil {
		l.config.Log.Warn("state not saved for a start without its source",
			slog.Int64("revision", v.revision), slog.Any("error", err))
	}
}

// acknowledge acknowledges the newest state in force until the context ends.
func (l *Live[S]) acknowledge(ctx context.Context) {
	var p published[S]
	var failures pause
	retry := time.NewTimer(0)
	retry.Stop()
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case p = <-l.publish:
			failures = 0
		case <-retry.C:
		}
		if l.config.Acknowledge == nil {
			continue
		}
		err := l.acknowledgeOne(ctx, p)
		switch {
		case err == nil:
			l.noteAcknowledged(p.revision)
			retry.Stop()
		case l.Load() != p.state: // a newer state has arrived
		case ctx.Err() == nil:
			l.config.Log.Warn("state not acknowledged", slog.Int64("revision", p.revision), slog.Any("error", err))
			retry.Reset(failures.next())
		}
	}
}

// acknowledgeOne stops when a newer state comes into force.
func (l *Live[S]) acknowledgeOne(ctx context.Context, p published[S]) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l.mu.Lock()
	l.overdue = cancel
	superseded := l.current.Load() != p.state
	l.mu.Unlock()
	if superseded {
		return context.Canceled
	}
	return l.config.Acknowledge(ctx, p.state, p.revision)
}

// pause is the last pause after a failure.
type pause time.Duration

func (p *pause) next() time.Duration {
	*p = min(max(*p*2, pause(shortestPause)), pause(longestPause))
	return time.Duration(*p)
}
