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

// begun are transactions, by each proxy, that see the default shard as it was. They have touched no row of what is imported: a fence ends
// those that have.
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

// joined is a transaction that has read on the default shard.
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

// refused holds the transactions to be told to begin again where they read tables that have been sharded, or single, since.
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

// deadlocked tells that a transaction was rolled back.
func deadlocked(err error) bool {
	e, is := errors.AsType[*mysql.MySQLError](err)
	return is && e.Number == 1213
}

// missed tells that it was since it would not see all rows.
func missed(err error) bool {
	return deadlocked(err) && strings.Contains(err.Error(), "would not see all of them")
}

// glance reads all rows of an owner in a transaction that has joined the default shard a moment ago: it sees them all, or is told to
// begin again. Servers have who began before a table was altered begin again as well (1412).
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
