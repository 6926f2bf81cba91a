package moves

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/checksum"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/test/product"
)

func dial(t *testing.T, to link.Server) *link.Conn {
	t.Helper()
	c, err := link.Dial(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// touched returns the keys that a stream brings of rows that are inserted and changed at the source.
func (p *pair) touched(s *stream, changes ...string) (keys map[*table.Table][]table.Key, whole bool) {
	p.t.Helper()
	p.settle(s)
	s.TakeTouched()
	p.seed()
	p.on(p.source, changes...)
	p.settle(s)
	rows, whole := s.TakeTouched()
	keys = map[*table.Table][]table.Key{}
	for t, some := range rows {
		for _, r := range some {
			keys[t] = append(keys[t], r.Key)
		}
	}
	return keys, whole
}

// Rows that changed since a comparison are compared again by their keys only.
func TestRecheck(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.tables()
		parts := moving(2)
		s := p.stream(applier.Config{Parts: parts}, tables)
		keys, whole := p.touched(s, "UPDATE items SET amount = 8 WHERE line = 2", "DELETE FROM items WHERE line = 1")
		n := 0
		for _, k := range keys {
			n += len(k)
		}
		if !whole || n < owners {
			t.Fatalf("%d keys, all of them: %v", n, whole)
		}
		source, target := dial(t, at(p.source)), dial(t, at(p.target))
		v := checksum.New(checksum.Config{Job: p.job, Source: at(p.source), Target: at(p.target), Tables: tables, Parts: parts}, s)
		if r, err := v.Recheck(t.Context(), source, target, keys); err != nil || !r.Equal() {
			t.Errorf("equal rows: %v (%v)", r, err)
		}
		p.on(p.target, "DELETE FROM orders ORDER BY id LIMIT 1", "UPDATE items SET sku = 'z' ORDER BY order_id LIMIT 1")
		if r, err := v.Recheck(t.Context(), source, target, keys); err != nil || len(r.Differences) != 2 {
			t.Errorf("two planted: %v (%v)", r.Differences, err)
		}
		if again, _ := s.TakeTouched(); len(again) > 0 {
			t.Errorf("asked again: %v", again)
		}
	})
}

// restless changes a row of the target at each comparison, and restores its value at the end. So the row looks as if
// its value vanished and returned.
type restless struct {
	*stream
	p     *pair
	looks int
}

func (r *restless) WaitApplied(ctx context.Context, position changes.Position) error {
	if err := r.stream.WaitApplied(ctx, position); err != nil {
		return err
	}
	if r.looks--; r.looks >= 0 {
		r.p.on(r.p.target, fmt.Sprintf("UPDATE items SET amount = %d ORDER BY order_id, line LIMIT 1", 100+r.looks))
	}
	return nil
}

// A value that vanishes and returns during comparisons is no difference, however often that happens.
func TestRestlessRows(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.tables()
		parts := moving(1)
		s := p.stream(applier.Config{Parts: parts}, tables)
		keys, _ := p.touched(s, "UPDATE items SET amount = 100 ORDER BY order_id, line LIMIT 1")
		p.on(p.target, "UPDATE items SET amount = 99 ORDER BY order_id, line LIMIT 1")
		source, target := dial(t, at(p.source)), dial(t, at(p.target))
		r := &restless{s, p, 12}
		v := checksum.New(checksum.Config{Job: p.job, Source: at(p.source), Target: at(p.target), Tables: tables, Parts: parts}, r)
		if found, err := v.Recheck(t.Context(), source, target, keys); err != nil || !found.Equal() || r.looks != 0 {
			t.Errorf("%v (%v), %d looks left", found, err, r.looks)
		}
	})
}

// hurried changes a row of the source whenever it is compared, unless it is locked.
type hurried struct {
	*stream
	change func() error
	held   bool // it was
}

func (h *hurried) WaitApplied(ctx context.Context, position changes.Position) error {
	if err := h.stream.WaitApplied(ctx, position); err != nil {
		return err
	}
	err := h.change()
	if link.Transient(err) {
		h.held = true
		return nil
	}
	return err
}

