package moves

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/copier"
	"locus/migrate/table"
	"locus/router/catalog"
)

// kin are tables that foreign keys with every action tie, and how rows of theirs are placed. A string key is compared without regard to
// letter case.
var kin = []string{
	"CREATE TABLE p (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, x INT, UNIQUE KEY (owner, code))",
	"CREATE TABLE c (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, x INT, KEY (p), FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE)",
	"CREATE TABLE n (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), KEY (p), FOREIGN KEY (p) REFERENCES p (id) ON DELETE SET NULL ON UPDATE SET NULL)",
	"CREATE TABLE u (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, x INT, KEY (owner, code), FOREIGN KEY (owner, code) REFERENCES p (owner, code) ON DELETE CASCADE ON UPDATE CASCADE)",
	"CREATE TABLE k (id BIGINT, p BIGINT NOT NULL, owner BIGINT NOT NULL, PRIMARY KEY (id, p), KEY (p), FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE)",
	"CREATE TABLE w (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, x INT, KEY (p), FOREIGN KEY (p) REFERENCES w (id) ON DELETE SET NULL)",
}

// kinServers are the kinds of servers, which log cascades or don't.
func eachKin(t *testing.T, test func(*testing.T, *pair)) {
	eachPair(t, test)
	t.Run("mysql with native keys", func(t *testing.T) {
		both := servers.Start(t, servers.MySQL, 2, "--innodb-native-foreign-keys=ON")
		p := &pair{t: t, engine: servers.MySQL, source: both[0], target: both[1]}
		p.database = servers.Database(t, both...)
		p.job = p.database + "/" + t.Name()
		test(t, p)
	})
}

func (p *pair) kin() []*table.Table {
	p.t.Helper()
	declared := map[string]catalog.Declaration{}
	for _, name := range []string{"p", "c", "n", "u", "k", "w"} {
		declared[name] = byID
	}
	tables := p.read(declared)
	if err := table.Tie(p.t.Context(), p.dial(p.source), tables); err != nil {
		p.t.Fatal(err)
	}
	return tables
}

// A kinsman writes rows of the tables at random.
type kinsman struct {
	*rand.Rand
	ids uint64 // of an owner
}

const kinOwners = 5

func (r *kinsman) owner() int64          { return 1 + r.Int64N(kinOwners) }
func (r *kinsman) id(owner int64) string { return idOf(owner, 1+r.Uint64N(r.ids)) }
func (r *kinsman) code() string {
	return []string{"NULL", "'a'", "'A'", "'b'", "'B '", "'c'", "'d'"}[r.IntN(7)]
}
func (r *kinsman) pick(of ...string) string { return of[r.IntN(len(of))] }

// statement is one of all kinds; most change what exists.
func (r *kinsman) statement() string {
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

// refusedBy tells what a statement at random may be told: a row that another one refers to, or lacks, or that is there.
func kinRefuses(err error) bool {
	for _, code := range []string{"1451", "1452", "1761", "1762", "1062", "1213", "1205", "1048", "1020"} {
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
			texts = append(texts, r.statement())
		}
		texts = append(texts, r.pick("COMMIT", "COMMIT", "ROLLBACK"))
	default:
		texts = append(texts, r.statement())
	}
	for _, text := range texts {
		if err := say(text); err != nil {
			return err
		}
	}
	return nil
}

// kinsmen write until the function that it returns is called.
func (p *pair) kinsmen(s *servers.Server, seed uint64, ids uint64) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	ended := make(chan error, 3)
	db := s.DB(p.t, p.database)
	for w := range cap(ended) {
		go func() {
			r := &kinsman{rand.New(rand.NewPCG(seed, uint64(w))), ids}
			c, err := db.Conn(ctx)
			for err == nil {
				err = r.turn(ctx, c)
			}
			if c != nil { // its transaction would keep its locks in the pool
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

// kinTurns says a number of turns, one client's.
func (p *pair) kinTurns(s *servers.Server, seed uint64, ids uint64, n int) {
	p.t.Helper()
	db := s.DB(p.t, p.database)
	c, err := db.Conn(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	r := &kinsman{rand.New(rand.NewPCG(seed, seed)), ids}
	for range n {
		if err := r.turn(p.t.Context(), c); err != nil {
			p.t.Fatal(err)
		}
	}
}

// sameKin compares all tables, and looks that nothing was refused.
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

// What servers change by foreign keys, whether or not they log it, is the same at the target: while rows are copied and written, and
// afterwards, with and without foreign_key_checks, and back.
func TestCascades(t *testing.T) {
	eachKin(t, func(t *testing.T, p *pair) {
		for seed := range uint64(kinSeeds) {
			for _, name := range []string{"c", "n", "u", "k", "w", "p"} {
				p.both("DROP TABLE IF EXISTS " + name)
			}
			p.both(kin...)
			tables := p.kin()
			p.job = fmt.Sprintf("%s/%s/%d", p.database, t.Name(), seed)
			ids := uint64(6 + 40*(seed%2))
			p.kinTurns(p.source, seed, ids, 400)
			s := p.stream(applier.Config{Parts: all(3)}, tables)
			stop := p.kinsmen(p.source, seed+1000, ids)
			p.copy(s, copier.Config{Parallel: 3, ChunkBytes: 2000, Aim: time.Millisecond}, tables)
			p.kinTurns(p.source, seed+2000, ids, 100)
			stop()
			p.settle(s)
			p.sameKin(tables, seed)
			p.kinTurns(p.source, seed+3000, ids, 300)
			p.settle(s)
			p.sameKin(tables, seed)
			s.stop()

			back := p.streamBetween(applier.Config{Parts: all(2), Job: p.job + "/back"}, tables, p.target, p.source)
			p.kinTurns(p.target, seed+4000, ids, 300)
			p.settleFrom(back, p.target)
			p.sameKin(tables, seed)
			back.stop()
			if t.Failed() {
				return
			}
		}
	})
}

const kinSeeds = 2

// lateLander changes the source between the reading of a chunk and its landing, after the stream has the change.
type lateLander struct {
	*stream
	t      *testing.T
	before func(rows int)
	locked int
}

func (l *lateLander) OpenLocked(lane table.Lane) *applier.Opening {
	l.locked++
	return l.stream.OpenLocked(lane)
}

func (l *lateLander) Land(ctx context.Context, o *applier.Opening, c applier.Chunk) error {
	if l.locked == 0 {
		l.before(len(c.Rows))
	}
	return l.stream.Land(ctx, o, c)
}

// A chunk of rows that refer to others is read before those change at the source, by which the source changes the rows without a word in
// its log, and would be written after that. This happens again at each reading, until the rows are locked.
func TestCascadesBetweenReadingAndLanding(t *testing.T) {
	for name, change := range map[string]string{
		"c": "DELETE FROM p WHERE id = %s", "n": "DELETE FROM p WHERE id = %s", "u": "UPDATE p SET code = CONCAT(code, 'z') WHERE id = %s", "k": "REPLACE INTO p VALUES (%s, 1, 'q', 7)",
	} {
		t.Run(name, func(t *testing.T) {
			eachKin(t, func(t *testing.T, p *pair) {
				p.both(kin...)
				tables := p.kin()
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
