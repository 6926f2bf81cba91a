package moves

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/checksum"
	"locus/migrate/copier"
	"locus/migrate/repair"
	"locus/migrate/table"
	"locus/router/catalog"
)

// family is a set of tables that are connected by foreign keys, with statements that write their rows. Later tables
// refer to earlier ones.
type family struct {
	tables    []string // the names
	create    []string
	statement func(*kinsman) string
}

// kin are tables with keys of every action. All rows that refer to others are one level below these. A string key is compared without regard
// to letter case.
var kin = &family{
	tables: []string{"p", "c", "n", "u", "k", "w"},
	create: []string{
		"CREATE TABLE p (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, x INT, UNIQUE KEY (owner, code))",
		"CREATE TABLE c (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, x INT, KEY (p), FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE)",
		"CREATE TABLE n (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), KEY (p), FOREIGN KEY (p) REFERENCES p (id) ON DELETE SET NULL ON UPDATE SET NULL)",
		"CREATE TABLE u (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, x INT, KEY (owner, code), FOREIGN KEY (owner, code) REFERENCES p (owner, code) ON DELETE CASCADE ON UPDATE CASCADE)",
		"CREATE TABLE k (id BIGINT, p BIGINT NOT NULL, owner BIGINT NOT NULL, PRIMARY KEY (id, p), KEY (p), FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE)",
		"CREATE TABLE w (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, x INT, KEY (p), FOREIGN KEY (p) REFERENCES w (id) ON DELETE SET NULL)",
	},
	statement: (*kinsman).near,
}

// line is the definition of tables over which cascades continue: from p to c to g to h, from p to k to m by a key
// that a cascade changes, from p to u to v by a unique key, and from row to row of e and of b.
var line = &family{
	tables: []string{"p", "c", "g", "h", "k", "m", "u", "v", "e", "b"},
	create: []string{
		"CREATE TABLE p (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, x INT, UNIQUE KEY (owner, code))",
		"CREATE TABLE c (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, KEY (p), FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE)",
		"CREATE TABLE g (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, x INT, KEY (p), UNIQUE KEY (owner, x), FOREIGN KEY (p) REFERENCES c (id) ON DELETE CASCADE ON UPDATE CASCADE)",
		"CREATE TABLE h (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, KEY (p), FOREIGN KEY (p) REFERENCES g (id) ON DELETE SET NULL ON UPDATE SET NULL)",
		"CREATE TABLE k (id BIGINT, p BIGINT NOT NULL, owner BIGINT NOT NULL, PRIMARY KEY (id, p), KEY (p), FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE)",
		"CREATE TABLE m (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, k BIGINT, p BIGINT, KEY (k, p), FOREIGN KEY (k, p) REFERENCES k (id, p) ON DELETE CASCADE ON UPDATE CASCADE)",
		"CREATE TABLE u (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, UNIQUE KEY (owner, code), FOREIGN KEY (owner, code) REFERENCES p (owner, code) ON DELETE CASCADE ON UPDATE CASCADE)",
		"CREATE TABLE v (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, KEY (owner, code), FOREIGN KEY (owner, code) REFERENCES u (owner, code) ON DELETE CASCADE ON UPDATE CASCADE)",
		"CREATE TABLE e (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, x INT, KEY (p), UNIQUE KEY (owner, x), FOREIGN KEY (p) REFERENCES e (id) ON DELETE CASCADE)",
		"CREATE TABLE b (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, a BIGINT, KEY (p), KEY (a), FOREIGN KEY (p) REFERENCES b (id) ON DELETE CASCADE, FOREIGN KEY (a) REFERENCES b (id) ON DELETE SET NULL)",
	},
	statement: (*kinsman).far,
}

// kinServers are the kinds of servers, which log cascades or don't.
func eachKin(t *testing.T, test func(*testing.T, *pair)) {
	eachPair(t, test)
	t.Run("mysql with native keys", func(t *testing.T) {
		test(t, newPair(t, servers.MySQL, "--innodb-native-foreign-keys=ON"))
	})
}

