package histories

import (
	"database/sql"
	"fmt"
	"testing"

	"locus/idgen/gene"
	harness "locus/test/cluster"
)

// past returns a connection to the shard that had the tables, without the proxies, as a user that the proxies
// don't have.
func (w *world) past(t *testing.T) *sql.DB {
	t.Helper()
	w.Shards[0].Exec(t, "CREATE USER IF NOT EXISTS past@'%' IDENTIFIED BY 'past'", "GRANT ALL ON shop.* TO past@'%'")
	db, err := sql.Open("mysql", "past:past@tcp("+w.Shards[0].Addr()+")/"+schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// pastProxies lets a client continue on the server that had the tables, without knowing of the switch. Its
// changes to rows of other shards are brought to those shards, and reported. It finds the shard's own rows as
// before.
func (w *world) pastProxies(t *testing.T) {
	t.Helper()
	_, m := w.routes(t)
	uid := int64(5000)
	for m.Shard(m.Lookup(gene.OfInt(uid, gene.W16))) != "s1" {
		uid++
	}
	proxy, past := client(w.Proxies[0].Addr(), false), w.past(t)
	defer proxy.Close()
	changed, deleted := idOf(uid, 1), idOf(uid, 2)
	harness.Until(t, "rows are inserted by a proxy", func() (bool, error) { // a proxy may pause the statement for too long
		_, err := proxy.Exec("INSERT INTO ledger VALUES (?, ?, 1, 2), (?, ?, 1, 2)", changed, uid, deleted, uid)
		return err == nil, err
	})
	brought := func(what string, query string, args ...any) {
		t.Helper()
		harness.Until(t, what, func() (bool, error) {
			r, err := past.Exec(query, args...)
			if err != nil {
				return false, err
			}
			n, _ := r.RowsAffected()
			return n == 1, fmt.Errorf("%d rows", n)
		})
	}
	brought("the row that is changed is there", "UPDATE ledger SET value = 7 WHERE item_id = ?", changed)
	brought("the row that is deleted is there", "DELETE FROM ledger WHERE item_id = ?", deleted)
	brought("a row is inserted", "INSERT INTO ledger VALUES (?, ?, 9, 2)", idOf(uid, 3), uid)
	owner := w.Shards[1].DB(t, schema)
	harness.Until(t, "they are on the shard that owns them", func() (bool, error) {
		var rows, sum int
		err := owner.QueryRow("SELECT COUNT(*), COALESCE(SUM(value), 0) FROM ledger WHERE uid = ?", uid).Scan(&rows, &sum)
		return rows == 2 && sum == 7+9, fmt.Errorf("%d rows, of %d; %w", rows, sum, err)
	})
	harness.Until(t, "what went past the proxies is told", func() (bool, error) {
		reports, err := w.Jobs.Reports(t.Context())
		return reports[splitting].Strays >= 3, fmt.Errorf("%d strays; %w", reports[splitting].Strays, err)
	})
	harness.Until(t, "a proxy finds them so", func() (bool, error) {
		var sum int
		err := proxy.QueryRow("SELECT SUM(value) FROM ledger WHERE uid = ?", uid).Scan(&sum)
		return sum == 7+9, fmt.Errorf("a sum of %d; %w", sum, err)
	})
}
