package switchover

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/control/failover"
	"locus/internal/test/servers"
)

// A replica that could not be promoted is reported in advance, with the reason, until the reason is gone. A replica that
// replicates from no server is made to replicate again.
func TestWhatIsWrongWithAReplicaIsTold(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // mostly waits
		s := promoting(t, engine)
		replica := (s.primary(t) + 1) % 3
		at := s.servers[replica]
		byPosition, byGTIDs := "CHANGE MASTER TO MASTER_USE_GTID = no", "CHANGE MASTER TO MASTER_USE_GTID = slave_pos"
		if engine == servers.MySQL {
			byPosition, byGTIDs = "CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 0", "CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 1"
		}
		for _, c := range []struct {
			wrong  []string
			told   string
			mended []string
		}{
			{password("another"), "Access denied", password(servers.Password)},
			{[]string{"STOP REPLICA SQL_THREAD"}, "has stopped applying transactions", []string{"START REPLICA SQL_THREAD"}},
			{[]string{"STOP REPLICA IO_THREAD"}, "does not receive the primary's transactions", []string{"START REPLICA IO_THREAD"}},
			{[]string{"STOP REPLICA", byPosition, "START REPLICA"}, "does not replicate by GTIDs", []string{"STOP REPLICA", byGTIDs, "START REPLICA"}},
		} {
			s.becomes(t, replica, c.wrong)
			servers.Eventually(t, c.told, func() error {
				records, err := failover.Records(t.Context(), s.kv)
				if why := records["s0"].Unready[s.addr(replica)]; err == nil && !strings.Contains(why, c.told) {
					err = fmt.Errorf("of %s is told %q", at.Addr(), why)
				}
				return err
			})
			s.becomes(t, replica, c.mended)
			s.wantReady(t)
		}
		s.waitsForABranch(t, replica)
		at.Exec(t, "STOP REPLICA", "RESET REPLICA ALL")
		servers.Eventually(t, "it follows again", func() error {
			db := at.DB(t, "")
			defer db.Close()
			rows, err := db.Query("SHOW REPLICA STATUS")
			if err != nil {
				return err
			}
			defer rows.Close()
			if !rows.Next() {
				return errors.Join(fmt.Errorf("%s follows nobody", at.Addr()), rows.Err())
			}
			return nil
		})
		s.wantReady(t)
	})
}

// password returns statements that set the password of the accounts on this server only, and end the sessions
// that used another one.
func password(p string) []string {
	return []string{"SET SESSION sql_log_bin = 0", "ALTER USER chief IDENTIFIED BY '" + p + "'", "KILL"}
}

// becomes runs statements on a replica. A replica that was super-read-only is so again afterwards.
func (s *stand) becomes(t *testing.T, replica int, statements []string) {
	t.Helper()
	at := s.servers[replica]
	if at.Engine() == servers.MySQL {
		statements = slices.Insert(slices.Clone(statements), 0, "SET GLOBAL super_read_only = OFF")
	}
	servers.Eventually(t, strings.Join(statements, "; "), func() error {
		db := at.DB(t, "")
		defer db.Close()
		db.SetMaxOpenConns(1)
		for _, statement := range statements {
			if statement == "KILL" {
				return throwOut(t, s, replica)
			}
			if _, err := db.Exec(statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
}

func throwOut(t *testing.T, s *stand, replica int) error {
	db := s.servers[replica].DB(t, "")
	defer db.Close()
	rows, err := db.Query("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'chief' AND COMMAND <> 'Binlog Dump' AND COMMAND <> 'Binlog Dump GTID'")
	if err != nil {
		return err
	}
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if err := rows.Close(); err != nil {
		return err
	}
	for _, id := range ids {
		_, _ = db.Exec(fmt.Sprintf("KILL %d", id)) // the session may have ended by itself
	}
	return nil
}

// waitsForABranch gives a replica a prepared branch that no other server has, as a killed primary may keep one,
// and sends it a change of the same row. Then it can't apply anything, and that is reported until the branch is
// gone.
func (s *stand) waitsForABranch(t *testing.T, replica int) {
	t.Helper()
	at, primary := s.servers[replica], s.servers[s.primary(t)]
	primary.Exec(t, "CREATE DATABASE IF NOT EXISTS alone", "CREATE TABLE alone.row_of (n INT PRIMARY KEY, v INT)", "INSERT INTO alone.row_of VALUES (1, 0)")
	servers.Eventually(t, "the replica has the row", func() error {
		db := at.DB(t, "") // it may not have the schema yet either
		defer db.Close()
		var n int
		return db.QueryRow("SELECT n FROM alone.row_of").Scan(&n)
	})
	s.becomes(t, replica, []string{"SET SESSION sql_log_bin = 0", "XA START 'alone'", "UPDATE alone.row_of SET v = 1", "XA END 'alone'", "XA PREPARE 'alone'"})
	primary.Exec(t, "UPDATE alone.row_of SET v = 2")
	servers.Eventually(t, "it is told what the replica may be waiting for", func() error {
		records, err := failover.Records(t.Context(), s.kv)
		if why := records["s0"].Unready[s.addr(replica)]; err == nil && !strings.Contains(why, "has 1 prepared transactions") {
			err = fmt.Errorf("of %s is told %q", at.Addr(), why)
		}
		return err
	})
	s.becomes(t, replica, []string{"SET SESSION sql_log_bin = 0", "XA ROLLBACK 'alone'"})
	s.wantReady(t)
}
