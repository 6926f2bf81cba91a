package switchover

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"locus/control/switchover"
	"locus/internal/test/servers"
)

// A primary that receives no acknowledgements continues to send what it writes. No replica may get more of that
// than the server that is promoted, because it could not follow that server.
func TestNoReplicaGetsMoreThanTheNextPrimary(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // mostly waits
		s := promoting(t, engine)
		s.Declare(strings.Replace(s.file, "failover: promote", "failover: promote, failover_after: 1m", 1)) // so that no other process promotes
		first := s.primary(t)
		next, other := (first+1)%3, (first+2)%3
		s.servers[first].Exec(t, "CREATE DATABASE late", "CREATE TABLE late.row_of (n INT PRIMARY KEY)")
		s.wantRowsOf(t, other, 0)
		s.deafen(t, first)
		ctx, cancel := context.WithCancel(t.Context())
		said := make(chan error, 1)
		begun := false
		order := s.to(next)
		order.Stop = func(line switchover.Line) {
			if begun || line != switchover.Writable {
				return
			}
			begun = true
			go func() { said <- s.servers[first].Execute(ctx, "INSERT INTO late.row_of VALUES (1)") }() // no acknowledgement of a replica arrives
			look, enough := time.NewTicker(20*time.Millisecond), time.After(500*time.Millisecond)       // enough time for a replica to receive it
			defer look.Stop()
			for {
				select {
				case <-enough:
					return
				case <-look.C:
					if s.rowsOfLate(t, other) == 1 {
						return
					}
				}
			}
		}
		var err error
		for range 10 { // on a busy machine the time limit of a switchover may end first
			if err = order.Take(t.Context(), false); err == nil || errors.As(err, new(*switchover.UnfinishedError)) { // the primary is not there to follow
				break
			}
		}
		if err != nil && !errors.As(err, new(*switchover.UnfinishedError)) {
			t.Fatalf("another server is not taken: %v", err)
		}
		if !begun {
			t.Fatal("nothing was written: there is nothing to test")
		}
		s.wantNamedAnother(t, first)
		s.heal(t, first)
		cancel()
		<-said
		s.wantJoined(t, first)
		s.servers[s.primary(t)].Exec(t, "INSERT INTO late.row_of VALUES (2), (3)")
		for server := range 3 {
			s.wantRowsOf(t, server, 2)
		}
	})
}

func (s *stand) rowsOfLate(t *testing.T, server int) (n int) {
	t.Helper()
	db := s.servers[server].DB(t, "")
	defer db.Close()
	if db.QueryRow("SELECT COUNT(*) FROM late.row_of").Scan(&n) != nil {
		return -1
	}
	return n
}

func (s *stand) wantRowsOf(t *testing.T, server, want int) {
	t.Helper()
	servers.Eventually(t, fmt.Sprintf("server %d has %d rows", server, want), func() error {
		if got := s.rowsOfLate(t, server); got != want {
			return fmt.Errorf("it has %d", got)
		}
		return nil
	})
}
