package moves

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/checkpoint"
	"locus/migrate/checksum"
	"locus/migrate/copier"
	"locus/migrate/link"
	"locus/migrate/repair"
	"locus/migrate/table"
	"locus/router/catalog"
)

// mended implements the state of a repair for these tests: all differing rows get the values of one server.
type mended struct {
	*pair
	winner, loser *servers.Server
	to            *repair.Pair
	t             *table.Table
}

func (p *pair) mend(t *table.Table, winner *servers.Server) *mended {
	p.t.Helper()
	loser := p.target
	if winner == p.target {
		loser = p.source
	}
	to, err := repair.Open(p.t.Context(), at(winner), at(loser), all(1).All())
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(to.Close)
	return &mended{p, winner, loser, to, t}
}

// do repairs a row; the source is the owner of all.
func (m *mended) do(k table.Key, winner, loser string) repair.Outcome {
	m.pair.t.Helper()
	o, err := m.to.Do(m.pair.t.Context(), repair.Change{
		Table: m.t, Key: k, Winner: winner, Loser: loser, Owned: m.loser == m.source, Job: m.job, Took: "a test", By: "ann",
	})
	if err != nil {
		m.pair.t.Fatal(err)
	}
	return o
}

func (m *mended) difference(d checksum.Difference) repair.Outcome {
	m.pair.t.Helper()
	if m.winner == m.source {
		return m.do(d.Key, d.Source.Sum, d.Target.Sum)
	}
	return m.do(d.Key, d.Target.Sum, d.Source.Sum)
}

// plantedPair has the rows of planted on both servers, with streams both ways, as after a step.
func plantedPair(p *pair) (planted *table.Table, forward, back *stream) {
	p.t.Helper()
	p.both("CREATE TABLE planted (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, n INT NOT NULL, a VARCHAR(20), b MEDIUMTEXT,"+
		" c VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, d VARCHAR(20), j JSON, f FLOAT, t DATETIME(6))",
		"ALTER TABLE planted ADD made VARCHAR(40) AS (CONCAT(n, '-', IFNULL(a, 'none'))) STORED, ADD seen TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), ADD UNIQUE (owner, n)")
	for n := 1; n <= 20; n++ {
		row := strings.Replace(plantedRow(n), "INTO planted", "INTO planted (id, owner, n, a, b, c, d, j, f, t)", 1)
		p.on(p.source, row)
	}
	planted = p.read(map[string]catalog.Declaration{"planted": byID})[0]
	tables := []*table.Table{planted}
	forward = p.stream(applier.Config{Parts: all(2)}, tables)
	p.copy(forward, copier.Config{}, tables)
	p.settle(forward)
	back = p.streamBetween(applier.Config{Job: p.job + "/back", Parts: all(2), Judge: nil}, tables, p.target, p.source)
	return planted, forward, back
}

// Differences of every kind are repaired in both directions, while both streams run and clients write. Repairs on a
// server that is not the owner are not sent back; repairs on the owner are applied on the other server too.
func TestRepair(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		planted, forward, back := plantedPair(p)
		stop := p.writers(1, func(db *sql.DB, _, turn int) error {
			_, err := db.Exec("UPDATE planted SET n = ? WHERE id = "+idOf(20, 20), 1000+turn)
			return err
		})
		for _, winner := range []*servers.Server{p.source, p.target} {
			p.plantUnlogged()
			found := p.verify(forward, []*table.Table{planted}, all(2), 1000).Differences
			if len(found) < 10 {
				t.Fatalf("%d differences of those that were planted", len(found))
			}
			const but = "owner <> 20"
			want := p.rows(winner, planted, but)
			m := p.mend(planted, winner)
			for _, d := range found {
				if o := m.difference(d); o.Kind != repair.Done {
					t.Errorf("%s: %s: %s %s", p.engine, d, o.Kind, o.Why)
				}
			}
			p.settle(forward)
			p.settleFrom(back, p.target)
			p.settle(forward)
			for _, d := range found {
				if o := m.difference(d); o.Kind != repair.Equal {
					t.Errorf("%s: %s again: %s %s", p.engine, d, o.Kind, o.Why)
				}
			}
			p.same(planted, but)
			got := p.rows(winner, planted, but)
			for k, row := range want {
				if got[k].Sum() != row.Sum() {
					t.Errorf("%s: the winner's own row is another one: %s, and was %s", p.engine, planted.Short(got[k], row), planted.Short(row, got[k]))
				}
			}
			if len(got) != len(want) {
				t.Errorf("%s: the winner has %d rows, and had %d", p.engine, len(got), len(want))
			}
			p.wantRows(m.loser, fmt.Sprintf("SELECT CONCAT_WS(',', COUNT(*), SUM(was IS NULL) > 0, SUM(became IS NULL) > 0) FROM locus.move_repair WHERE job = '%s' AND by_whom = 'ann'", p.job), fmt.Sprintf("%d,1,1", len(found)))
			p.on(m.loser, "DELETE FROM locus.move_repair")
			_ = checkpoint.Restart(t.Context(), p.dial(p.target), p.job, checkpoint.Verify)
		}
		stop()
		p.settle(forward)
		p.same(planted, "")
		if n := back.Progress().Changes; n != 0 {
			t.Errorf("%s: %d changes came back to the owner", p.engine, n)
		}
		if n := forward.Progress().Conflicts + back.Progress().Conflicts; n != 0 {
			t.Errorf("%s: %d conflicts", p.engine, n)
		}
	})
}

