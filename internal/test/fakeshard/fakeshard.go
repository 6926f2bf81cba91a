// Package fakeshard is a fake database server for unit tests. It tracks whether a transaction is open, but
// stores no rows. Tests set its answers, and read what it received, in order.
//
// It owns its connections and the log of what they received. It never replaces a real server where the answers
// matter: package servers starts those.
package fakeshard

import (
	"net"
	"slices"
	"sync"
	"testing"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router"
)

// Server answers every statement with OK, unless the test sets a reply.
type Server struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu      sync.Mutex
	log     []string  // received statements
	heard   []Command // received commands, except those without an answer
	replies []Reply
	always  []Reply
	tap     func(text string) (r Reply, ok bool)
	held    bool
	thread  uint32 // the number of the last connection
	conns   map[uint32]*conn
	down    bool
	hearing sync.Cond     // on mu; signals that a command was received
	asleep  chan struct{} // receives when a statement begins to wait for a kill
	ended   chan struct{} // closed when the test ends
}

// Version is the server version in the greeting.
type Version string

// The available versions.
const (
	MariaDB Version = "10.11.0-MariaDB"
	MySQL   Version = "9.7.0"
)

// Start starts a fake MariaDB that runs until the test ends.
func Start(t testing.TB) *Server { return StartAs(t, MariaDB) }

// StartAs starts a fake server of a version.
func StartAs(t testing.TB, v Version) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{listener: l, conns: map[uint32]*conn{}, asleep: make(chan struct{}, 16), ended: make(chan struct{})}
	s.hearing.L = &s.mu
	s.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() { s.serve(conn, v) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		close(s.ended)
		s.serving.Wait()
	})
	return s
}

// Target returns the server as a backend target of a shard.
func (s *Server) Target(shard router.ShardName) backend.Target {
	return backend.Target{Shard: shard, Addr: s.listener.Addr().String(), User: "u", Password: func() (string, error) { return "", nil }}
}

// Next sets replies to future statements. Each is used once, or always if it is marked so. Of several replies
// marked as always, the last one set wins.
func (s *Server) Next(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range replies {
		if r.Always {
			s.always = slices.Insert(s.always, 0, r)
		} else {
			s.replies = append(s.replies, r)
		}
	}
}

// Tap sets a function that is called with each statement, and can return the reply to it. It comes before the replies of Next. Calls are
// serialized for one server, not between servers.
func (s *Server) Tap(tap func(text string) (r Reply, ok bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tap = tap
}

// Unmet returns the prefixes of replies that no statement has used.
func (s *Server) Unmet() (prefixes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.replies {
		prefixes = append(prefixes, r.Prefix)
	}
	return prefixes
}

// Asleep returns a channel that receives a value when a statement begins to wait for a kill.
func (s *Server) Asleep() <-chan struct{} { return s.asleep }

// Stop simulates a crash: it closes all connections and refuses new ones.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
	_ = s.listener.Close()
	for _, c := range s.conns {
		_ = c.Close()
	}
}

// Drop closes all connections of the server. It accepts new ones.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close()
	}
}

// Hold sets whether named locks are reported as held.
func (s *Server) Hold(held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = held
}

// Sent returns the statements received since the last call.
func (s *Server) Sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.log
	s.log = nil
	return sent
}

// take records a statement and returns the reply to it.
func (s *Server) take(text string) (r Reply, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, text)
	return s.reply(text, false)
}

// uses returns the reply to COM_INIT_DB, which is not recorded in the log of statements.
func (s *Server) uses(database string) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _ := s.reply("USE "+database, false)
	return r
}

// reply returns the reply to a statement. The caller holds mu.
func (s *Server) reply(text string, prepare bool) (r Reply, ok bool) {
	if s.tap != nil {
		if r, ok := s.tap(text); ok {
			return r, true
		}
	}
	if i := slices.IndexFunc(s.replies, func(r Reply) bool { return r.placed(text, prepare) }); i >= 0 {
		r = s.replies[i]
		s.replies = slices.Delete(s.replies, i, i+1)
		return r, true
	}
	if i := slices.IndexFunc(s.always, func(r Reply) bool { return r.placed(text, prepare) }); i >= 0 {
		return s.always[i], true
	}
	return r, false
}

// prepares returns the reply to a PREPARE, and the columns of the statement.
func (s *Server) prepares(text string) (r Reply, columns []wire.Column) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _ = s.reply(text, true)
	for _, other := range slices.Concat(s.replies, s.always) {
		if other.placed(text, false) {
			columns = other.Columns
			break
		}
	}
	return r, columns
}
