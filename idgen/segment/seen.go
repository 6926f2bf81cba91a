package segment

import "sync"

// Seen is the highest bound of each counter that a process has seen in a store. A store that returns less has gone
// back. The zero value is ready and safe for concurrent use.
type Seen struct {
	mu     sync.Mutex // never held across a call
	bounds map[string]uint64
}

// Of returns the highest bound of a counter. Call it before reading the store, since a higher one may be written
// meanwhile.
func (s *Seen) Of(counter string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bounds[counter]
}

// Forget forgets a counter that was set to a lower bound.
func (s *Seen) Forget(counter string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.bounds, counter)
}

// Saw records a bound.
func (s *Seen) Saw(counter string, bound uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bounds == nil {
		s.bounds = map[string]uint64{}
	}
	s.bounds[counter] = max(s.bounds[counter], bound)
}