// kin makes the family's tables, or empties them if the database has them.
func (p *pair) kin(f *family) []*table.Table {
	p.t.Helper()
	declared := map[string]catalog.Declaration{}
	empty := []string{"SET foreign_key_checks = 0"}
	for _, name := range f.tables {
		empty = append(empty, "DELETE FROM "+name)
		declared[name] = byID
	}
	if p.made[f] {
		p.both(empty...)
	} else {
		p.both(f.create...)
		p.made[f] = true
	}
	tables := p.read(declared)
	if err := table.Tie(p.t.Context(), p.dial(p.source), tables); err != nil {
		p.t.Fatal(err)
	}
	return tables
}

// A kinsman writes random rows of a family's tables.
type kinsman struct {
	*rand.Rand
	*family
	ids uint64 // of an owner
}

const kinOwners = 5

func (r *kinsman) owner() int64          { return 1 + r.Int64N(kinOwners) }
func (r *kinsman) id(owner int64) string { return idOf(owner, 1+r.Uint64N(r.ids)) }
func (r *kinsman) code() string {
	return []string{"NULL", "'a'", "'A'", "'b'", "'B '", "'c'", "'d'"}[r.IntN(7)]
}
func (r *kinsman) pick(of ...string) string { return of[r.IntN(len(of))] }

// near returns a statement of any kind for kin. Most of them change what exists.
func (r *kinsman) near() string {
	o := r.owner()
	id, p, child := r.id(o), r.id(o), r.pick("c", "n", "k", "w")
	columns := map[string]string{"c": "(id, owner, p)", "n": "(id, owner, p)", "k": "(id, owner, p)", "w": "(id, owner, p)"}[child]
	switch r.IntN(16) {
	case 0, 1:
		return fmt.Sprintf("INSERT INTO p VALUES (%s, %d, %s, 1)", id, o, r.code())
	case 2:
		return fmt.Sprintf("REPLACE INTO p VALUES (%s, %d, %s, %d)", id, o, r.code(), r.IntN(5))
	case 3:
		return fmt.Sprintf("INSERT INTO p VALUES (%s, %d, %s, 1) ON DUPLICATE KEY UPDATE code = %s", id, o, r.code(), r.code())
	case 4:
		return fmt.Sprintf("DELETE FROM p WHERE id = %s", id)
	case 5:
		return fmt.Sprintf("DELETE FROM p WHERE owner = %d ORDER BY id LIMIT 3", o)
	case 6:
		return fmt.Sprintf("UPDATE p SET id = %s WHERE id = %s", p, id)
	case 7:
		return fmt.Sprintf("UPDATE p SET code = %s, x = x + 1 WHERE id = %s", r.code(), id)
	case 8:
		return fmt.Sprintf("DELETE p, c FROM p LEFT JOIN c ON c.p = p.id WHERE p.id = %s", id)
	case 9:
		return fmt.Sprintf("DELETE FROM %s WHERE id = %s", r.pick("c", "n", "u", "k", "w"), id)
	case 10:
		return fmt.Sprintf("UPDATE %s SET p = %s WHERE id = %s", child, p, id)
	case 11, 12:
		return fmt.Sprintf("INSERT INTO u VALUES (%s, %d, %s, 1)", id, o, r.code())
	default:
		return fmt.Sprintf("%s INTO %s %s VALUES (%s, %d, %s)", r.pick("INSERT", "INSERT", "REPLACE"), child, columns, id, o, p)
	}
}

