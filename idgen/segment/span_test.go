package segment

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Callers compete for the end of many short spans. All numbers are within the span, no number is returned
// twice, and exactly one caller of each span is asked to load.
func TestSpanUnderContention(t *testing.T) {
	const (
		spans, callers = 100_000, 4
		size, run      = 7, 2
	)
	type raced struct {
		span
		handed, loaders atomic.Int32
	}
	all := make([]raced, spans)
	for i := range all {
		s := &all[i]
		s.first, s.last = 1, size
		s.next.Store(1)
		s.trigger.Store(3)
	}
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for i := range all {
				s := &all[i]
				for {
					first, ok := s.take(run)
					if !ok {
						break
					}
					if first+run-1 > size {
						t.Errorf("span %d gave %d to %d", i, first, first+run-1)
					}
					s.handed.Add(run)
					if s.wantsStandby(first + run - 1) {
						s.loaders.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	for i := range all {
		s := &all[i]
		if s.handed.Load() != size/run*run || s.loaders.Load() != 1 {
			t.Fatalf("span %d handed out %d of %d, to %d loaders", i, s.handed.Load(), size, s.loaders.Load())
		}
	}
}
