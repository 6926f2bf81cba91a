package proxy

import (
	"context"
	"sync"

	"locus/proxy/session"
)

// registry knows the sessions.
type registry struct {
	mu       sync.Mutex
	sessions map[uint32]*session.Session
	draining bool
	running  sync.WaitGroup
}

// add registers a session, unless the proxy is ending.
func (r *registry) add(id uint32, s *session.Session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return false
	}
	r.sessions[id] = s
	return true
}

func (r *registry) remove(id uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, id)
}

func (r *registry) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)
}

// drain asks every session to end, waits for them as long as ctx lasts, and
// ends those that are left.
func (r *registry) drain(ctx context.Context) {
	r.each((*session.Session).Drain)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.running.Wait()
	}()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	r.each((*session.Session).Interrupt)
	<-ended
}

func (r *registry) each(f func(*session.Session)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = true
	for _, s := range r.sessions {
		f(s)
	}
}
