package switchover

import (
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/proxy/twophase"
)

// Only MariaDB can have prepared branches after a crash that differ from those in its log.

// rowsOf creates a table with three rows on the servers.
func (s *stand) rowsOf(t *testing.T, primary int, replicas ...int) {
	t.Helper()
	s.servers[primary].Exec(t, "CREATE DATABASE alone", "CREATE TABLE alone.row_of (n INT PRIMARY KEY, v INT)", "INSERT INTO alone.row_of VALUES (1, 0), (2, 0), (3, 0)")
	for _, replica := range replicas {
		s.wantValues(t, replica, 0, 0, 0)
	}
}

func (s *stand) wantValues(t *testing.T, server int, want ...int) {
	t.Helper()
	servers.Eventually(t, fmt.Sprintf("server %d has %v", server, want), func() error {
		db := s.servers[server].DB(t, "")
		defer db.Close()
		var all sql.NullString
		if err := db.QueryRow("SELECT GROUP_CONCAT(v ORDER BY n SEPARATOR ' ') FROM alone.row_of").Scan(&all); err != nil {
			return err
		}
		if got := "[" + all.String + "]"; got != fmt.Sprint(want) {
			return fmt.Errorf("it has %s; %s", got, strings.Join(branchesAt(t, db), ", "))
		}
		return nil
	})
}

// branchesAt returns the prepared branches of a server.
func branchesAt(t *testing.T, db *sql.DB) (list []string) {
	t.Helper()
	rows, err := db.Query("XA RECOVER")
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var format, global, qualifier, data string
		must(t, rows.Scan(&format, &global, &qualifier, &data))
		list = append(list, data)
	}
	must(t, rows.Err())
	slices.Sort(list)
	return list
}

func (s *stand) wantBranches(t *testing.T, server int, want ...string) {
	t.Helper()
	servers.Eventually(t, fmt.Sprintf("server %d has branches %q", server, want), func() error {
		db := s.servers[server].DB(t, "")
		defer db.Close()
		if got := branchesAt(t, db); !slices.Equal(got, want) {
			return fmt.Errorf("it has %q", got)
		}
		return nil
	})
}

// prepares lets a server prepare a branch that changes a row.
func (s *stand) prepares(t *testing.T, server int, xid string, n int, before ...string) {
	t.Helper()
	s.servers[server].Exec(t, append(before, "XA START "+xid, fmt.Sprintf("UPDATE alone.row_of SET v = 1 WHERE n = %d", n), "XA END "+xid, "XA PREPARE "+xid)...)
}

// commitsInTheLog lets a server commit a branch in its log, and kills it before it answers: no replica
// acknowledges the commit.
func (s *stand) commitsInTheLog(t *testing.T, server int, xid string) (ended func()) {
	t.Helper()
	said := make(chan error, 1)
	go func() { said <- s.servers[server].Execute(t.Context(), "XA COMMIT "+xid) }()
	servers.Eventually(t, "the log has the commit", func() error {
		db := s.servers[server].DB(t, "")
		defer db.Close()
		var file, skipped string
		var at int
		must(t, db.QueryRow("SHOW MASTER STATUS").Scan(&file, &at, &skipped, &skipped))
		rows, err := db.Query("SHOW BINLOG EVENTS IN '" + file + "'")
		must(t, err)
		defer rows.Close()
		for rows.Next() {
			var name, kind, info string
			var pos, id, end int64
			must(t, rows.Scan(&name, &pos, &kind, &id, &end, &info))
			if strings.HasPrefix(info, "XA COMMIT") {
				return nil
			}
		}
		return errors.Join(errors.New("it has not"), rows.Err())
	})
	return func() {
		t.Helper()
		if err := <-said; err == nil {
			t.Fatal("the commit was acknowledged")
		}
	}
}

// A primary that was killed and is back before anybody notices finishes the branches that its log has
// committed, and the replicas continue.
func TestACrashLeavesBranches(t *testing.T) {
	t.Parallel()
	s := start(t, servers.MariaDB)
	s.rowsOf(t, 0, 1)
	s.stop() // while the branches are made
	cluster := fnv.New64a()
	_, _ = cluster.Write([]byte("test"))
	name := func(n int) string {
		return fmt.Sprintf("'locus-%016x-%016x%s-%d','s1',%d", cluster.Sum64(), 7, "abcdefghijk", n, twophase.Format)
	}
	s.prepares(t, 0, name(1), 1)
	s.prepares(t, 0, name(2), 2, "SET SESSION sql_log_bin = 0")
	s.prepares(t, 0, name(3), 3)
	s.servers[0].Exec(t, "SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC", "SET GLOBAL rpl_semi_sync_master_timeout = 1000000000", "SET GLOBAL rpl_semi_sync_master_enabled = ON")
	ended := s.commitsInTheLog(t, 0, name(1))
	s.kill(t, 0)
	ended()
	s.restart(t, 0)
	if got := branchesAt(t, s.servers[0].DB(t, "")); len(got) != 3 {
		t.Fatalf("after its crash the server has %q: there is nothing to test", got)
	}
	s.serve(t)
	s.wantBranches(t, 0)
	s.wantValues(t, 0, 1, 0, 0) // the second branch is in no log, and no process has decided to commit either of them
	s.wantValues(t, 1, 1, 0, 0)
	s.servers[0].Exec(t, "UPDATE alone.row_of SET v = v + 5")
	s.wantValues(t, 0, 6, 5, 5)
	s.wantValues(t, 1, 6, 5, 5)
	s.wantBranches(t, 1)
}

