package servers

import (
	"fmt"
	"net"
	"testing"
)

// Follow makes s a replica of another server of its engine, from what that has
// now on: what both were given when they were started is not replicated. It is
// called before the primary has data that the replica must have.
func (s *Server) Follow(t testing.TB, primary *Server) {
	t.Helper()
	s.FollowAt(t, primary, primary.Addr())
}

// FollowAt is Follow where the primary is reached at another address than its own.
func (s *Server) FollowAt(t testing.TB, primary *Server, addr string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	var position string
	db := primary.DB(t, "")
	if s.Engine() == MariaDB {
		if err := db.QueryRowContext(t.Context(), "SELECT @@gtid_binlog_pos").Scan(&position); err != nil {
			t.Fatal(err)
		}
		s.Exec(t,
			"RESET MASTER", // it has nothing of its own, as MySQL below
			fmt.Sprintf("SET GLOBAL gtid_slave_pos = '%s'", position),
			fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%s, MASTER_USER='%s', MASTER_PASSWORD='%s', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1",
				host, port, primary.User, primary.Password),
			"START SLAVE")
		return
	}
	if err := db.QueryRowContext(t.Context(), "SELECT @@gtid_executed").Scan(&position); err != nil {
		t.Fatal(err)
	}
	s.Exec(t,
		"RESET BINARY LOGS AND GTIDS",
		fmt.Sprintf("SET GLOBAL gtid_purged = '%s'", position),
		fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST='%s', SOURCE_PORT=%s, SOURCE_USER='%s', SOURCE_PASSWORD='%s', "+
			"SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1", host, port, primary.User, primary.Password),
		"START REPLICA")
}

// Unfollow makes s a server of its own again, once it has all that it was sent.
func (s *Server) Unfollow(t testing.TB) {
	t.Helper()
	if s.Engine() == MariaDB {
		s.Exec(t, "STOP SLAVE", "RESET SLAVE ALL")
		return
	}
	s.Exec(t, "STOP REPLICA", "RESET REPLICA ALL")
}
