package differential

import (
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
)

// fromQueries are INSERTs whose rows come from a query over several shards, with the target table. Generated
// columns may differ.
var fromQueries = []struct {
	into *table
	text string
	args []any
}{
	{visit, "INSERT INTO visit (owner, n, small, name, amount) SELECT owner, n + 1000, small, name, amount FROM visit", nil},
	{visit, "INSERT INTO visit (owner, n, small, name) SELECT owner, 2000 + n, COUNT(*), MAX(name) FROM visit GROUP BY owner, n", nil},
	{visit, "INSERT IGNORE INTO visit (owner, n, small) SELECT a.owner, 7, a.small FROM account a LEFT JOIN visit v ON v.owner = a.owner AND v.n = 7", nil},
	{visit, "INSERT INTO visit (owner, n, name) (SELECT owner, 3000, 'it''s \\\\ \"so\"' FROM account WHERE owner = 42 LIMIT 1)", nil},
	{visit, "REPLACE INTO visit (owner, n, small, name, amount) SELECT owner, n, COALESCE(small, 0) + 1, 'replaced', 9.99 FROM visit WHERE n < 3", nil},
	{visit, "INSERT INTO visit (owner, n, small) SELECT owner, 4000 + ?, ? FROM account WHERE small > ? GROUP BY owner", []any{int64(1), int64(7), int64(3)}},
	{visit, "INSERT INTO visit (owner, n, amount) SELECT s.o, 5000, s.x FROM (SELECT owner AS o, SUM(amount) AS x FROM account GROUP BY owner) s", nil},
	{visit, "INSERT INTO visit (owner, n) SELECT 77, 6000 UNION ALL SELECT 78, 6001", nil},
	{visit, "INSERT INTO visit (owner, n, name) SELECT product_id, 7000, name FROM product", nil},
	{visit, "INSERT INTO visit (owner, n, small) SELECT 5, 7500, small FROM rate LIMIT 1", nil},
	{visit, "INSERT IGNORE INTO visit (owner, n, small) SELECT v.owner, 20000 + a.small * 100 + v.n, 1 FROM visit v, account a WHERE v.n < 5", nil}, // several batches
	{visit, "INSERT INTO visit (owner, n) SELECT owner, n FROM visit", nil},                                                                         // duplicates: none of the rows is inserted
	{visit, "INSERT INTO visit (owner, n) SELECT owner FROM visit", nil},
	{visit, "INSERT INTO visit (owner, n, small, name) SELECT owner, n, COALESCE(small, 0), 'x' FROM visit WHERE n < 4 AND (small IS NULL OR small < 30000) ON DUPLICATE KEY UPDATE name = VALUES(name), small = VALUES(small) + 1", nil},
	{visit, "INSERT INTO visit (owner, n, amount) SELECT owner, 8000, COALESCE(NULLIF(small, 0), 1) FROM account ON DUPLICATE KEY UPDATE visit.amount = visit.amount + VALUES(amount)", nil},
	{visit, "INSERT INTO visit (owner, n, small) SELECT 42, 8001, ? FROM rate ON DUPLICATE KEY UPDATE name = CONCAT(COALESCE(name, ''), 'z')", []any{int64(3)}},
	{member, "INSERT IGNORE INTO member (who, n, small) SELECT m.who, m.n, 9 FROM member m JOIN account a ON a.small = m.n ON DUPLICATE KEY UPDATE small = VALUES(small)", nil},
	{account, "INSERT INTO account (owner, small, big, tiny, amount, ratio, day, at, span, yr, name, alt, code, kind, tags, note, flag, raw) " +
		"SELECT owner, small, big, tiny, amount, ratio, day, at, span, yr, name, alt, code, kind, tags, note, flag, raw FROM account", nil},
	{account, "INSERT INTO account (owner, ratio, name, note, amount, kind, day) SELECT n, amount, day, at, ratio, name, at FROM (SELECT 3 AS n, amount, day, at, ratio, 'b' AS name FROM account WHERE ratio < 1000) q", nil},
	{member, "INSERT INTO member (who, n, small, name, day) SELECT who, n + 500, small, UPPER(name), day FROM member", nil},
	{line, "INSERT INTO line (id, product, qty, price) SELECT a.id, p.product_id, 1, p.price FROM account a, product p WHERE a.small > 25", nil},
	{rate, "INSERT INTO rate (k, small, amount) SELECT CONCAT('q', owner), MAX(small), SUM(amount) FROM account GROUP BY owner", nil},
	{rate, "REPLACE INTO rate SELECT CONCAT('q', owner), NULL, 1 FROM account GROUP BY owner", nil},
	{setting, "INSERT INTO setting (name, value) SELECT CONCAT('r', k), small FROM rate", nil},
	{product, "INSERT INTO product (product_id, name, price) SELECT 100 + COUNT(*), MIN(name), MAX(amount) FROM account WHERE amount IS NOT NULL", nil},
}

