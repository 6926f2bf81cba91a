package console

import (
	"context"
	"sync"
	"time"
)

// lately is what was found out for one who asked, and is good enough for others for a
// while. So is an error.
type lately[T any] struct {
	every    time.Duration
	patience time.Duration
	find     func(context.Context) (T, error)

	mu    sync.Mutex // of what follows; held while it is found out
	value T
	err   error
	at    time.Time
}

func (l *lately[T]) get(ctx context.Context) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at.IsZero() || time.Since(l.at) >= l.every {
		// It is for others too, who may not have gone.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.patience)
		defer cancel()
		l.value, l.err = l.find(ctx)
		l.at = time.Now()
	}
	return l.value, l.err
}
