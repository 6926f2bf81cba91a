package histories

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	harness "locus/test/cluster"
)

// keeping is a set of clients. Each knows the rows of its owner in the ledger.
type keeping struct {
	world   *world
	end     context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex // guards the fields below
	rows map[int64]map[int64]int64
	done int
	// begunAgain counts transactions that got error 1213 because the declaration of the tables changed after
	// they had begun.
	begunAgain int
	// slowest is the longest time of an operation since the last query of it.
	slowest time.Duration
	wrong   []string
	// failures counts the errors that clients received.
	failures map[failure]int
}

func (w *world) keepers(t *testing.T) *keeping {
	k := &keeping{world: w, rows: map[int64]map[int64]int64{}, failures: map[failure]int{}}
	ctx, end := context.WithCancel(t.Context())
	k.end = end
	for i := range int64(keepers) {
		k.rows[i] = map[int64]int64{}
		k.running.Go(func() {
			(&keeper{keeping: k, uid: i, rows: map[int64]int64{}, random: rand.New(rand.NewPCG(seed(), uint64(i)))}).run(ctx)
		})
	}
	return k
}

func (k *keeping) stop(t *testing.T) {
	t.Helper()
	k.end()
	k.running.Wait()
	t.Logf("%d operations; %d transactions were told to begin again", k.done, k.begunAgain)
	for _, wrong := range k.wrong {
		t.Error(wrong)
	}
	for f, n := range k.failures {
		if !k.world.struck.excuses(f) {
			t.Errorf("%d times, by %s, where nothing was struck that explains it: %s", n, f.addr, f.text)
		}
	}
}

func (k *keeping) slow() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.slowest
	k.slowest = 0
	return now
}

// more waits for a number of operations.
func (k *keeping) more(t *testing.T) {
	t.Helper()
	read := func() int { k.mu.Lock(); defer k.mu.Unlock(); return k.done }
	since := read()
	harness.Until(t, "clients get on", func() (bool, error) { return read() > since+20*keepers, nil })
}

func (k *keeping) complain(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.wrong) < 20 {
		k.wrong = append(k.wrong, fmt.Sprintf(format, args...))
	}
}

// keeper is one client. No other client writes its owner's rows.
type keeper struct {
	*keeping
	uid      int64
	rows     map[int64]int64 // by ID, the value
	sequence uint64
	value    int64
	random   *rand.Rand
	addr     string
}

func (k *keeper) run(ctx context.Context) {
	for ctx.Err() == nil {
		k.addr = k.world.Proxies[k.random.IntN(len(k.world.Proxies))].Addr()
		if k.addr == "" {
			pause(ctx, 10*time.Millisecond)
			continue
		}
		k.connected(ctx)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keeping.rows[k.uid] = k.rows
}

// connected uses one proxy for a while. It first looks up the result of an operation that a lost connection
// left unknown.
func (k *keeper) connected(ctx context.Context) {
	db := client(k.addr, k.random.IntN(2) == 0)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for range 50 {
		if ctx.Err() != nil {
			return
		}
		began := time.Now()
		err := k.act(db)
		k.mu.Lock()
		k.slowest = max(k.slowest, time.Since(began))
		k.mu.Unlock()
		if err != nil {
			k.failed(err)
			k.settle()
			return
		}
		k.mu.Lock()
		k.done++
		k.mu.Unlock()
		pause(ctx, time.Duration(k.random.Int64N(int64(30*time.Millisecond))))
	}
}

func (k *keeper) failed(err error) {
	f := failure{addr: k.addr, text: err.Error()}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		f.code = e.Number
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures[f]++
}

func (k *keeper) act(db *sql.DB) error {
	ids := make([]int64, 0, len(k.rows))
	for id := range k.rows {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	k.value++
	switch n := k.random.IntN(11); {
	case n < 3 || len(ids) == 0:
		k.sequence++
		id := idOf(k.uid, k.sequence)
		if err := k.insert(db, id); err != nil {
			return err
		}
		k.rows[id] = k.value
	case n < 5:
		id := ids[k.random.IntN(len(ids))]
		if err := k.changed(db.Exec("UPDATE ledger SET value = ? WHERE item_id = ?", k.value, id)); err != nil {
			return err
		}
		k.rows[id] = k.value
	case n < 6 && len(ids) > 5:
		id := ids[k.random.IntN(len(ids))]
		if err := k.changed(db.Exec("DELETE FROM ledger WHERE uid = ? AND item_id = ?", k.uid, id)); err != nil {
			return err
		}
		delete(k.rows, id)
	case n < 7:
		return k.transact(db, ids)
	case n < 9:
		return k.list(db)
	case n < 10:
		return k.glance(db)
	default:
		return k.count(db)
	}
	return nil
}

// insert writes a row with its line and a note, or nothing.
func (k *keeper) insert(db *sql.DB, id int64) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec("INSERT INTO ledger (item_id, uid, value, tag) VALUES (?, ?, ?, 0)", id, k.uid, k.value); err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO line (item_id, number) VALUES (?, 1)", id); err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO note (item_id, uid) VALUES (?, ?)", id, k.uid); err != nil {
		return err
	}
	return tx.Commit()
}

func (k *keeper) changed(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, _ := r.RowsAffected(); n != 1 {
		k.complain("owner %d: %d rows were changed, by %s", k.uid, n, k.addr)
	}
	return nil
}

