package ha

import (
	"context"
	"sync"
	"time"
)

// limit is a context with a deadline that costs nothing unless its end is waited for. Numbers from memory are returned
// without checking it.
type limit struct {
	context.Context
	deadline time.Time

	mu     sync.Mutex
	timed  context.Context // made by the first call of Done
	cancel context.CancelFunc
}

func (l *limit) Deadline() (time.Time, bool) {
	if d, ok := l.Context.Deadline(); ok && d.Before(l.deadline) {
		return d, true
	}
	return l.deadline, true
}

func (l *limit) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timed == nil {
		l.timed, l.cancel = context.WithDeadline(l.Context, l.deadline)
	}
	return l.timed.Done()
}

func (l *limit) Err() error {
	l.mu.Lock()
	timed := l.timed
	l.mu.Unlock()
	switch {
	case timed != nil:
		return timed.Err()
	case l.Context.Err() != nil:
		return l.Context.Err()
	case !time.Now().Before(l.deadline):
		return context.DeadlineExceeded
	}
	return nil
}

// release ends the context after the call has returned.
func (l *limit) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel()
	}
}
