package live_test

import (
	"context"
	"errors"
	"maps"
	"sync"
)

// source is a fake. set changes it and announces the change; hush changes it without that.
type source struct {
	mu       sync.Mutex
	values   map[string][]byte
	revision int64
	away     error
	reads    int
	watches  []chan int64
}

var errAway = errors.New("nobody home")

func newSource(value string) *source {
	return &source{values: map[string][]byte{"k": []byte(value)}, revision: 10}
}

func (s *source) Read(ctx context.Context, _ int64) (map[string][]byte, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.away != nil {
		return nil, 0, s.away
	}
	return maps.Clone(s.values), s.revision, ctx.Err()
}

func (s *source) Changes(ctx context.Context, after int64) <-chan int64 {
	in, out := make(chan int64, 1), make(chan int64)
	s.mu.Lock()
	s.watches = append(s.watches, in)
	if s.revision > after {
		in <- s.revision
	}
	s.mu.Unlock()
	go func() {
		defer close(out)
		for {
			select {
			case <-ctx.Done():
				return
			case revision, ok := <-in:
				if !ok {
					return
				}
				select {
				case out <- revision:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}

func (s *source) hush(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values["k"] = []byte(value)
	s.revision++
}

func (s *source) set(value string) {
	s.hush(value)
	s.tell()
}

// tell announces the newest revision.
func (s *source) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		select {
		case <-w:
		default:
		}
		w <- s.revision
	}
}

func (s *source) goAway(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = err
}

func (s *source) rewind(revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision = revision
}

// end ends the source for good, with its watches.
func (s *source) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		close(w)
	}
	s.watches = nil
}

func (s *source) readsSoFar() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}
