// Package fakeshard is a server of shards for unit tests: it knows whether a transaction is open, and nothing of rows. What it
// answers can be set, and what it was sent is kept in the order in which it came.
//
// It owns its connections and the log of what they were sent. It never stands for a real server where answers matter: package
// servers starts those.
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

// Server answers everything with OK.
type Server struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu      sync.Mutex
	log     []string  // statements
	heard   []Command // all commands but those that have no answer
	replies []Reply
	always  []Reply
	tap     func(text string) (r Reply, ok bool)
	held    bool
	thread  uint32 // the last connection's number
	conns   map[uint32]*conn
	down    bool
	hearing sync.Cond     // of mu: something was heard
	asleep  chan struct{} // a statement waits to be killed
	ended   chan struct{} // the test has
}

// Version is what a server greets with.
type Version string

// The servers that there are.
const (
	MariaDB Version = "10.11.0-MariaDB"
	MySQL   Version = "9.7.0"
)

// Start starts a MariaDB, which ends with the test.
func Start(t testing.TB) *Server { return StartAs(t, MariaDB) }

// StartAs is Start of a server of a version.
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

// Target is the server as a shard.
func (s *Server) Target(shard router.ShardName) backend.Target {
	return backend.Target{Shard: shard, Addr: s.listener.Addr().String(), User: "u", Password: func() (string, error) { return "", nil }}
}

// Next sets what the server does at statements to come: each once, or always. Of those that are for always the last one counts.
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

// Unmet gives the prefixes of replies that no statement has had.
func (s *Server) Unmet() (prefixes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.replies {
		prefixes = append(prefixes, r.Prefix)
	}
	return prefixes
}

// Asleep gives something when a statement has begun that waits to be killed.
func (s *Server) Asleep() <-chan struct{} { return s.asleep }

// Stop has the server gone: its connections are lost, and new ones refused.
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

// Hold says whether named locks that somebody asks about are held.
func (s *Server) Hold(held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = held
}

// Sent gives what came since the last time.
func (s *Server) Sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.log
	s.log = nil
	return sent
}

// take notes a statement, and gives what is to be done at it.
func (s *Server) take(text string) (r Reply, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, text)
	return s.reply(text, false)
}

// uses gives what is to be done at COM_INIT_DB, which is in no log of statements.
func (s *Server) uses(database string) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _ := s.reply("USE "+database, false)
	return r
}

// reply gives what is to be done at a text. The caller holds mu.
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

// prepares gives what is to be done at a PREPARE, and the columns of the statement.
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
