package moves

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/copier"
	"locus/migrate/table"
	"locus/router/catalog"
)

// orders are the tables of these tests: one that is read in the order of its ID, one in the order of its parent's ID,
// with unique keys, and one whose primary key does not determine the gene.
var orders = map[string]catalog.Declaration{
	"orders":  {Kind: catalog.Sharded, Owner: "owner", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}, Version: "version"},
	"items":   {Kind: catalog.Sharded, Parent: &catalog.IDColumn{Column: "order_id", Layout: "int64"}},
	"notices": {Kind: catalog.Sharded, Owner: "owner", Gene: "gene"},
}

var ordersSchema = []string{
	"CREATE TABLE orders (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, version INT UNSIGNED NOT NULL DEFAULT 1, state VARCHAR(20), note TEXT, UNIQUE KEY (owner, state, id))",
	"CREATE TABLE items (order_id BIGINT NOT NULL, line INT NOT NULL, sku VARCHAR(20) NOT NULL, amount DECIMAL(10,2), PRIMARY KEY (order_id, line), UNIQUE KEY (order_id, sku))",
	"CREATE TABLE notices (name VARCHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY, owner BIGINT NOT NULL, gene INT UNSIGNED NOT NULL, slot INT NOT NULL, body BLOB, UNIQUE KEY (slot))",
}

const owners = 60

// seed writes some orders for each owner.
func (p *pair) seed() {
	p.t.Helper()
	var statements []string
	for o := range int64(owners) {
		for n := range uint64(8) {
			id := idOf(o, n+1)
			statements = append(statements,
				fmt.Sprintf("INSERT INTO orders VALUES (%s, %d, 1, 'new', 'first')", id, o),
				fmt.Sprintf("INSERT INTO items VALUES (%s, 1, 'a', 1.5), (%s, 2, 'b', 2.5)", id, id))
		}
		statements = append(statements, fmt.Sprintf("INSERT INTO notices VALUES ('n%d', %d, %d, %d, X'00ff')", o, o, gene.OfInt(o, gene.W16), o))
	}
	p.on(p.source, statements...)
}

// write does one round of an application: it inserts, changes, deletes and restores rows of all genes.
func write(db *sql.DB, writer, turn int) error {
	r := rand.New(rand.NewPCG(uint64(writer), uint64(turn)))
	o := int64(r.IntN(owners))
	id := idOf(o, uint64(r.IntN(12)+1))
	run := func(query string, args ...any) error {
		_, err := db.Exec(query, args...)
		return err
	}
	switch r.IntN(8) {
	case 0:
		return run("DELETE FROM orders WHERE id = " + id)
	case 1:
		return run(fmt.Sprintf("INSERT IGNORE INTO orders VALUES (%s, %d, 1, 'again', REPEAT('x', %d))", id, o, r.IntN(3000)))
	case 2:
		return inTransaction(db,
			"DELETE FROM items WHERE order_id = "+id,
			fmt.Sprintf("INSERT INTO items VALUES (%s, 1, 'b', %d), (%s, 2, 'a', 0)", id, r.IntN(100), id))
	case 3: // a unique value passes from one row to the other
		return inTransaction(db,
			"UPDATE items SET sku = 'x' WHERE sku = 'a' AND order_id = "+id,
			"UPDATE items SET sku = 'a' WHERE sku = 'b' AND order_id = "+id,
			"UPDATE items SET sku = 'b' WHERE sku = 'x' AND order_id = "+id)
	case 4: // a name changes its letter case, and its owner
		name := fmt.Sprintf("n%d", o)
		if turn%2 == 0 {
			name = fmt.Sprintf("N%d", o)
		}
		other := int64(r.IntN(owners))
		return run(fmt.Sprintf("UPDATE notices SET name = '%s', owner = %d, gene = %d WHERE name = '%s'", name, other, gene.OfInt(other, gene.W16), name))
	case 5:
		return inTransaction(db,
			fmt.Sprintf("UPDATE orders SET version = version + 1, state = 's%d' WHERE owner = %d", turn%5, o),
			fmt.Sprintf("UPDATE items SET amount = amount + 1 WHERE order_id = %s", id))
	}
	return run("UPDATE orders SET version = version + 1, note = CONCAT('turn ', version) WHERE id = " + id)
}

// inTransaction runs statements in one transaction, and repeats it after a deadlock.
func inTransaction(db *sql.DB, statements ...string) error {
	for {
		tx, err := db.Begin()
		for _, s := range statements {
			if err == nil {
				_, err = tx.Exec(s)
			}
		}
		if err == nil {
			return tx.Commit()
		}
		_ = tx.Rollback()
		if !passes(err) {
			return err
		}
	}
}

func (p *pair) tables() []*table.Table {
	p.t.Helper()
	p.both(ordersSchema...)
	return p.read(orders)
}

// moving is the lower half of the genes, in parts.
func moving(parts int) table.Parts {
	return table.Split(gene.NewSet(gene.Range{First: 0, Last: 0x7fff}), parts)
}