// plantUnlogged changes rows of the target without logging them, so no stream applies the changes anywhere.
func (p *pair) plantUnlogged() {
	p.t.Helper()
	for _, d := range planted {
		if d.only != "" && d.only != p.engine {
			continue
		}
		d.sql = strings.ReplaceAll(d.sql, "INSERT INTO planted SELECT", "INSERT INTO planted (id, owner, n, a, b, c, d, j, f, t) SELECT")
		p.on(p.target, append([]string{"SET SESSION sql_mode = '', sql_log_bin = 0"}, strings.Split(d.sql, "; ")...)...)
	}
}

// A row stays unchanged if it differs from the listed one, if a transaction holds it, or if the server refuses it.
func TestRepairOfRowsThatChange(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		planted, forward, _ := plantedPair(p)
		m := p.mend(planted, p.source)
		quietly := func(s *servers.Server, sql string) { p.on(s, "SET SESSION sql_log_bin = 0", sql) }
		key := func(n int) table.Key { return table.Key{[]byte(idOf(int64(n), uint64(n)))} }
		sum := func(s *servers.Server, n int) string {
			return p.rows(s, planted, fmt.Sprintf("owner = %d", n))[string(key(n).Encode())].Sum()
		}
		want := func(what string, n int, o repair.Outcome, kind repair.Kind, why string) {
			t.Helper()
			if o.Kind != kind || !strings.Contains(o.Why, why) {
				t.Errorf("%s: %s: %s %q, want %s %q", p.engine, what, o.Kind, o.Why, kind, why)
			}
		}
		quietly(p.target, "UPDATE planted SET a = 'planted' WHERE n <= 10")
		source, target := sum(p.source, 1), sum(p.target, 1)
		quietly(p.target, "UPDATE planted SET a = 'later' WHERE n = 1")
		want("changed at the loser", 1, m.do(key(1), source, target), repair.Changed, "")
		quietly(p.target, "DELETE FROM planted WHERE n = 1")
		want("deleted at the loser", 1, m.do(key(1), source, target), repair.Changed, "")
		target = sum(p.target, 2)
		quietly(p.source, "UPDATE planted SET d = 'later' WHERE n = 2")
		want("changed at the winner", 2, m.do(key(2), source, target), repair.Changed, "")
		quietly(p.source, "DELETE FROM planted WHERE n = 2")
		o := m.do(key(2), source, target)
		want("deleted at the winner", 2, o, repair.Changed, "")
		if o.Winner != nil || o.Loser.Sum() != target {
			t.Errorf("%s: what is there: %v, %v", p.engine, o.Winner, o.Loser)
		}
		if sum(p.target, 2) != target {
			t.Errorf("%s: a row that changed meanwhile was written", p.engine)
		}
		for what, s := range map[string]*servers.Server{"held at the winner": p.source, "held at the loser": p.target} {
			db := s.DB(t, p.database)
			tx, err := db.Begin()
			if err == nil {
				_, err = tx.Exec("UPDATE planted SET d = 'held' WHERE n = 3")
			}
			if err != nil {
				t.Fatal(err)
			}
			want(what, 3, m.do(key(3), sum(p.source, 3), sum(p.target, 3)), repair.Refused, "ock wait timeout exceeded")
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
		}
		want("a unique value that another row has", 4, func() repair.Outcome {
			quietly(p.target, "DELETE FROM planted WHERE n = 4")
			quietly(p.target, "INSERT INTO planted (id, owner, n) VALUES ("+idOf(4, 500)+", 4, 4)")
			return m.do(key(4), sum(p.source, 4), "")
		}(), repair.Refused, "uplicate entry")
		want("then that it has not", 4, func() repair.Outcome {
			quietly(p.target, "DELETE FROM planted WHERE owner = 4")
			return m.do(key(4), sum(p.source, 4), "")
		}(), repair.Done, "")
		p.wantRows(p.target, "SELECT COUNT(*) FROM locus.move_repair WHERE job = '"+p.job+"'", "1")
		_ = forward
		p.taken(m, key(5), sum(p.source, 5), sum(p.target, 5))
	})
}