// far returns a statement of any kind for line.
func (r *kinsman) far() string {
	o := r.owner()
	id, p := r.id(o), r.id(o)
	switch r.IntN(20) {
	case 0, 1:
		return fmt.Sprintf("INSERT INTO p VALUES (%s, %d, %s, 1)", id, o, r.code())
	case 2:
		return fmt.Sprintf("REPLACE INTO p VALUES (%s, %d, %s, %d)", id, o, r.code(), r.IntN(5))
	case 3:
		return fmt.Sprintf("DELETE FROM p WHERE owner = %d ORDER BY id LIMIT 2", o)
	case 4:
		return fmt.Sprintf("UPDATE p SET id = %s WHERE id = %s", p, id)
	case 5:
		return fmt.Sprintf("UPDATE p SET code = %s WHERE id = %s", r.code(), id)
	case 6:
		return fmt.Sprintf("DELETE FROM %s WHERE id = %s", r.pick("c", "g", "h", "k", "m", "u", "v"), id)
	case 7:
		return fmt.Sprintf("UPDATE c SET id = %s WHERE id = %s", p, id)
	case 8:
		return fmt.Sprintf("DELETE FROM %s WHERE id = %s", r.pick("e", "b"), id)
	case 9:
		return fmt.Sprintf("UPDATE %s SET p = %s WHERE id = %s", r.pick("c", "g", "h", "e", "b"), p, id)
	case 10, 11:
		return fmt.Sprintf("INSERT INTO %s VALUES (%s, %d, %s)", r.pick("u", "v"), id, o, r.code())
	case 12:
		return fmt.Sprintf("REPLACE INTO k VALUES (%s, %s, %d)", id, p, o)
	case 13:
		return fmt.Sprintf("INSERT INTO m (id, owner, k, p) SELECT %s, owner, id, p FROM k WHERE owner = %d ORDER BY id %s LIMIT 1", id, o, r.pick("ASC", "DESC"))
	case 14, 15:
		return fmt.Sprintf("%s INTO %s (id, owner, p, x) VALUES (%s, %d, %s, %d)", r.pick("INSERT", "INSERT", "REPLACE"), r.pick("g", "e"), id, o, p, r.IntN(30))
	case 16:
		return fmt.Sprintf("INSERT INTO b VALUES (%s, %d, %s, %s)", id, o, r.pick(p, "NULL"), r.pick(r.id(o), "NULL"))
	case 17:
		return fmt.Sprintf("INSERT INTO e VALUES (%s, %d, NULL, NULL)", id, o)
	default:
		return fmt.Sprintf("%s INTO %s (id, owner, p) VALUES (%s, %d, %s)", r.pick("INSERT", "INSERT", "REPLACE"), r.pick("c", "h"), id, o, p)
	}
}

// refusedBy matches the errors that a random statement may get: a row that another one refers to, that is missing, or
// that already exists.
func kinRefuses(err error) bool {
	for _, code := range []string{"1451", "1452", "1761", "1762", "1062", "1213", "1205", "1048", "1020", "6575"} {
		if err != nil && len(err.Error()) > 11 && err.Error()[6:10] == code {
			return true
		}
	}
	return false
}

// turn is a transaction or a statement by itself, sometimes without checks.
func (r *kinsman) turn(ctx context.Context, c *sql.Conn) error {
	say := func(text string) error {
		if _, err := c.ExecContext(ctx, text); err != nil && !kinRefuses(err) {
			return fmt.Errorf("%s: %w", text, err)
		}
		return nil
	}
	texts := []string{fmt.Sprintf("SET foreign_key_checks = %d", min(1, r.IntN(8)))}
	switch n := 1 + r.IntN(4); {
	case n > 1:
		texts = append(texts, "BEGIN")
		for range n {
			texts = append(texts, r.statement(r))
		}
		texts = append(texts, r.pick("COMMIT", "COMMIT", "ROLLBACK"))
	default:
		texts = append(texts, r.statement(r))
	}
	for _, text := range texts {
		if err := say(text); err != nil {
			return err
		}
	}
	return nil
}

