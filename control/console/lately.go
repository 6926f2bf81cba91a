package console

import (
	"context"
	"sync"
	"time"
)

// lately caches a result that was computed for one request and is reused for others for a while. It caches errors too.
type lately[T any] struct {
	every    time.Duration
	patience time.Duration
	find     func(context.Context) (T, error)

	mu    sync.Mutex // guards the fields below; held while the value is computed
	value T
	err   error
	at    time.Time
}

func (l *lately[T]) get(ctx context.Context) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at.IsZero() || time.Since(l.at) >= l.every {
		// The result is for other requests too, which may continue when this one ends.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.patience)
		defer cancel()
		l.value, l.err = l.find(ctx)
		l.at = time.Now()
	}
	return l.value, l.err
}