// A row that changes all the time is compared while it is locked.
func TestARowThatNeverStandsStill(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.tables()
		parts := moving(1)
		s := p.stream(applier.Config{Parts: parts}, tables)
		keys, _ := p.touched(s, "UPDATE items SET amount = 0 ORDER BY order_id, line LIMIT 1")
		writer, source, target := dial(t, at(p.source)), dial(t, at(p.source)), dial(t, at(p.target))
		run := func(sql string) error {
			_, err := writer.Exec(t.Context(), sql)
			return err
		}
		if err := run("SET SESSION innodb_lock_wait_timeout = 1"); err != nil {
			t.Fatal(err)
		}
		change := "UPDATE " + link.Name(p.database) + ".items SET amount = amount + 1 ORDER BY order_id, line LIMIT 1"
		h := &hurried{stream: s, change: func() error { return run(change) }}
		v := checksum.New(checksum.Config{Job: p.job, Source: at(p.source), Target: at(p.target), Tables: tables, Parts: parts}, h)
		product.Eventually(t, "the row is compared", func() bool { // its target may be behind
			p.on(p.target, "UPDATE items SET amount = -1 ORDER BY order_id, line LIMIT 1") // otherwise nothing would be compared again
			found, err := v.Recheck(t.Context(), source, target, keys)
			if err != nil || len(found.Differences) > 0 {
				t.Fatalf("%v (%v)", found, err)
			}
			return found.Equal() && h.held
		})
	})
}

// semiSyncSide is the part of the names of variables that denotes a server which waits for replicas.
func semiSyncSide(engine servers.Engine) string {
	return map[servers.Engine]string{servers.MariaDB: "master", servers.MySQL: "source"}[engine]
}

// lateCommits returns statements after which a server's next transaction stays in its log for a while before the
// server commits it, as if it waited for the acknowledgement of a replica.
func (p *pair) lateCommits(s *servers.Server) []string {
	p.t.Helper()
	if p.engine == servers.MySQL {
		p.on(s, "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'")
		p.t.Cleanup(func() { p.atLast(s, "UNINSTALL PLUGIN rpl_semi_sync_source") })
	}
	set := func(what string) string { return "SET GLOBAL rpl_semi_sync_" + semiSyncSide(p.engine) + "_" + what }
	p.t.Cleanup(func() { p.atLast(s, set("enabled = OFF")) })
	return []string{set("wait_point = AFTER_SYNC"), set("timeout = 1500"), set("enabled = ON")}
}

// atLast runs a statement at the end of the test.
func (p *pair) atLast(s *servers.Server, statement string) {
	c, err := link.Dial(context.Background(), at(s))
	if err != nil {
		p.t.Error(err)
		return
	}
	defer c.Close()
	if _, err := c.Exec(context.Background(), statement); err != nil {
		p.t.Errorf("%s: %v", statement, err)
	}
}

// A change that the target has, and that the source is about to commit, is no difference.
func TestARowThatIsBeingCommitted(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.tables()
		parts := moving(1)
		s := p.stream(applier.Config{Parts: parts}, tables)
		keys, _ := p.touched(s, "UPDATE items SET amount = 100 ORDER BY order_id, line LIMIT 1")
		source, target, reader := dial(t, at(p.source)), dial(t, at(p.target)), dial(t, at(p.target))
		p.on(p.source, p.lateCommits(p.source)...)
		var committing sync.WaitGroup
		defer committing.Wait()
		committing.Go(func() { p.on(p.source, "UPDATE items SET amount = 101 ORDER BY order_id, line LIMIT 1") })
		product.Eventually(t, "the target has the change", func() bool {
			rows, err := reader.Query(t.Context(), "SELECT 1 FROM "+link.Name(p.database)+".items WHERE amount = 101")
			return err == nil && len(rows) > 0
		})
		v := checksum.New(checksum.Config{Job: p.job, Source: at(p.source), Target: at(p.target), Tables: tables, Parts: parts}, s)
		if found, err := v.Recheck(t.Context(), source, target, keys); err != nil || !found.Equal() {
			t.Errorf("%v (%v)", found, err)
		}
	})
}