// transact changes all rows in one transaction, or none.
func (k *keeper) transact(db *sql.DB, ids []int64) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	some := ids[:min(len(ids), 3)]
	for _, id := range some {
		if err := k.changed(tx.Exec("UPDATE ledger SET value = ? WHERE item_id = ?", k.value, id)); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for _, id := range some {
		k.rows[id] = k.value
	}
	return nil
}

// reader is some connections, or a transaction.
type reader interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

func (k *keeper) read(db reader) (map[int64]int64, error) {
	rows, err := db.Query("SELECT l.item_id, l.value FROM ledger l JOIN line n ON n.item_id = l.item_id JOIN note m ON m.item_id = l.item_id AND m.uid = l.uid WHERE l.uid = ?", k.uid)
	if err != nil {
		return nil, err
	}
	list, err := pairs(rows)
	found := map[int64]int64{}
	for _, pair := range list {
		found[pair[0]] = pair[1]
	}
	if err == nil && len(found) != len(list) {
		k.complain("owner %d: %d rows, and %d different ones", k.uid, len(list), len(found))
	}
	return found, err
}

func (k *keeper) list(db *sql.DB) error {
	found, err := k.read(db)
	if err != nil {
		return err
	}
	if what := differ(k.rows, found); what != "" {
		k.complain("owner %d, by %s: %s", k.uid, k.addr, what)
	}
	return nil
}

func differ(want, got map[int64]int64) string {
	for id, v := range want {
		if now, there := got[id]; !there || now != v {
			return fmt.Sprintf("row %d is %d (there: %v), want %d", id, now, there, v)
		}
	}
	for id := range got {
		if _, there := want[id]; !there {
			return fmt.Sprintf("row %d is there and should not be", id)
		}
	}
	return ""
}

// count counts the rows that no client changes. If a shard's rows were missing or were counted twice, the number would differ.
func (k *keeper) count(db *sql.DB) error {
	var n int
	if err := db.QueryRow("SELECT COUNT(*) FROM ledger WHERE tag = 1").Scan(&n); err != nil {
		return err
	}
	if n != standing {
		k.complain("by %s: %d of %d rows were counted", k.addr, n, standing)
	}
	return nil
}

// settle reads the rows after an operation without an answer. They must be those before or those after the
// operation.
func (k *keeper) settle() {
	for {
		for _, p := range k.world.Proxies {
			addr := p.Addr()
			if addr == "" {
				continue
			}
			db := client(addr, true)
			found, err := k.read(db)
			_ = db.Close()
			if err == nil {
				k.settled(found)
				return
			}
		}
		pause(context.Background(), 20*time.Millisecond)
	}
}

func (k *keeper) settled(found map[int64]int64) {
	unknown := 0
	for id, v := range k.rows {
		if now, there := found[id]; !there || now != v {
			unknown++
			if there && now != k.value || !there && unknown > 1 {
				k.complain("owner %d: row %d is %d (there: %v), and was %d; under way was %d", k.uid, id, now, there, v, k.value)
			}
		}
	}
	for id, v := range found {
		if _, there := k.rows[id]; !there && v != k.value {
			k.complain("owner %d: row %d is there, of value %d, and should not be", k.uid, id, v)
		}
	}
	k.rows = found
}

// compare compares the rows on the shards with those that the clients know. Each row must be on the shard of
// its gene.
func (k *keeping) compare(t *testing.T) {
	t.Helper()
	w := k.world
	_, m := w.routes(t)
	found := map[int64]map[int64]int64{}
	n := 0
	w.All(t, "SELECT item_id, uid, value, tag FROM ledger", func(shard int, rows *sql.Rows) error {
		var id, uid, value, tag int64
		err := rows.Scan(&id, &uid, &value, &tag)
		if home := m.Shard(m.Lookup(gene.OfInt(uid, gene.W16))); home != router.ShardName(fmt.Sprintf("s%d", shard)) {
			t.Errorf("row %d of owner %d is on s%d, and belongs to %s", id, uid, shard, home)
		}
		if tag == 1 {
			n++
			return err
		}
		if found[uid] == nil {
			found[uid] = map[int64]int64{}
		}
		found[uid][id] = value
		return err
	})
	if n != standing {
		t.Errorf("%d of %d rows that nobody changes", n, standing)
	}
	notes := 0
	w.All(t, "SELECT item_id, uid, "+catalog.OwnGene+" FROM note", func(shard int, rows *sql.Rows) error {
		var id, uid, stored int64
		err := rows.Scan(&id, &uid, &stored)
		g := gene.OfInt(uid, gene.W16)
		if home := m.Shard(m.Lookup(g)); stored != int64(g) || home != router.ShardName(fmt.Sprintf("s%d", shard)) {
			t.Errorf("a note of row %d and owner %d, of gene %s, is on s%d with gene %d, and belongs to %s", id, uid, g, shard, stored, home)
		}
		if uid >= 1000 {
			notes++
		}
		return err
	})
	if notes != standing {
		t.Errorf("%d of %d notes that nobody changes", notes, standing)
	}
	for uid, rows := range k.rows {
		if what := differ(rows, found[uid]); what != "" {
			t.Errorf("owner %d: %s", uid, what)
		}
	}
}
