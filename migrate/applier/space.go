package applier

import (
	"context"
	"sync"
)

// spaceBytes is the default of [Config.Space].
const spaceBytes = 48 << 20

// space is a budget of memory. A request that exceeds the whole budget is admitted alone.
type space struct {
	mu    sync.Mutex
	size  int
	used  int
	freed chan struct{} // capacity 1; one goroutine takes
}

func newSpace(size int) *space { return &space{size: size, freed: make(chan struct{}, 1)} }

// take waits until there is room. Only one goroutine may call it.
func (s *space) take(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		if n == 0 || s.used == 0 || s.used+n <= s.size {
			s.used += n
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		select {
		case <-s.freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *space) give(n int) {
	s.mu.Lock()
	s.used -= n
	s.mu.Unlock()
	select {
	case s.freed <- struct{}{}:
	default:
	}
}
