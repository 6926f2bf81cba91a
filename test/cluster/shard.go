package cluster

import (
	"testing"

	"locus/internal/test/link"
	"locus/internal/test/servers"
	"locus/router"
)

// Shard is a shard's database server.
type Shard struct {
	*servers.Server

	Name router.ShardName
	Link *link.Link // how proxies and movers reach it; nil: directly

	t *testing.T
}

// Start starts the server again after a kill.
func (s *Shard) Start() {
	s.t.Helper()
	s.Restart(s.t)
}

// Kill kills the server, as kill -9 does.
func (s *Shard) Kill() {
	s.t.Helper()
	if err := s.Server.Kill(); err != nil {
		s.t.Fatal(err)
	}
}

// Stop suspends the server: its connections stay open, and nothing answers.
func (s *Shard) Stop() {
	s.t.Helper()
	if err := s.Pause(); err != nil {
		s.t.Fatal(err)
	}
}

// Continue ends a Stop.
func (s *Shard) Continue() {
	s.t.Helper()
	if err := s.Resume(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Shard) reached() string {
	if s.Link != nil {
		return s.Link.Addr()
	}
	return s.Addr()
}