// kinsmen starts writers that run until the returned function is called.
func (p *pair) kinsmen(f *family, s *servers.Server, seed uint64, ids uint64) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	ended := make(chan error, 3)
	db := s.DB(p.t, p.database)
	for w := range cap(ended) {
		go func() {
			r := &kinsman{rand.New(rand.NewPCG(seed, uint64(w))), f, ids}
			c, err := db.Conn(ctx)
			for err == nil {
				err = r.turn(ctx, c)
			}
			if c != nil { // its transaction would otherwise keep its locks in the pool
				_, _ = c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
				_ = c.Close()
			}
			ended <- err
		}()
	}
	return func() {
		cancel()
		for range cap(ended) {
			if err := <-ended; ctx.Err() == nil || err != nil && err.Error() == "" {
				p.t.Error(err)
			}
		}
	}
}

// kinTurns makes a number of turns of one client.
func (p *pair) kinTurns(f *family, s *servers.Server, seed uint64, ids uint64, n int) {
	p.t.Helper()
	if err := p.kinWrites(f, s, seed, ids, n); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pair) kinWrites(f *family, s *servers.Server, seed uint64, ids uint64, n int) error {
	db := s.DB(p.t, p.database)
	c, err := db.Conn(p.t.Context())
	if err != nil {
		return err
	}
	defer c.Close()
	r := &kinsman{rand.New(rand.NewPCG(seed, seed)), f, ids}
	for range n {
		if err := r.turn(p.t.Context(), c); err != nil {
			return err
		}
	}
	return nil
}

// sameKin compares all tables, and checks that no row was refused.
func (p *pair) sameKin(tables []*table.Table, seed uint64) {
	p.t.Helper()
	rows := 0
	for _, t := range tables {
		rows += p.same(t, "")
	}
	if rows == 0 {
		p.t.Errorf("seed %d: nothing was left to compare", seed)
	}
	for _, c := range p.conflicts(p.target) {
		p.t.Errorf("seed %d: refused: %s %s", seed, c.Table, c.Reason)
	}
}

// Rows that servers change by foreign keys, whether or not they log it, are the same at the target: while rows are
// copied and written, and afterwards, with and without foreign_key_checks, and in the reverse direction. If the copy
// misses a row on a busy machine, the comparison must find it; no job takes a step without a comparison.
func TestCascades(t *testing.T) {
	eachKin(t, func(t *testing.T, p *pair) {
		for seed := range uint64(kinSeeds) {
			p.cascades(t, kin, seed, func(s *stream, tables []*table.Table) {
				if n := p.compare(s, tables, func(*table.Table) bool { return true }); n > 0 {
					t.Logf("seed %d: the comparison has found and repaired %d rows", seed, n)
				}
			})
		}
	})
}

// The same over several levels. The comparison finds rows that a cascade did not reach while others were copied, and
// makes them equal.
func TestCascadesThatGoOn(t *testing.T) {
	eachKin(t, func(t *testing.T, p *pair) {
		for seed := range uint64(kinSeeds) {
			p.cascades(t, line, seed, func(s *stream, tables []*table.Table) {
				var writing sync.WaitGroup
				writing.Go(func() {
					if err := p.kinWrites(line, p.source, seed+5000, ids(seed), 200); err != nil {
						t.Error(err)
					}
				})
				p.heal(s, tables)
				writing.Wait()
			})
		}
	})
}

