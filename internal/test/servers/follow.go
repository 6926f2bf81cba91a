package servers

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// Follow makes s a replica of another server of the same engine, starting at that server's current position.
// Earlier data, such as the accounts from the start of both servers, is not replicated. Call it before the
// primary has data that the replica must have.
func (s *Server) Follow(t testing.TB, primary *Server) {
	t.Helper()
	s.FollowAt(t, primary, primary.Addr())
}

// FollowAt is Follow with another address of the primary.
func (s *Server) FollowAt(t testing.TB, primary *Server, addr string) {
	t.Helper()
	nothing, position, begins := "RESET BINARY LOGS AND GTIDS", "@@gtid_executed", "gtid_purged"
	if s.Engine() == MariaDB {
		nothing, position, begins = "RESET MASTER", "@@gtid_binlog_pos", "gtid_slave_pos"
	}
	var at string
	if err := primary.DB(t, "").QueryRowContext(t.Context(), "SELECT "+position).Scan(&at); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, nothing, fmt.Sprintf("SET GLOBAL %s = '%s'", begins, at))
	s.Replicate(t, primary, addr)
}

// Replicate makes s replicate from its own position, from a primary at addr. until is a condition of START
// REPLICA ... UNTIL; without one, replication does not end by itself.
func (s *Server) Replicate(t testing.TB, primary *Server, addr string, until ...string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	source := "CHANGE REPLICATION SOURCE TO SOURCE_HOST='%s', SOURCE_PORT=%s, SOURCE_USER='%s', SOURCE_PASSWORD='%s', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1"
	if s.Engine() == MariaDB {
		source = "CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%s, MASTER_USER='%s', MASTER_PASSWORD='%s', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1"
	}
	s.Exec(t, fmt.Sprintf(source, host, port, primary.User, primary.Password), strings.Join(append([]string{"START REPLICA"}, until...), " UNTIL "))
}

// Unfollow makes s an independent server again.
func (s *Server) Unfollow(t testing.TB) {
	t.Helper()
	if s.Engine() == MariaDB {
		s.Exec(t, "STOP SLAVE", "RESET SLAVE ALL")
		return
	}
	s.Exec(t, "STOP REPLICA", "RESET REPLICA ALL")
}