// taken lets another process take over the job. The former process then changes no row.
func (p *pair) taken(m *mended, k table.Key, winner, loser string) {
	p.t.Helper()
	c := p.dial(p.target)
	epoch, _, err := checkpoint.Raise(p.t.Context(), c, p.job)
	if err != nil {
		p.t.Fatal(err)
	}
	change := repair.Change{Table: m.t, Key: k, Winner: winner, Loser: loser, Job: p.job}
	for _, held := range []uint64{epoch - 1, epoch} {
		change.Hold = func(ctx context.Context, c *link.Conn) error { return checkpoint.Hold(ctx, c, p.job, held) }
		o, err := m.to.Do(p.t.Context(), change)
		if is := errors.Is(err, checkpoint.ErrFenced); is != (held != epoch) || !is && (err != nil || o.Kind != repair.Done) {
			p.t.Errorf("%s: a repair under epoch %d of %d: %+v, %v", p.engine, held, epoch, o.Kind, err)
		}
	}
}

// Whatever a client does with a row during its repair, the owner's row is the result: a deleted row does not return,
// and an older one does not stay.
func TestRepairOfBusyRows(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		planted, forward, _ := plantedPair(p)
		m := p.mend(planted, p.source)
		const none, update, remove, insert = "DO 0", "UPDATE planted SET a = 'busy' WHERE id = %s", "DELETE FROM planted WHERE id = %s", "INSERT INTO planted (id, owner, n, a) VALUES (%s, %o, 0, 'busy')"
		for n, c := range []struct {
			atSource, atTarget, busy string
			before                   repair.Kind // the expected kind if this happens before the row is written
		}{
			{none, remove, remove, repair.Changed}, // missing, and then deleted
			{none, remove, update, repair.Equal},   // the stream brings it
			{none, update, remove, repair.Changed},
			{none, update, update, repair.Changed},
			{remove, none, insert, repair.Changed}, // too much, and then inserted
			{remove, update, insert, repair.Changed},
		} {
			for _, point := range []string{repair.Judged, repair.Written} {
				n := 2*n + 1
				if point == repair.Written {
					n++
				}
				id := idOf(int64(n), uint64(n))
				k := table.Key{[]byte(id)}
				as := func(sql string) string { return strings.NewReplacer("%s", id, "%o", strconv.Itoa(n)).Replace(sql) }
				p.on(p.source, "SET SESSION sql_log_bin = 0", as(c.atSource))
				p.on(p.target, "SET SESSION sql_log_bin = 0", strings.ReplaceAll(as(c.atTarget), "busy", "planted"))
				source, target := p.rows(p.source, planted, "id = "+id)[string(k.Encode())], p.rows(p.target, planted, "id = "+id)[string(k.Encode())]
				change := repair.Change{Table: planted, Key: k, Winner: source.Sum(), Loser: target.Sum(), Job: p.job, Stop: func(at string) {
					if at != point {
						return
					}
					p.on(p.source, as(c.busy))
					if target == nil && at == repair.Judged { // no lock remains that the stream would wait for
						p.settle(forward)
					}
				}}
				o, err := m.to.Do(t.Context(), change)
				want := repair.Done
				if point == repair.Judged {
					want = c.before
				}
				if err != nil || o.Kind != want {
					t.Errorf("%s: %+v at %q: %s %s %v, want %s", p.engine, c, point, o.Kind, o.Why, err, want)
				}
				p.settle(forward)
				p.same(planted, "id = "+id)
			}
		}
	})
}