// cascades lets clients write before, during and after a copy, and at the other server after that. It calls between
// after the copy.
func (p *pair) cascades(t *testing.T, f *family, seed uint64, between func(*stream, []*table.Table)) {
	tables := p.kin(f)
	p.job = fmt.Sprintf("%s/%s/%d", p.database, t.Name(), seed)
	ids := ids(seed)
	p.kinTurns(f, p.source, seed, ids, 400)
	s := p.stream(applier.Config{Parts: all(3)}, tables)
	stop := p.kinsmen(f, p.source, seed+1000, ids)
	p.copy(s, copier.Config{Parallel: 3, ChunkBytes: 2000, Aim: time.Millisecond}, tables)
	p.kinTurns(f, p.source, seed+2000, ids, 100)
	stop()
	between(s, tables)
	p.settle(s)
	p.sameKin(tables, seed)
	p.kinTurns(f, p.source, seed+3000, ids, 300)
	p.settle(s)
	p.sameKin(tables, seed)
	s.stop()

	back := p.streamBetween(applier.Config{Parts: all(2), Job: p.job + "/back"}, tables, p.target, p.source)
	p.kinTurns(f, p.target, seed+4000, ids, 300)
	p.settleFrom(back, p.target)
	p.sameKin(tables, seed)
	back.stop()
}

// ids returns how many IDs of each owner are used.
func ids(seed uint64) uint64 { return 6 + 40*(seed%2) }

// heal compares the tables as the runner does before the first step.
func (p *pair) heal(s *stream, tables []*table.Table) (repaired int64) {
	p.t.Helper()
	return p.compare(s, tables, (*table.Table).PassedOn)
}

// compare compares the tables, and makes the rows of those that repairs accepts equal to the source's. Any other difference fails the test.
func (p *pair) compare(s *stream, tables []*table.Table, repairs func(*table.Table) bool) (repaired int64) {
	p.t.Helper()
	rows := &repair.Comparison{Owner: at(p.source), Other: at(p.target), Genes: s.parts.All(), Job: p.job, By: "the test"}
	defer rows.Close()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	c := checksum.New(checksum.Config{
		Job: p.job, Source: at(p.source), Target: at(p.target), Tables: tables, Parts: s.parts, PieceRows: 50,
		Repair: func(ctx context.Context, d checksum.Difference) (checksum.Repaired, error) {
			if !repairs(d.Table) {
				return checksum.Stands, nil
			}
			return rows.Do(ctx, d)
		},
	}, s)
	r, err := c.Run(ctx)
	if err != nil || len(r.Differences) > 0 {
		p.t.Fatalf("%v: %v", r.Differences, err)
	}
	return rows.Rows()
}

