package switchover

import (
	"database/sql"
	"sync"
	"sync/atomic"
	"testing"

	"locus/control/switchover"
	"locus/internal/test/servers"
)

// The next primary accepts writes only after it has applied everything that the former primary wrote before it
// refused writes.
func (s *stand) appliesAll(t *testing.T) {
	for _, to := range []int{0, 1} {
		s.servers[1-to].Exec(t, "CREATE DATABASE IF NOT EXISTS behind", "CREATE TABLE IF NOT EXISTS behind.one (id INT PRIMARY KEY, v INT)", "REPLACE INTO behind.one VALUES (1, 0)")
		next := s.servers[to].DB(t, "")
		servers.Eventually(t, "the replica has the row", func() error { return next.QueryRow("SELECT v FROM behind.one WHERE v = 0").Scan(new(int)) })
		var waiting sync.WaitGroup
		var locks *sql.Tx
		unlock := sync.OnceFunc(func() { _ = locks.Rollback() })
		var reached atomic.Bool
		order := s.to(to)
		order.Stop = func(line switchover.Line) {
			switch line {
			case switchover.ReadOnly: // the last write before the primary refuses them waits for a lock at the replica
				locks = lock(t, next)
				s.servers[1-to].Exec(t, "UPDATE behind.one SET v = 1")
			case switchover.Position:
				waiting.Go(func() {
					servers.Eventually(t, "the order waits for the replica", func() error {
						if reached.Load() {
							return nil
						}
						return next.QueryRow("SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT MASTER\\_GTID\\_WAIT%' OR INFO LIKE 'SELECT WAIT\\_FOR\\_EXECUTED%'").Scan(new(int))
					})
					unlock()
				})
			case switchover.Writable:
				reached.Store(true)
				if err := next.QueryRow("SELECT v FROM behind.one WHERE v = 1").Scan(new(int)); err != nil {
					t.Errorf("the next primary lacks the last write: %v", err)
				}
				unlock()
			default:
			}
		}
		_, err := order.Run(t.Context())
		waiting.Wait()
		if err != nil {
			t.Fatal(err)
		}
		s.wantPrimary(t, to)
		_ = next.Close()
	}
}

// lock begins a transaction that has locked the row of [stand.appliesAll].
func lock(t *testing.T, at *sql.DB) *sql.Tx {
	t.Helper()
	tx, err := at.Begin()
	if err == nil {
		err = tx.QueryRow("SELECT v FROM behind.one WHERE id = 1 LOCK IN SHARE MODE").Scan(new(int))
	}
	if err != nil {
		t.Fatal(err)
	}
	return tx
}
