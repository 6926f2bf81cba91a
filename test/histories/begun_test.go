package histories

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// begun are transactions through each proxy that have a snapshot of the default shard. They have used no row of
// the imported tables, because a fence would end them.
type begun []*sql.Tx

func (w *world) begun(t *testing.T) (list begun) {
	t.Helper()
	for _, p := range w.Proxies {
		if p.Addr() == "" {
			continue
		}
		db := client(p.Addr(), true)
		t.Cleanup(func() { _ = db.Close() })
		tx, err := joined(db)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tx)
	}
	return list
}

// joined returns a transaction that has read on the default shard.
func joined(db *sql.DB) (*sql.Tx, error) {
	tx, err := db.Begin()
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec("SELECT n FROM still"); err != nil {
		_ = tx.Rollback()
		return nil, err
	}
	return tx, nil
}

// refused checks that the transactions get an error when they read tables that have been sharded, or made
// single, since they began.
func (b begun) refused(t *testing.T) {
	t.Helper()
	for _, tx := range b {
		if _, err := tx.Exec("SELECT n FROM still"); err != nil {
			t.Errorf("of a table that is where it was a transaction is told: %v", err)
		}
		var n int
		if err := tx.QueryRow("SELECT COUNT(*) FROM ledger").Scan(&n); !deadlocked(err) {
			t.Errorf("a transaction that had begun before counts %d rows: %v", n, err)
		}
		_ = tx.Rollback()
	}
}

// deadlocked reports whether the error says that the transaction was rolled back.
func deadlocked(err error) bool {
	e, is := errors.AsType[*mysql.MySQLError](err)
	return is && e.Number == 1213
}

// missed reports whether it was rolled back because it would not see all rows.
func missed(err error) bool {
	return deadlocked(err) && strings.Contains(err.Error(), "would not see all of them")
}

// glance reads all rows of an owner in a transaction that has read on the default shard a moment ago. It must
// see all of them, or get an error to begin again. Servers return such an error (1412) if a table was altered
// after the transaction began.
func (k *keeper) glance(db *sql.DB) error {
	tx, err := joined(db)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	pause(context.Background(), time.Duration(k.random.Int64N(int64(glancing))))
	const altered = 1412
	found, err := k.read(tx)
	e, is := errors.AsType[*mysql.MySQLError](err)
	switch {
	case missed(err), is && e.Number == altered:
		k.mu.Lock()
		defer k.mu.Unlock()
		k.begunAgain++
		return nil
	case err != nil:
		return err
	}
	if what := differ(k.rows, found); what != "" {
		k.complain("owner %d, in a transaction by %s: %s", k.uid, k.addr, what)
	}
	return nil
}
