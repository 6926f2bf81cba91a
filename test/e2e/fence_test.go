package e2e

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/idgen/gene"
	"locus/proxy"
	"locus/router"
	"locus/test/shop"
)

// gene42 is buyer 42's, on the first shard.
const gene42 = gene.Gene(0x3eab)

// fencing is a shop whose maps are changed step by step, as a job does.
type fencing struct {
	*shop.Shop
	t            *testing.T
	acknowledged chan int64
	released     chan int64
	routes       *router.Map
}

func fenced(t *testing.T, test func(f *fencing, db *sql.DB), options ...func(*proxy.Options)) {
	f := &fencing{acknowledged: make(chan int64, 1000), released: make(chan int64, 1000)}
	each(t, shop.Options{Spare: 1, Options: func(o *proxy.Options) {
		f = &fencing{acknowledged: make(chan int64, 1000), released: make(chan int64, 1000)}
		o.Acknowledge = func(version int64) error { f.acknowledged <- version; return nil }
		o.Fence.Release = func(_ context.Context, version int64) error { f.released <- version; return nil }
		for _, option := range options {
			option(o)
		}
	}}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		f.Shop, f.t, f.routes = s, t, s.Cluster.Routes
		test(f, db)
	})
}

// step brings the next version of the map into force.
func (f *fencing) step(held gene.Set, changes ...router.Change) int64 {
	f.t.Helper()
	move := router.Move{Job: "1", Genes: gene.NewSet(gene.Range{First: 0x3000, Last: 0x3fff}), From: "s0", To: "s2", Held: held}
	next, err := f.routes.Step([]router.Move{move}, changes...)
	if err != nil {
		f.t.Fatal(err)
	}
	return f.apply(next)
}

// apply brings a map into force.
func (f *fencing) apply(next *router.Map) int64 {
	f.t.Helper()
	f.routes = next
	changed := *f.Cluster
	changed.Routes = next
	f.Apply(&changed)
	for f.Proxy.Status().MapVersion < next.Version() {
		<-time.After(time.Millisecond)
	}
	return next.Version()
}

func (f *fencing) acked(version int64) {
	f.t.Helper()
	for {
		select {
		case got := <-f.acknowledged:
			if got >= version {
				return
			}
		case <-time.After(time.Minute):
			f.t.Fatalf("version %d is not acknowledged", version)
		}
	}
}

func (f *fencing) notAcked(version int64) {
	f.t.Helper()
	for {
		select {
		case got := <-f.acknowledged:
			if got >= version {
				f.t.Fatalf("version %d is acknowledged too early", version)
			}
		default:
			return
		}
	}
}

// holding waits until so many statements are paused.
func (f *fencing) holding(n int64) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); f.Proxy.Status().Counts.Holding.Load() != n; {
		if time.Now().After(deadline) {
			f.t.Fatalf("%d statements are held, want %d", f.Proxy.Status().Counts.Holding.Load(), n)
		}
		<-time.After(time.Millisecond)
	}
}