func TestInsertFromQuery(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		p := newPair(t, engine)
		p.fill(p.generator(1))
		for _, begin := range []string{"", "BEGIN", "SET autocommit = 0"} {
			for _, conn := range p.sessions() {
				if begin != "" {
					p.exec(conn, begin)
				}
			}
			for i, c := range fromQueries {
				if begin == "BEGIN" && i%2 > 0 || begin == "SET autocommit = 0" && i%2 == 0 {
					continue
				}
				p.sameInsert(t, begin, c.into, &statement{root: all(c.text), prepared: c.args != nil, fixed: c.args, writes: c.into, several: true})
			}
			for _, conn := range p.sessions() {
				if begin != "" {
					p.exec(conn, "ROLLBACK")
				}
			}
			for _, to := range tables {
				if rows := p.compare(to, to.stamped); rows != "" {
					t.Errorf("%s, after %q was rolled back: %s", engine, begin, rows)
				}
			}
			p.fill(p.generator(3)) // rows of the same IDs on both sides
		}
	})
}

// sameInsert compares the two answers, and the rows of the table afterwards if other sessions can see them.
func (p *pair) sameInsert(t *testing.T, begin string, into *table, s *statement) {
	ctx := t.Context()
	proxy, plain := ask(ctx, p.proxied, s, false), ask(ctx, p.direct, s, true)
	difference := differ(s, proxy, plain)
	if proxy.refused() {
		difference = "refused: " + proxy.err.Error()
	}
	if begin == "" {
		skip := into.stamped
		if text := s.root.kids[0].text; text[0] == 'R' || strings.Contains(text, "ON DUPLICATE") {
			skip = append(skip[:len(skip):len(skip)], "version")
		}
		if rows := p.compare(into, skip); rows != "" {
			difference += "; " + rows
		}
	}
	if difference != "" {
		t.Errorf("%s, after %q: %s differ\n  %s\n  proxy: %v\n  plain: %v", p.engine, begin, difference, s, proxy, plain)
	}
}

// Values of every type come through a query as they are.
func TestInsertOfAllKinds(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		p := newPair(t, engine)
		columns := strings.TrimPrefix(strings.TrimSuffix(kinds, ", ga, gv"), "n, ")
		for _, conn := range p.sessions() {
			p.exec(conn, "SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'")
			for n := range 12 {
				p.exec(conn, fmt.Sprintf("INSERT INTO kinds (owner, n, %s) VALUES (%d, %d, %s)", columns, owners[n], n, kindRows[n%len(kindRows)]))
			}
		}
		for i, mode := range []string{"ALLOW_INVALID_DATES", "ALLOW_INVALID_DATES,NO_BACKSLASH_ESCAPES,ANSI_QUOTES"} {
			for _, conn := range p.sessions() {
				p.exec(conn, "SET sql_mode = '"+mode+"'")
				p.exec(conn, fmt.Sprintf("INSERT INTO kinds (owner, n, %s) SELECT owner, n + %d, %s FROM kinds WHERE n < 12", columns, 100*(i+1), columns))
			}
		}
		p.sameAnswer("after INSERT … SELECT", "SELECT {c} FROM kinds ORDER BY n", true)
		p.sameAnswer("after INSERT … SELECT", "SELECT n, HEX(ch), HEX(vc), HEX(vb), HEX(u2), HEX(sj), HEX(bn), HEX(vn), HEX(tx), HEX(lt), HEX(bl), HEX(ge), en + 0, st + 0, bi + 0, fl + 0e0, db * 1 FROM kinds ORDER BY n", false)
	})
}
