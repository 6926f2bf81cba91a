package switchover

import (
	"testing"

	"locus/internal/test/link"
)

// loss is a way for a primary to be lost, and to come back.
type loss struct {
	name  string
	goes  func(*testing.T, *stand, int)
	comes func(*testing.T, *stand, int)
}

func (s *stand) kill(t *testing.T, server int) {
	t.Helper()
	must(t, s.servers[server].Kill())
}

func (s *stand) freeze(t *testing.T, server int) {
	t.Helper()
	must(t, s.servers[server].Pause())
}

// cut swallows all packets from and to a server. The connections stay open at both ends.
func (s *stand) cut(_ *testing.T, server int) { s.ways[server].Swallow() }

// deafen discards the packets to a server. mute discards its answers, so that it executes everything and no other process
// notices.
func (s *stand) deafen(_ *testing.T, server int) { s.ways[server].Swallow(link.Requests) }
func (s *stand) mute(_ *testing.T, server int)   { s.ways[server].Swallow(link.Answers) }

func (s *stand) restart(t *testing.T, server int) {
	t.Helper()
	s.servers[server].Restart(t)
}

func (s *stand) thaw(t *testing.T, server int) {
	t.Helper()
	must(t, s.servers[server].Resume())
}

// heal delivers the swallowed packets and all later ones.
func (s *stand) heal(_ *testing.T, server int) { s.ways[server].Deliver() }

// inOrder does one thing after the other.
func inOrder(all ...func(*stand, *testing.T, int)) func(*testing.T, *stand, int) {
	return func(t *testing.T, s *stand, server int) {
		t.Helper()
		for _, one := range all {
			one(s, t, server)
		}
	}
}

// ways contains the ways to lose a primary. A primary that is killed while its answers are swallowed never
// executes the last requests.
var ways = []loss{
	{"killed", inOrder((*stand).kill), inOrder((*stand).restart)},
	{"frozen, and goes on", inOrder((*stand).freeze), inOrder((*stand).thaw)},
	{"cut off, and found again", inOrder((*stand).cut), inOrder((*stand).heal)},
	{"frozen, and killed", inOrder((*stand).freeze), inOrder((*stand).kill, (*stand).restart)},
	{"not heard, and found again", inOrder((*stand).mute), inOrder((*stand).heal)},
	{"cut off, and killed", inOrder((*stand).cut), inOrder((*stand).kill, (*stand).heal, (*stand).restart)},
	{"hears nothing, and found again", inOrder((*stand).deafen), inOrder((*stand).heal)},
}
