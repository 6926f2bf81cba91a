package moves

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/copier"
	"locus/migrate/table"
	"locus/test/product"
)

// committing are transactions that are in the source's log before queries at the source see their changes. Their rows are not
// copied yet. $id is an order whose gene moves. $mine is its owner. $other is an owner whose gene, $gene, does not move.
var committing = map[string]struct {
	// early: the transaction is in the log before the job's first position is read.
	early  bool
	change []string // the last statement commits
	after  []string // executed after the copy
}{
	"a deletion":                     {change: []string{"DELETE FROM orders WHERE id = $id"}},
	"a row that is inserted again":   {change: []string{"DELETE FROM orders WHERE id = $id"}, after: []string{"INSERT INTO orders VALUES ($id, $mine, 9, 'again', NULL)"}},
	"a transaction":                  {change: []string{"BEGIN", "DELETE FROM items WHERE order_id = $id AND line = 1", "UPDATE items SET sku = 'a' WHERE order_id = $id", "COMMIT"}},
	"another owner":                  {change: []string{"UPDATE notices SET owner = $other, gene = $gene WHERE name = 'n$mine'"}},
	"a branch":                       {change: []string{"XA START 'x'", "DELETE FROM orders WHERE id = $id", "XA END 'x'", "XA PREPARE 'x'", "XA COMMIT 'x'"}},
	"a deletion before the position": {change: []string{"DELETE FROM orders WHERE id = $id"}, early: true},
	"an update before the position":  {change: []string{"UPDATE orders SET version = 7, state = 'late' WHERE id = $id"}, early: true},
	"a row before the position":      {change: []string{"INSERT INTO items VALUES ($id, 3, 'c', 3)"}, early: true},
}

// named replaces the names in the statements of [committing].
func named(statements []string) (all []string) {
	mine, other := int64(0), int64(0)
	for moves := moving(1)[0]; !moves.Contains(gene.OfInt(mine, gene.W16)) || moves.Contains(gene.OfInt(other, gene.W16)); {
		if !moves.Contains(gene.OfInt(mine, gene.W16)) {
			mine++
		} else {
			other++
		}
	}
	names := strings.NewReplacer("$id", idOf(mine, 1), "$mine", fmt.Sprint(mine), "$other", fmt.Sprint(other), "$gene", fmt.Sprint(gene.OfInt(other, gene.W16)))
	for _, s := range statements {
		all = append(all, names.Replace(s))
	}
	return all
}

// A chunk has the rows as the stream leaves them, whatever the source shows while it commits a transaction.
func TestCopyOfARowThatIsBeingCommitted(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.tables()
		for name, c := range committing {
			t.Run(name, func(t *testing.T) {
				one := *p
				one.t, one.job = t, p.database+"/"+t.Name()
				one.both("DELETE FROM orders", "DELETE FROM items", "DELETE FROM notices")
				one.seed()
				parts := moving(1)
				one.copyDuring(tables, parts, named(c.change), named(c.after), c.early)
				one.sameMoved(tables, parts)
			})
		}
	})
}

// The source deletes and changes rows that refer to others without logging that, and may not show it when the stream has the change of the
// row that they refer to.
func TestCopyOfRowsThatACascadeIsChanging(t *testing.T) {
	eachKin(t, func(t *testing.T, p *pair) {
		for name, change := range map[string]string{
			"deleted": "DELETE FROM p WHERE id = $1", "another key": "UPDATE p SET id = $2 WHERE id = $1", "another code": "UPDATE p SET code = 'z' WHERE id = $1",
		} {
			t.Run(name, func(t *testing.T) {
				one := *p
				one.t, one.job = t, p.database+"/"+t.Name()
				tables := one.kin(kin)
				one.on(p.source, withIDs([]string{
					"INSERT INTO p VALUES ($1, 1, 'a', 1)", "INSERT INTO c (id, owner, p) VALUES ($1, 1, $1)", "INSERT INTO n (id, owner, p) VALUES ($1, 1, $1)",
					"INSERT INTO u VALUES ($1, 1, 'a', 1)", "INSERT INTO k VALUES ($1, $1, 1)",
				})...)
				one.copyDuring(tables, all(2), withIDs([]string{change}), nil, false)
				one.sameKin(tables, 0)
			})
		}
	})
}

// copyDuring copies the tables while the source commits a change, and executes further statements after that.
func (p *pair) copyDuring(tables []*table.Table, parts table.Parts, change, after []string, early bool) {
	p.t.Helper()
	var committing sync.WaitGroup
	defer committing.Wait()
	if early {
		p.beginCommit(&committing, change)
	}
	s := p.stream(applier.Config{Parts: parts}, tables)
	defer s.stop()
	if !early {
		p.settle(s)
		p.beginCommit(&committing, change)
		p.settle(s)
	}
	p.copy(s, copier.Config{}, tables)
	committing.Wait()
	p.on(p.source, after...)
	p.settle(s)
}

// beginCommit executes statements at the source, and returns when its log has the last one and the source has not committed it.
func (p *pair) beginCommit(committing *sync.WaitGroup, statements []string) {
	p.t.Helper()
	last := len(statements) - 1
	late := p.lateCommits(p.source)
	committing.Go(func() { p.on(p.source, append(append(statements[:last:last], late...), statements[last])...) })
	c := p.dial(p.source)
	product.Eventually(p.t.(*testing.T), "the source waits for a replica", func() bool {
		rows, err := c.Query(p.t.Context(), "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_"+semiSyncSide(p.engine)+"_wait_sessions'")
		return err == nil && len(rows) == 1 && string(rows[0][1]) != "0"
	})
}

// WaitShown waits for an XA COMMIT that runs. MariaDB counts the transaction as committed a moment before its rows show that.
func TestABranchThatIsBeingCommitted(t *testing.T) {
	p := newPair(t, servers.MariaDB)
	p.tables()
	p.on(p.source, "XA START 'late'", "INSERT INTO notices VALUES ('late', 1, 1, 1, NULL)", "XA END 'late'", "XA PREPARE 'late'")
	c, blocker, watcher := p.dial(p.source), p.dial(p.source), p.dial(p.source)
	if _, err := blocker.Exec(t.Context(), "FLUSH TABLES WITH READ LOCK"); err != nil {
		t.Fatal(err)
	}
	var committing sync.WaitGroup
	defer committing.Wait()
	defer blocker.Close()
	committing.Go(func() { p.on(p.source, "/* an application's */ XA  COMMIT 'late'") })
	product.Eventually(t, "the branch is being committed", func() bool {
		rows, err := watcher.Query(t.Context(), "SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE '%XA  COMMIT%' AND ID <> CONNECTION_ID()")
		return err == nil && len(rows) > 0
	})
	here, err := changes.Current(t.Context(), watcher)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := changes.WaitShown(short, c, here); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while the branch is being committed: %v", err)
	}
	if _, err := blocker.Exec(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	if err := changes.WaitShown(t.Context(), p.dial(p.source), here); err != nil {
		t.Error(err)
	}
}