// sameMoved compares the moving rows of all tables. The target must have no rows of other genes.
func (p *pair) sameMoved(tables []*table.Table, parts table.Parts) {
	p.t.Helper()
	rows := 0
	for _, t := range tables {
		rows += p.same(t, t.Condition(parts.All()))
		if strays := p.rows(p.target, t, "NOT "+t.Condition(parts.All())); len(strays) > 0 {
			p.t.Errorf("%s: %d rows of genes that don't move are at the target", t.Name, len(strays))
		}
	}
	if rows < owners {
		p.t.Errorf("only %d rows moved", rows)
	}
	if c := p.conflicts(p.target); len(c) > 0 {
		p.t.Errorf("%d conflicts, such as %+v", len(c), c[0])
	}
}

// While applications write rows that move and rows that don't, the copy and the
// stream make the target the same.
func TestCopyUnderWrites(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.tables()
		p.seed()
		stop := p.writers(3, write)
		defer stop()
		parts := moving(3)
		s := p.stream(applier.Config{Parts: parts}, tables)
		// Small chunks, so that there are many borders for writes to cross.
		p.copy(s, copier.Config{Aim: 1, ChunkBytes: 3000}, tables)
		stop()
		p.settle(s)
		p.sameMoved(tables, parts)
	})
}

// TestCrashes ends the stream or the copy at any point. Afterwards each change and each chunk is there exactly once.
func TestCrashes(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.tables()
		p.seed()
		stop := p.writers(2, write)
		defer stop()
		parts := moving(2)
		points := []applier.Point{applier.Begun, applier.Written, applier.Noted, applier.Committed, applier.Acknowledge}
		crashed := map[applier.Point]int{}
		for round := range 4 * len(points) {
			point := points[round%len(points)]
			crashed[point] += p.crash(tables, parts, point, round/len(points)*3+1)
		}
		for _, point := range points {
			if crashed[point] == 0 {
				t.Errorf("nothing crashed at %q", point)
			}
		}
		s := p.stream(applier.Config{Parts: parts, BatchRows: 20}, tables)
		p.copy(s, copier.Config{Aim: 1, ChunkBytes: 3000}, tables)
		stop()
		p.settle(s)
		p.sameMoved(tables, parts)
		p.countedOnce(tables, parts)
	})
}

// crash runs the job until a worker has reached a point for the nth time.
func (p *pair) crash(tables []*table.Table, parts table.Parts, when applier.Point, n int) int {
	p.t.Helper()
	crash := errors.New("crash")
	left := make(chan struct{}, n-1)
	for range n - 1 {
		left <- struct{}{}
	}
	s := p.stream(applier.Config{Parts: parts, BatchRows: 20, Stop: func(point applier.Point) error {
		if point != when {
			return nil
		}
		select {
		case <-left:
			return nil
		default:
			return crash
		}
	}}, tables)
	copied := make(chan error, 1)
	go func() {
		config := copier.Config{Job: p.job, Source: at(p.source), Target: at(p.target), Tables: tables, Parts: parts, Aim: 1, ChunkBytes: 3000}
		copied <- copier.New(config, s).Run(p.t.Context())
	}()
	select {
	case <-s.ended:
	case <-time.After(patience):
		p.t.Fatalf("nothing came to %q", when)
	}
	s.stop()
	<-copied
	if !errors.Is(s.err, crash) {
		p.t.Fatalf("the stream ended with %v", s.err)
	}
	return 1
}

// countedOnce compares the copy's counters with the copied rows: a chunk that was written twice would be counted
// twice.
func (p *pair) countedOnce(tables []*table.Table, parts table.Parts) {
	p.t.Helper()
	var lanes int
	for _, t := range tables {
		lanes += len(t.Lanes(parts))
	}
	c := p.dial(p.target)
	rows, err := c.Query(p.t.Context(), "SELECT COUNT(*), SUM(done) FROM locus.move_lane WHERE job = '"+p.job+"'")
	if err != nil {
		p.t.Fatal(err)
	}
	if got := fmt.Sprintf("%s/%s", rows[0][0], rows[0][1]); got != fmt.Sprintf("%d/%d", lanes, lanes) {
		p.t.Errorf("lanes noted and done: %s of %d", got, lanes)
	}
}

// The reverse stream: writes of the target's applications are applied at the source, and writes of the move itself
// are not sent back.
func TestBothWays(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.tables()
		p.seed()
		parts := moving(2)
		forward := p.stream(applier.Config{Parts: parts}, tables)
		p.copy(forward, copier.Config{}, tables)
		p.settle(forward)
		back := p.streamBetween(applier.Config{Job: p.job + "/back", Parts: parts}, tables, p.target, p.source)
		before := forward.Progress().Changes
		stop := p.writersAt(p.target, 2, write)
		waitFor(t, "the way back", func() bool { return back.Progress().Changes > 200 })
		stop()
		p.settleFrom(back, p.target)
		p.settle(forward)
		if after := forward.Progress().Changes; after != before {
			t.Errorf("%d changes came back to where they were made", after-before)
		}
		for _, table := range tables {
			p.same(table, table.Condition(parts.All()))
		}
	})
}

func (p *pair) writersAt(s *servers.Server, n int, write func(*sql.DB, int, int) error) func() {
	q := *p
	q.source = s
	return q.writers(n, write)
}

func waitFor(t testing.TB, what string, true func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !true() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