// A primary that was killed, and another server took its place, is like that one once it follows it.
func TestAFormerPrimaryHasBranches(t *testing.T) {
	t.Parallel()
	s := promoting(t, servers.MariaDB)
	first := s.primary(t)
	replicas := []int{(first + 1) % 3, (first + 2) % 3}
	s.rowsOf(t, first, replicas...)
	s.prepares(t, first, "'committed'", 1)
	s.prepares(t, first, "'silent'", 2, "SET SESSION sql_log_bin = 0")
	s.prepares(t, first, "'prepared'", 3)
	for _, replica := range replicas {
		s.wantBranches(t, replica, "committed", "prepared")
	}
	s.deafen(t, first) // so that no acknowledgement of a replica arrives
	ended := s.commitsInTheLog(t, first, "'committed'")
	for _, replica := range replicas {
		s.wantBranches(t, replica, "prepared")
	}
	s.kill(t, first)
	ended()
	s.heal(t, first)
	s.wantNamedAnother(t, first)
	s.restart(t, first)
	s.wantBranches(t, first, "prepared")
	s.wantJoined(t, first)
	s.wantValues(t, first, 1, 0, 0)
	s.servers[s.primary(t)].Exec(t, "XA COMMIT 'prepared'", "UPDATE alone.row_of SET v = v + 5")
	for server := range 3 {
		s.wantValues(t, server, 6, 5, 6)
		s.wantBranches(t, server)
	}
	s.wantReady(t)
}

// preparesInTheLog lets a server prepare a branch in its log, and kills it before the storage engine has
// prepared it: no replica acknowledges.
func (s *stand) preparesInTheLog(t *testing.T, server int, xid string, changes []string, replicas ...int) {
	t.Helper()
	s.deafen(t, server)
	said := make(chan error, 1)
	go func() {
		said <- s.servers[server].Execute(t.Context(), slices.Concat([]string{"XA START " + xid}, changes, []string{"XA END " + xid, "XA PREPARE " + xid})...)
	}()
	for _, replica := range replicas {
		s.wantBranches(t, replica, strings.Trim(xid, "'"))
	}
	s.kill(t, server)
	if err := <-said; err == nil {
		t.Fatal("the branch was acknowledged")
	}
	s.heal(t, server)
}

// A primary that was killed during XA PREPARE has the branch only in its log. It receives the branch again when
// it must end it.
func TestAFormerPrimaryLacksABranch(t *testing.T) {
	t.Parallel()
	s := promoting(t, servers.MariaDB)
	first := s.primary(t)
	replicas := []int{(first + 1) % 3, (first + 2) % 3}
	s.rowsOf(t, first, replicas...)
	s.servers[first].Exec(t, "CREATE TABLE alone.note_of (n INT PRIMARY KEY, text LONGTEXT, FOREIGN KEY (n) REFERENCES alone.row_of (n))", "INSERT INTO alone.note_of VALUES (2, 'goes')",
		"SET GLOBAL log_bin_compress = ON")
	s.preparesInTheLog(t, first, "'left out'", []string{ // more than one statement, on more than one table, with more than a packet's worth
		"UPDATE alone.row_of SET v = 1 WHERE n = 1", "INSERT INTO alone.note_of VALUES (1, REPEAT('a', 300000)), (3, NULL)", "DELETE FROM alone.note_of WHERE n = 2",
	}, replicas...)
	s.wantNamedAnother(t, first)
	s.restart(t, first)
	s.wantJoined(t, first)
	s.wantBranches(t, first)
	s.servers[s.primary(t)].Exec(t, "UPDATE alone.row_of SET v = v + 5 WHERE n > 1", "XA COMMIT 'left out'", "UPDATE alone.row_of SET v = v + 10")
	for server := range 3 {
		s.wantValues(t, server, 11, 15, 15)
		var notes string
		must(t, s.servers[server].DB(t, "").QueryRow("SELECT GROUP_CONCAT(n, ' ', COALESCE(LENGTH(text), 'NULL') ORDER BY n) FROM alone.note_of").Scan(&notes))
		if notes != "1 300000,3 NULL" {
			t.Errorf("server %d has notes %q", server, notes)
		}
		s.wantBranches(t, server)
	}
	s.wantReady(t)
}

// If the primary is back before anybody notices, it never ends the branch. Replicas must not wait for that.
func TestAPrimaryHasLostABranch(t *testing.T) {
	t.Parallel()
	s := promoting(t, servers.MariaDB)
	s.Declare(strings.Replace(s.file, "failover: promote", "failover: promote, failover_after: 1m", 1))
	first := s.primary(t)
	replicas := []int{(first + 1) % 3, (first + 2) % 3}
	s.rowsOf(t, first, replicas...)
	s.preparesInTheLog(t, first, "'lost'", []string{"UPDATE alone.row_of SET v = 1 WHERE n = 1"}, replicas...)
	s.restart(t, first)
	s.wantBranches(t, first)
	s.servers[first].Exec(t, "UPDATE alone.row_of SET v = v + 5")
	for server := range 3 {
		s.wantValues(t, server, 5, 5, 5)
		s.wantBranches(t, server)
	}
	if got := s.primary(t); got != first {
		t.Errorf("server %d was promoted: there was nothing to test", got)
	}
	s.wantReady(t)
}