// later runs a statement in the background.
func later(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

func (f *fencing) done(what string, done <-chan error) {
	f.t.Helper()
	select {
	case err := <-done:
		if err != nil {
			f.t.Errorf("%s: %v", what, err)
		}
	case <-time.After(time.Minute):
		f.t.Errorf("%s is still held", what)
	}
}

func deadlock(t *testing.T, what string, err error) {
	t.Helper()
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number != 1213 {
		t.Errorf("%s: %v, want MySQL's 1213", what, err)
	}
}

var held42 = gene.NewSet(gene.Range{First: gene42, Last: gene42})

// TestAFence: statements on the paused genes wait, those on others don't, and the fence waits for transactions that
// began before it.
func TestAFence(t *testing.T) {
	fenced(t, func(f *fencing, db *sql.DB) {
		f.acked(f.step(gene.Set{}))
		exec(t, db, "INSERT INTO test_order (buyer_uid) VALUES (42)")
		before, other := begin(t, db), begin(t, db)
		exec(t, before, "INSERT INTO test_order (buyer_uid) VALUES (?)", 42)
		exec(t, other, "INSERT INTO test_order (buyer_uid) VALUES (0)")

		fence := f.step(held42)
		insert := later(func() error {
			_, err := db.Exec("INSERT INTO test_order (buyer_uid, status) VALUES (42, 'late')")
			return err
		})
		read := later(func() error {
			return db.QueryRow("SELECT status FROM test_order WHERE buyer_uid = ? AND status = 'late' OR buyer_uid = ? LIMIT 1", 42, 42).Scan(new(string))
		})
		var count int
		scatter := later(func() error { return db.QueryRow("SELECT COUNT(*) FROM test_order").Scan(&count) })
		f.holding(3)
		f.notAcked(fence)
		exec(t, db, "INSERT INTO test_order (buyer_uid) VALUES (1)") // another gene
		if got := number(t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 1"); got != 1 {
			t.Errorf("%d rows of another gene", got)
		}
		exec(t, before, "INSERT INTO test_order (buyer_uid) VALUES (42)") // the transaction may continue to its end
		if err := before.Commit(); err != nil {
			t.Fatal(err)
		}
		f.acked(fence) // though another transaction is open
		f.holding(3)

		f.moveRows("test_order", "buyer_uid = 42")
		f.step(gene.Set{}, router.Change{Genes: held42, To: "s2"})
		f.done("insert", insert)
		f.done("read", read)
		f.done("scatter", scatter)
		if err := other.Commit(); err != nil {
			t.Error(err)
		}
		if got := number(t, f.Shard(t, 2), "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"); got != 4 {
			t.Errorf("%d rows at the new owner, want 4", got)
		}
		if got := number(t, f.Shard(t, 0), "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"); got != 0 {
			t.Errorf("%d rows at the old one", got)
		}
	})
}

// moveRows takes rows from the first shard to the spare one.
func (f *fencing) moveRows(table, where string) {
	f.t.Helper()
	from, to := f.Shard(f.t, 0), f.Shard(f.t, 2)
	list, err := from.Query("SELECT order_id, order_no, buyer_uid, status, version FROM " + table + " WHERE " + where)
	if err != nil {
		f.t.Fatal(err)
	}
	defer list.Close()
	for list.Next() {
		var id, no, buyer, version int64
		var status string
		if err := list.Scan(&id, &no, &buyer, &status, &version); err != nil {
			f.t.Fatal(err)
		}
		exec(f.t, to, "INSERT INTO "+table+" (order_id, order_no, buyer_uid, status, version) VALUES (?, ?, ?, ?, ?)", id, no, buyer, status, version)
	}
	exec(f.t, from, "DELETE FROM "+table+" WHERE "+where)
}

// TestAFenceRollsBackWhoKeepsItWaiting: a transaction that its client leaves open, and a statement that takes too
// long.
func TestAFenceRollsBackWhoKeepsItWaiting(t *testing.T) {
	fenced(t, func(f *fencing, db *sql.DB) {
		f.acked(f.step(gene.Set{}))
		idle, busy := begin(t, db), begin(t, db)
		exec(t, idle, "INSERT INTO test_order (buyer_uid) VALUES (42)")
		exec(t, busy, "INSERT INTO test_order (buyer_uid) VALUES (42)")
		slow := later(func() error {
			_, err := busy.Exec("UPDATE test_order SET status = 'slow' WHERE buyer_uid = 42 AND SLEEP(60) = 0")
			return err
		})
		for number(t, f.Shard(t, 0), "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'UPDATE test_order SET%SLEEP%'") == 0 {
			continue
		}
		f.acked(f.step(held42))
		f.step(gene.Set{})
		select {
		case err := <-slow:
			deadlock(t, "the statement under way", err)
		case <-time.After(time.Minute):
			t.Fatal("it goes on")
		}
		_, err := idle.Exec("INSERT INTO test_order (buyer_uid) VALUES (42)")
		deadlock(t, "the next statement of the transaction", err)
		for _, tx := range []*sql.Tx{idle, busy} {
			if err := tx.Rollback(); err != nil {
				t.Errorf("rollback: %v", err)
			}
		}
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 0 {
			t.Errorf("%d rows are left of transactions that were rolled back", got)
		}
	}, func(o *proxy.Options) { o.Fence.Patience = 50 * time.Millisecond; o.Fence.Hold = time.Minute })
}

// TestAFenceThatIsLeftBehind: statements get the error to try again, and the proxy requests the removal of the fence.
func TestAFenceThatIsLeftBehind(t *testing.T) {
	fenced(t, func(f *fencing, db *sql.DB) {
		f.acked(f.step(gene.Set{}))
		fence := f.step(held42)
		f.acked(fence)
		_, err := db.Exec("INSERT INTO test_order (buyer_uid) VALUES (42)")
		deadlock(t, "a held statement", err)
		if got := <-f.released; got != fence {
			t.Errorf("the fence of version %d is to be taken away, want %d", got, fence)
		}
		f.step(gene.Set{})
		for f.Proxy.Status().MapVersion != fence+1 {
			<-time.After(time.Millisecond)
		}
		exec(t, db, "INSERT INTO test_order (buyer_uid) VALUES (42)")
	}, func(o *proxy.Options) { o.Fence.Hold = 100 * time.Millisecond })
}

// TestWithoutItsLease: a proxy that other processes consider dead serves no genes that are being moved, but all
// others.
func TestWithoutItsLease(t *testing.T) {
	var lease atomic.Int64
	fenced(t, func(f *fencing, db *sql.DB) {
		f.acked(f.step(gene.Set{}))
		exec(t, db, "INSERT INTO test_order (buyer_uid) VALUES (0)")
		_, err := db.Exec("INSERT INTO test_order (buyer_uid) VALUES (42)")
		deadlock(t, "a statement on a moving gene", err)
		insert := later(func() error {
			_, err := db.Exec("INSERT INTO test_order (buyer_uid) VALUES (42)")
			return err
		})
		f.holding(1)
		lease.Store(1)
		f.done("insert", insert)
		lease.Store(0)
	}, func(o *proxy.Options) { o.Fence.Hold, o.Fence.Leased = 2*time.Second, lease.Load })
}

// TestAStatementOfAnEarlierLease: a statement waits for a connection while its proxy loses its lease, a hand-over
// does not wait for the proxy, and the proxy gets another lease. The statement must go to the shard that owns its row
// now.
func TestAStatementOfAnEarlierLease(t *testing.T) {
	var lease, asked atomic.Int64
	fenced(t, func(f *fencing, db *sql.DB) {
		lease.Store(1)
		f.acked(f.step(gene.Set{}))
		late, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer late.Close()
		tx := begin(t, db)
		exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (42)") // by the only connection
		before := asked.Load()
		insert := later(func() error {
			_, err := late.ExecContext(t.Context(), "INSERT INTO test_order (buyer_uid, status) VALUES (42, 'late')")
			return err
		})
		until(t, "it was admitted, and waits for a connection", func() bool {
			return asked.Load() > before && f.Proxy.Status().Pools["s0"].Waiting > 0
		})
		lease.Store(0)
		f.step(gene.Set{}, router.Change{Genes: held42, To: "s2"})
		lease.Store(2)
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		f.done("insert", insert)
		for i, want := range []int64{0, 0, 1} {
			if got := number(t, f.Shard(t, i), "SELECT COUNT(*) FROM test_order WHERE status = 'late'"); got != want {
				t.Errorf("%d rows on s%d, want %d", got, i, want)
			}
		}
	}, func(o *proxy.Options) {
		o.Backends.MaxOpen, o.Backends.MaxIdle = 1, 1
		o.Fence.Hold = time.Minute
		o.Fence.Leased = func() int64 { asked.Add(1); return lease.Load() }
	})
}

// TestInsertFromAQueryOnTheMove reads moving rows and inserts more of them, while they move, and while a step pauses
// them.
func TestInsertFromAQueryOnTheMove(t *testing.T) {
	fenced(t, func(f *fencing, db *sql.DB) {
		for _, buyer := range []int{0, 42} {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", buyer)
		}
		f.acked(f.step(gene.Set{}))
		const double = "INSERT INTO test_order (buyer_uid, amount) SELECT buyer_uid, amount FROM test_order"
		exec(t, db, double)
		f.acked(f.step(held42))
		held := later(func() error {
			_, err := db.Exec(double)
			return err
		})
		f.holding(1)
		f.step(gene.Set{})
		f.done("the insert", held)
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 8 {
			t.Errorf("%d rows, want 8", got)
		}
	}, func(o *proxy.Options) { o.Fence.Hold = time.Minute })
}

// TestRowsOnTheMoveCountOnce has the rows of moving genes on both shards, with changes on the one that doesn't own
// them. No statement may see these changes.
func TestRowsOnTheMoveCountOnce(t *testing.T) {
	fenced(t, func(f *fencing, db *sql.DB) {
		for buyer := range 200 {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", buyer)
		}
		f.acked(f.step(gene.Set{}))
		moving := gene.Range{First: 0x3000, Last: 0x3fff}
		f.copyRows("test_order", moving)
		half := gene.NewSet(moving).First(0x800)
		var stale [2]int // rows at the source and at the target that their shard does not own
		for cut := range 3 {
			switch cut {
			case 1:
				f.acked(f.step(half))
				f.acked(f.step(gene.Set{}, router.Change{Genes: half, To: "s2"}))
			case 2:
				f.acked(f.step(gene.NewSet(moving)))
				f.acked(f.step(gene.Set{}, router.Change{Genes: gene.NewSet(moving), To: "s2"}))
			}
			stale = f.spoil()
			for query, want := range map[string]int64{
				"SELECT COUNT(*) FROM test_order":                                                                    200,
				"SELECT COUNT(*), SUM(amount) FROM test_order WHERE amount = 1 OR buyer_uid >= 0":                    200,
				"select count(*) from test_order o where o.amount >= 0 or o.status = 'where' -- where\n":             200,
				"SELECT SUM(amount) FROM test_order AS `a b` LIMIT 1":                                                200,
				"SELECT COUNT(*) FROM test_order WHERE order_id >= 0":                                                200,
				"SELECT COUNT(*) FROM test_order WHERE buyer_uid IN (0, 1, 2, 42, 77, 91, 150, 199)":                 8,
				"SELECT MAX(amount) FROM test_order":                                                                 1,
				"SELECT COUNT(*) FROM test_order WHERE order_id BETWEEN 1729382256910270464 AND 2305843009213693951": int64(f.owned(moving)),
				"SELECT amount FROM test_order ORDER BY amount DESC LIMIT 1":                                         1,
				"SELECT COUNT(*) FROM test_order LEFT JOIN order_item USING (order_id)":                              200,

				// Gathered on one shard:
				"SELECT COUNT(DISTINCT buyer_uid) FROM test_order":                                                              200,
				"SELECT SUM(n) FROM (SELECT amount, COUNT(*) AS n FROM test_order GROUP BY amount) AS g":                        200,
				"SELECT COUNT(*) FROM test_order AS a JOIN test_order AS b ON a.buyer_uid = b.buyer_uid + 0":                    200,
				"SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM test_order UNION ALL SELECT COUNT(*) FROM test_order) AS u":      400,
				"SELECT MAX(n) FROM (SELECT ROW_NUMBER() OVER (ORDER BY order_id) AS n FROM test_order) AS w":                   200,
				"SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42 AND amount IN (SELECT amount FROM test_order)":            1,
				"SELECT COUNT(*) FROM (SELECT order_id FROM test_order WHERE buyer_uid = 42 GROUP BY order_id) AS of_one_buyer": 1,
			} {
				for _, prepared := range []bool{false, true} {
					got, err := f.ask(db, query, prepared)
					if err != nil || got != want {
						t.Errorf("step %d, prepared %v, %d and %d stale rows: %s: %d, %v, want %d", cut, prepared, stale[0], stale[1], query, got, err, want)
					}
				}
			}
			if got := len(rows(t, db, "SELECT order_id FROM test_order WHERE amount < 50")); got != 200 {
				t.Errorf("step %d: %d rows", cut, got)
			}
		}
		if stale[0] == 0 {
			t.Error("no row was being moved")
		}
	})
}

// ask returns the first column of the last row.
func (f *fencing) ask(db *sql.DB, query string, prepared bool) (n int64, err error) {
	var args []any
	if prepared {
		query, args = query+" /* prepared */", nil
		st, err := db.Prepare(query)
		if err != nil {
			return 0, err
		}
		defer st.Close()
		list, err := st.Query(args...)
		if err != nil {
			return 0, err
		}
		return last(list)
	}
	list, err := db.Query(query)
	if err != nil {
		return 0, err
	}
	return last(list)
}

func last(list *sql.Rows) (int64, error) {
	defer list.Close()
	names, err := list.Columns()
	if err != nil {
		return 0, err
	}
	var n float64
	values := make([]any, len(names))
	for i := range values {
		values[i] = new(sql.RawBytes)
	}
	values[0] = &n
	for list.Next() {
		if err := list.Scan(values...); err != nil {
			return 0, err
		}
	}
	return int64(n), list.Err()
}

// geneOf returns the SQL of a row's gene.
const geneOf = "order_id >> 47"

// copyRows copies the rows of genes to the spare shard.
func (f *fencing) copyRows(table string, genes gene.Range) {
	f.t.Helper()
	list, err := f.Shard(f.t, 0).Query("SELECT order_id, order_no, buyer_uid, amount, version FROM "+table+" WHERE "+geneOf+" BETWEEN ? AND ?", genes.First, genes.Last)
	if err != nil {
		f.t.Fatal(err)
	}
	defer list.Close()
	for list.Next() {
		var id, no, buyer, version int64
		var amount string
		if err := list.Scan(&id, &no, &buyer, &amount, &version); err != nil {
			f.t.Fatal(err)
		}
		exec(f.t, f.Shard(f.t, 2), "INSERT INTO "+table+" (order_id, order_no, buyer_uid, amount, version) VALUES (?, ?, ?, ?, ?)", id, no, buyer, amount, version)
	}
}

// spoil changes the rows that their shards do not own, so that reads of these are noticed. It returns their numbers
// on the source and the target.
func (f *fencing) spoil() (stale [2]int) {
	f.t.Helper()
	for i, shard := range []int{0, 2} {
		name := router.ShardName([]string{"s0", "s1", "s2"}[shard])
		owned := f.routes.GenesOf(name)
		list, err := f.Shard(f.t, shard).Query("SELECT order_id, " + geneOf + " FROM test_order")
		if err != nil {
			f.t.Fatal(err)
		}
		for list.Next() {
			var id, g int64
			if err := list.Scan(&id, &g); err != nil {
				f.t.Fatal(err)
			}
			amount := 1
			if !owned.Contains(gene.Gene(g)) {
				amount = 1000
				stale[i]++
			}
			exec(f.t, f.Shard(f.t, shard), "UPDATE test_order SET amount = ? WHERE order_id = ?", amount, id)
		}
		list.Close()
	}
	return stale
}

// owned counts the buyers whose genes are in a range.
func (f *fencing) owned(genes gene.Range) (n int) {
	for buyer := range int64(200) {
		if genes.Contains(gene.OfInt(buyer, gene.W16)) {
			n++
		}
	}
	return n
}