// A cascade continues to rows that the target has, over rows that it does not have yet. first lists the tables that
// are copied before the change.
var gaps = map[string]struct {
	first  []string
	make   []string // $n is an ID
	change []string
	wrong  int64 // how many rows at the target are not as at the source after the copy if the source logs no cascades
}{
	"deleted": {
		first:  []string{"g"},
		make:   []string{"INSERT INTO p VALUES ($1, 1, 'a', 1)", "INSERT INTO c VALUES ($1, 1, $1)", "INSERT INTO g VALUES ($1, 1, $1, 1), ($2, 1, $1, 2)"},
		change: []string{"DELETE FROM p WHERE id = $1"}, wrong: 2,
	},
	"replaced": {
		first:  []string{"g"},
		make:   []string{"INSERT INTO p VALUES ($1, 1, 'a', 1)", "INSERT INTO c VALUES ($1, 1, $1)", "INSERT INTO g VALUES ($1, 1, $1, 1), ($2, 1, NULL, 2)"},
		change: []string{"REPLACE INTO p VALUES ($1, 1, 'b', 2)"}, wrong: 1,
	},
	"a unique value passes on": {
		first:  []string{"g"},
		make:   []string{"INSERT INTO p VALUES ($1, 1, 'a', 1)", "INSERT INTO c VALUES ($1, 1, $1)", "INSERT INTO g VALUES ($8, 1, $1, 1)"},
		change: []string{"DELETE FROM p WHERE id = $1", "INSERT INTO g VALUES ($2, 1, NULL, 1)"}, wrong: 2,
	},
	"set to NULL after three levels": {
		first:  []string{"h"},
		make:   []string{"INSERT INTO p VALUES ($1, 1, 'a', 1)", "INSERT INTO c VALUES ($1, 1, $1)", "INSERT INTO g VALUES ($1, 1, $1, 1)", "INSERT INTO h VALUES ($1, 1, $1)"},
		change: []string{"DELETE FROM p WHERE id = $1"}, wrong: 1,
	},
	"a key that follows": {
		first:  []string{"m"},
		make:   []string{"INSERT INTO p VALUES ($1, 1, 'a', 1)", "INSERT INTO k VALUES ($1, $1, 1)", "INSERT INTO m VALUES ($1, 1, $1, $1), ($2, 1, NULL, $1)"},
		change: []string{"UPDATE p SET id = $5 WHERE id = $1"}, wrong: 1,
	},
	"a unique key that follows": {
		first:  []string{"v"},
		make:   []string{"INSERT INTO p VALUES ($1, 1, 'a', 1)", "INSERT INTO u VALUES ($1, 1, 'A')", "INSERT INTO v VALUES ($1, 1, 'a'), ($2, 1, 'A')"},
		change: []string{"UPDATE p SET code = 'b' WHERE id = $1"}, wrong: 2,
	},
	"of the same table": { // rows are copied one by one, in the order of their IDs
		make:   []string{"INSERT INTO e VALUES ($8, 1, NULL, 1)", "INSERT INTO e VALUES ($6, 1, $8, 2)", "INSERT INTO e VALUES ($2, 1, $6, 3), ($1, 1, $2, 4)"},
		change: []string{"DELETE FROM e WHERE id = $8"}, wrong: 1,
	},
	"inserted meanwhile": {
		make:   []string{"INSERT INTO e VALUES ($1, 1, NULL, 0), ($8, 1, NULL, 1)", "INSERT INTO e VALUES ($6, 1, $8, 2)"},
		change: []string{"INSERT INTO e VALUES ($9, 1, $6, 5)", "DELETE FROM e WHERE id = $8"}, wrong: 1,
	},
	"with two keys to itself": {
		make:   []string{"INSERT INTO b VALUES ($8, 1, NULL, NULL)", "INSERT INTO b VALUES ($6, 1, $8, $8)", "INSERT INTO b VALUES ($1, 1, NULL, $6)"},
		change: []string{"DELETE FROM b WHERE id = $8"}, wrong: 1,
	},
	"without checks": {
		first:  []string{"g"},
		make:   []string{"INSERT INTO p VALUES ($1, 1, 'a', 1)", "INSERT INTO c VALUES ($1, 1, $1)", "INSERT INTO g VALUES ($1, 1, $1, 1)"},
		change: []string{"SET foreign_key_checks = 0", "DELETE FROM p WHERE id = $1"},
	},
}

func TestCascadesOverRowsThatAreNotCopied(t *testing.T) {
	eachKin(t, func(t *testing.T, p *pair) {
		for _, name := range slices.Sorted(maps.Keys(gaps)) {
			t.Run(name, func(t *testing.T) {
				one := *p
				one.t, one.job = t, p.database+"/"+t.Name()
				one.overGap(name)
			})
		}
	})
}

