//go:build long

package differential

import (
	"database/sql"
	"testing"

	"locus/internal/test/servers"
)

// An answer that the plain server gives in no way is a difference. One that it gives in another way, or for a
// part of a statement with two errors, is not.
func TestUndecided(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		p := newPair(t, engine)
		p.fill(p.generator(3))
		s := &statement{root: all("SELECT COUNT(*) FROM account WHERE small > ", value{text: "0", param: int64(0), bound: true}), prepared: true}
		plain := ask(t.Context(), p.direct, s, true)
		if plain.err != nil {
			t.Fatal(plain.err)
		}
		if !p.undecided(s, plain, plain) {
			t.Errorf("%s: the plain server's own answer is in none of its ways", s)
		}
		other := &answer{columns: plain.columns, rows: []string{"-1"}}
		if p.undecided(s, other, plain) {
			t.Errorf("%s: -1 is said to be one of the answers", s)
		}

		p.pads()
		p.ranges()

		twice := &statement{root: all("SELECT 1 FROM account WHERE ", list("", " AND ", all("nowhere = 1"), all("nofunction(small) = 1")))}
		plain = ask(t.Context(), p.direct, twice, true)
		for _, c := range []struct {
			number uint16
			want   bool
		}{{1305, true}, {1146, false}} {
			proxy := &answer{number: c.number, err: plain.err}
			if plain.number != 1054 || p.undecided(twice, proxy, plain) != c.want {
				t.Errorf("%s: error %d beside the plain server's %d is undecided: %v, want %v", twice, c.number, plain.number, !c.want, c.want)
			}
		}

		thrice := &statement{root: all("SELECT 1 FROM account WHERE ", list("", " AND ", all("nowhere = 1"), all("nowhere = 2"), all("nofunction(small) = 1")))}
		if plain = ask(t.Context(), p.direct, thrice, true); !p.undecided(thrice, &answer{number: 1305, err: plain.err}, plain) {
			t.Errorf("%s: what is wrong in two places hides what is wrong in a third", thrice)
		}
	})
}

// pads compares in MySQL a text with a padded collation with one with an unpadded collation. By an index the
// result differs from that row by row.
func (p *pair) pads() {
	if p.engine != servers.MySQL {
		return
	}
	for _, db := range []*sql.DB{p.plain, p.shards[0]} {
		for _, name := range []string{"pad", "pad "} {
			if _, err := db.ExecContext(p.t.Context(), "INSERT INTO setting VALUES (?, '')", name); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	for n := range 60 {
		p.exec(p.direct, "INSERT INTO account (owner, small, code) VALUES (?, ?, IF(? = 11, 'pad ', 'zz'))", n, 1000+n, n)
	}
	s := &statement{root: all("SELECT s.name FROM setting s CROSS JOIN account a ON s.name <=> a.code WHERE small + 0 = 1011")}
	seen := map[int]bool{}
	for _, a := range p.opinions(s) {
		seen[len(a.rows)] = true
	}
	if !seen[1] || !seen[2] || len(seen) != 2 {
		p.t.Errorf("%s: numbers of rows %v, want 1 and 2", s, seen)
	}
}

// ranges compares numbers with fractions as bounds. In an index they are compared as numbers, and row by row as
// fractions, which above 2^53 is a different range.
func (p *pair) ranges() {
	const last = 7061367138786738177
	p.exec(p.direct, "DELETE FROM line WHERE product = 0")
	for n := range 60 {
		p.exec(p.direct, "INSERT INTO line (id, product) VALUES (?, 0)", last+n)
	}
	s := &statement{writes: line, root: all("UPDATE line SET product = 1 WHERE id BETWEEN 4.2e18 AND 7061367138786738177 AND product = 0")}
	shapes := []shape{few, many}
	defer p.reshape(shapes...)()
	seen := map[int64]bool{}
	for _, w := range p.ways(shapes...) {
		p.in(w, s, func(conn *sql.Conn, s *statement) {
			p.exec(conn, "BEGIN")
			seen[p.ask(conn, s).affected] = true
			p.exec(conn, "ROLLBACK")
		})
	}
	if p.engine == servers.MySQL && !(seen[1] && seen[60]) {
		p.t.Errorf("%s: numbers of rows %v, want 1 and 60", s, seen)
	}
}
