package e2e

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/proxy/backend"
	"locus/test/shop"
)

// TestAShardIsRestartedUnderLoad: the only reads that fail are those that MySQL itself interrupts, as by KILL. For
// each write the outcome is known, or the error says that it is not.
func TestAShardIsRestartedUnderLoad(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		pair := servers.Start(t, engine, 2)
		s := shop.Start(t, engine, shop.Options{Servers: pair, Backends: backend.Limits{RestartWait: time.Minute}})
		db := s.DB(t, nil)
		var tasks sync.WaitGroup
		var done atomic.Int64
		stop := make(chan struct{})
		const customers = 4
		for c := range customers {
			tasks.Go(func() {
				for turn := 0; paced(stop); turn++ {
					if err := write(db, customers*turn+c); err != nil {
						endedWith(t, err, 1158, 1317)
					}
					if err := read(db, customers*turn+c); err != nil {
						endedWith(t, err, 1317)
					}
					done.Add(1)
				}
			})
		}
		goesOn := func(what string) {
			t.Helper()
			want := done.Load() + 20*customers
			until(t, what, func() bool { return done.Load() >= want })
		}
		goesOn("load")
		if err := pair[1].Stop(t.Context()); err != nil {
			t.Error(err)
		}
		pair[1].Restart(t)
		goesOn("load after the restart")
		close(stop)
		tasks.Wait()
	})
}

// endedWith is for errors of any goroutine.
func endedWith(t *testing.T, err error, codes ...uint16) {
	t.Helper()
	if refused := new(mysql.MySQLError); !errors.As(err, &refused) || !slices.Contains(codes, refused.Number) {
		t.Error(err)
	}
}

func write(db *sql.DB, buyer int) error {
	_, err := db.Exec(fmt.Sprintf("INSERT INTO test_order (buyer_uid) VALUES (%d)", buyer))
	return err
}

// read reads of one shard, and of both.
func read(db *sql.DB, buyer int) error {
	var n int
	for _, query := range []string{
		fmt.Sprintf("SELECT COUNT(*) FROM test_order WHERE buyer_uid = %d", buyer),
		fmt.Sprintf("SELECT COUNT(*) FROM test_order WHERE amount >= 0 AND order_id <> %d", buyer),
	} {
		if err := db.QueryRow(query).Scan(&n); err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
	}
	return nil
}