func (p *pair) overGap(name string) {
	gap := gaps[name]
	tables := p.kin(line)
	p.on(p.source, withIDs(gap.make)...)
	s := p.stream(applier.Config{Parts: all(1)}, tables)
	var first, rest []*table.Table
	for _, one := range tables {
		if slices.Contains(gap.first, one.Name.Name) {
			first = append(first, one)
		} else {
			rest = append(rest, one)
		}
	}
	change := sync.OnceFunc(func() {
		p.on(p.source, withIDs(gap.change)...)
		p.settle(s)
	})
	late := &lateLander{stream: s, before: func(int) {}}
	if first == nil {
		late.after = change
	} else {
		p.copy(s, copier.Config{}, first)
		change()
	}
	config := copier.Config{Job: p.job, Source: at(p.source), Target: at(p.target), Tables: rest, Parts: s.parts, Parallel: 1, ChunkBytes: 1}
	if err := copier.New(config, late).Run(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	p.settle(s)
	want := gap.wrong
	if logged := p.engine == servers.MySQL && p.source == servers.Shared(p.t, servers.MySQL, 2)[0]; logged {
		want = 0
	}
	if n := p.heal(s, tables); n != want {
		p.t.Errorf("%d rows were repaired, want %d", n, want)
	}
	for _, one := range tables {
		p.same(one, "")
	}
	for _, c := range p.conflicts(p.target) {
		p.t.Errorf("the comparison repairs the row, and the stream recorded a conflict: %s %s", c.Table, c.Reason)
	}
	s.stop()
}

// withIDs replaces $n by an ID of the first owner.
func withIDs(texts []string) (all []string) {
	for _, text := range texts {
		for n := range uint64(10) {
			text = strings.ReplaceAll(text, fmt.Sprintf("$%d", n), idOf(1, n))
		}
		all = append(all, text)
	}
	return all
}

const kinSeeds = 2

// lateLander changes the source between the reading of a chunk and its landing, after the stream has the change.
type lateLander struct {
	*stream
	t      *testing.T
	before func(rows int)
	after  func() // nil: nothing
	locked int
}

func (l *lateLander) OpenLocked(ctx context.Context, lane table.Lane) (*applier.Opening, error) {
	l.locked++
	return l.stream.OpenLocked(ctx, lane)
}

func (l *lateLander) Land(ctx context.Context, o *applier.Opening, c applier.Chunk) error {
	if l.locked == 0 {
		l.before(len(c.Rows))
	}
	err := l.stream.Land(ctx, o, c)
	if l.after != nil && err == nil && len(c.Rows) > 0 {
		l.after()
	}
	return err
}

// A chunk of rows that refer to others is read before the source changes these rows by a foreign key, without logging
// that. The chunk would be written after the change. This happens at each reading, until the rows are locked.
func TestCascadesBetweenReadingAndLanding(t *testing.T) {
	for name, change := range map[string]string{
		"c": "DELETE FROM p WHERE id = %s", "n": "DELETE FROM p WHERE id = %s", "u": "UPDATE p SET code = CONCAT(code, 'z') WHERE id = %s", "k": "REPLACE INTO p VALUES (%s, 1, 'q', 7)",
	} {
		t.Run(name, func(t *testing.T) {
			eachKin(t, func(t *testing.T, p *pair) {
				tables := p.kin(kin)
				var lanes []*table.Table
				for n := range 20 {
					id := idOf(1, uint64(n))
					p.on(p.source, fmt.Sprintf("INSERT INTO p VALUES (%s, 1, 'c%d', 1)", id, n))
					if name == "u" {
						p.on(p.source, fmt.Sprintf("INSERT INTO u VALUES (%s, 1, 'c%d', 1)", id, n))
					} else {
						p.on(p.source, fmt.Sprintf("INSERT INTO %s (id, owner, p) VALUES (%s, 1, %s)", name, id, id))
					}
				}
				for _, one := range tables {
					if one.Name.Name == name {
						lanes = append(lanes, one)
					}
				}
				s := p.stream(applier.Config{Parts: all(2)}, tables)
				turn := 0
				late := &lateLander{stream: s, t: t, before: func(rows int) {
					if rows == 0 {
						return
					}
					p.on(p.source, fmt.Sprintf(change, idOf(1, uint64(turn))))
					turn++
					p.settle(s)
				}}
				config := copier.Config{Job: p.job, Source: at(p.source), Target: at(p.target), Tables: lanes, Parts: s.parts}
				if err := copier.New(config, late).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				p.settle(s)
				for _, one := range lanes {
					p.same(one, "")
				}
				if logged := p.engine == servers.MySQL && p.source == servers.Shared(t, servers.MySQL, 2)[0]; (late.locked > 0) == logged {
					t.Errorf("chunks were read with locks %d times, after %d changes", late.locked, turn)
				}
			})
		})
	}
}
