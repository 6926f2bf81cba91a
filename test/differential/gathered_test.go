package differential

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
)

// kinds are the columns of the table of all types.
const kinds = "n, i8, u16, i24, u64, de, fl, fd, db, dd, bi, b1, yr, dt, dn, tm, d0, d6, ts, t6, ch, vc, vb, u2, sj, bn, vn, tx, lt, bl, js, ge, en, st, ga, gv"

// storable are the columns of kinds without the dates that some modes of a server read but don't store.
var storable = regexp.MustCompile(`\b(dt|dn|d0|ts), `).ReplaceAllString(kinds, "")

// kindRows are rows without an owner, for the columns up to st. They are inserted without sql_mode, so that
// zero dates and invalid enumeration values can be stored.
var kindRows = []string{
	"NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2001-01-01', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
	"-128, 7, -8388608, 18446744073709551615, -12345678901234567890123456.123456789012, 0.1, 123456.789, 0.1, 12345678.1234, b'1111111111111111111111111111111111111111111111111111111111111111', 1, 2155, '9999-12-31', '0000-00-00', '-838:59:59.000000', '1000-01-01 00:00:00', '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07', '1970-01-01 00:00:01.000001', 'é ', 'Ann', 'Ann ', '𝄞李', 'ｱテ', 'a', 'a\\0b''\\\\', 'line\\nfeed\\'\\\\', 'ÿ', X'00ff27225c', '{\"a\": [1, 1.0, 1e2, \"é\", null, true], \"b\": {}}', ST_GeomFromText('POINT(1.5 -2)'), 'ä', 'x,z'",
	"127, 65535, 8388607, 0, 0.000000000001, 3.4e38, -0.001, -1.7976931348623157e308, -0.0001, 0, 0, 0, '0000-00-00', '2020-02-29', '00:00:00.000001', '0000-00-00 00:00:00', '2024-10-27 02:30:00.5', '0000-00-00 00:00:00', '2024-10-27 00:30:00.5', '', '', '', '', '', '', '', '', '', '', '{}', NULL, 'nosuch', ''",
	"1, 0, 0, 9223372036854775808, 1, -0e0, 0, -0e0, 0, 1, 1, 1901, '2024-13-45', '2024-10-27', '12:34:56', '2024-02-30', '2024-10-27 01:30:00', '2024-10-27 01:30:00', '2024-10-27 00:59:59.999999', 'ß', 'straße', 'x', 'x ', 'A', X'000000000001', X'', '日本', 'a\\tb', X'', '[]', ST_GeomFromText('LINESTRING(0 0, 1 1)', 4326), 'b', 'y'",
}

// gathered are statements over rows of several shards that one server answers,
// with {c} for all columns of kinds, and {s} for storable.
var gathered = []string{
	"SELECT DISTINCT {c} FROM kinds",
	"SELECT {c}, (SELECT COUNT(*) FROM visit) FROM kinds ORDER BY n",
	"SELECT HEX(ch), HEX(vc), HEX(vb), HEX(u2), HEX(sj), HEX(bn), HEX(vn), HEX(tx), HEX(lt), HEX(bl), HEX(ge), en + 0, st + 0, bi + 0, fl + 0e0, db * 1, UNIX_TIMESTAMP(t6), COLLATION(vc), CHARSET(u2) FROM kinds WHERE n > (SELECT -1)",
	"SELECT n, dn IS NULL, dt = 0, t6 FROM kinds WHERE n >= (SELECT MIN(n) FROM kinds)",
	"SELECT a.n, b.n FROM kinds a JOIN kinds b ON a.u64 > b.i8 AND a.vc <> b.vc AND a.vb = 'Ann '",
	"SELECT js, COUNT(*), MAX(ts), MIN(en), MAX(st), AVG(de), SUM(dd), BIT_OR(bi) FROM kinds GROUP BY js",
	"SELECT ROW_NUMBER() OVER (ORDER BY n), LAG(vc) OVER (ORDER BY n), n FROM kinds",
	"WITH RECURSIVE r AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 3) SELECT r.i, k.vc FROM r LEFT JOIN kinds k ON k.n = r.i",
	"SELECT COUNT(*), COUNT(DISTINCT vc) FROM (SELECT vc FROM kinds UNION SELECT name FROM visit UNION ALL SELECT 'x') u", // the server may choose any of the equal texts
	"SELECT k.n, p.name, s.value, r.small FROM kinds k LEFT JOIN product p ON p.product_id = k.n LEFT JOIN setting s ON s.name = k.vc LEFT JOIN rate r ON r.k = k.vb",
	"SELECT * FROM rate r CROSS JOIN setting s",
	"SELECT COUNT(*) FROM kinds k JOIN information_schema.TABLES t ON t.TABLE_NAME = 'kinds' AND t.TABLE_SCHEMA = DATABASE()",
	"SELECT COUNT(*) AS c, SUM(n) AS s FROM visit GROUP BY name HAVING c > 1 ORDER BY c DESC, s",
	"SELECT GROUP_CONCAT(n ORDER BY n DESC SEPARATOR '-'), COUNT(DISTINCT vc), STDDEV(de), JSON_ARRAYAGG(n) IS NULL FROM kinds",
	"(SELECT n FROM kinds ORDER BY n LIMIT 2) UNION ALL (SELECT n FROM visit ORDER BY owner, n LIMIT 2) ORDER BY 1",
	"SELECT owner, n, small FROM visit GROUP BY owner, n ORDER BY owner, n",
	"SELECT n FROM kinds WHERE ts < '2030-01-01 00:00:00' AND n IN (SELECT n FROM kinds)",
	"SELECT a.n FROM kinds a LEFT JOIN kinds b ON b.i8 = a.n AND b.vc IS NULL WHERE b.n IS NULL",
	"SELECT a.n FROM kinds a LEFT JOIN kinds b ON b.i8 = a.n WHERE b.n <=> NULL AND a.n < 100",
	"SELECT a.n, x.n FROM kinds a, LATERAL (SELECT n FROM kinds b WHERE b.n > a.n) x",
	"SELECT a.n FROM kinds a NATURAL JOIN kinds b",
	"SELECT EXTRACT(YEAR FROM dt), TRIM(LEADING 'a' FROM vb), n FROM kinds WHERE n IN (SELECT MAX(n) FROM kinds UNION SELECT MIN(n) FROM kinds)",
	"TABLE rate UNION TABLE rate",
	// rows that are read by the keys of others
	"SELECT a.n, b.owner, b.u16, b.i24 FROM kinds a JOIN kinds b ON b.u16 = a.n WHERE a.vc IN ('ann', 'Bob', 'é') OR a.n < 5",
	"SELECT a.owner, a.n, b.n, b.u64 FROM kinds a LEFT JOIN kinds b ON b.u64 = a.i8 AND b.n > 2 WHERE a.owner IN (1, 2, 3)",
	"SELECT v.owner, v.n, a.small, a.name FROM visit v LEFT JOIN account a ON a.owner = v.small WHERE v.n IN (1, 2, 3, 4)",
	"SELECT v.owner, v.n, l.qty, a.owner FROM visit v JOIN line l ON l.product = v.n LEFT JOIN account a ON a.id = l.id AND a.owner > 3 WHERE v.small = 1",
	"SELECT r.k, v.owner, v.n FROM rate r JOIN visit v ON v.small = r.small WHERE r.k <> 'b' AND r.k IN ('a', 'B', 'ann', 'é')",
	"SELECT r.k, v.owner, v.n FROM visit v LEFT JOIN rate r ON r.small = v.n AND v.owner = r.small WHERE v.small = 2",
	"SELECT COUNT(*) FROM note n, person p, visit v WHERE p.small = n.small AND v.n = p.id AND n.name = 'ann'",
	"SELECT a.id IS NULL, p.id FROM person p RIGHT JOIN account a ON p.small = a.small AND a.tiny = 1 WHERE a.small BETWEEN 0 AND 9",
	"SELECT v.owner, (SELECT MAX(b.n) FROM visit b JOIN note c ON c.small = b.n WHERE b.small = 1 AND c.owner >= v.owner) FROM visit v WHERE v.name = 'ann'",
	"SELECT v.owner, v.n FROM visit v WHERE v.n IN (SELECT c.small FROM note c WHERE c.name = 'ann') AND v.owner > 0",
	"SELECT a.owner, a.small FROM account a WHERE a.small IN (SELECT v.n FROM visit v JOIN note c ON c.n = v.small WHERE v.owner IN (1, 2, 42)) ORDER BY a.owner, a.id",
	"SELECT COUNT(*) FROM account a WHERE a.owner IN (SELECT MAX(v.n) FROM visit v WHERE v.small = 1 GROUP BY v.owner) OR a.small IN (SELECT v.n FROM visit v WHERE v.small = 1)",
	"SELECT v.n, c.n FROM visit v LEFT JOIN note c ON c.owner = v.n AND c.small IN (SELECT p.small FROM person p WHERE p.name = 'ann') WHERE v.small = 1",
	"SELECT COUNT(*), MAX(n) INTO @many, @most FROM kinds WHERE n > 2",
	"SELECT @many, @most",
	"SELECT a.small INTO @many FROM account a JOIN visit v ON v.n = a.small WHERE v.owner = -5",
	"SELECT n FROM visit WHERE small = 1 INTO @most", // several rows
	"SELECT v.n, @most FROM visit v JOIN note c ON c.n = v.n AND c.n < @many + 3 ORDER BY v.n, v.owner LIMIT 1 INTO @one, @two",
	"SELECT @many, @most, @one, @two",
	"SELECT COUNT(*) INTO @many FROM kinds WHERE n IN (SELECT n FROM visit) AND NOW() > '2020-01-01'", // all shards have one time
	"SELECT @many",
	// common table expressions that are read more than once
	"WITH x AS (SELECT {s} FROM kinds) SELECT a.*, b.n, b.js, b.t6 FROM x a JOIN x b ON a.n = b.n",
	"WITH x AS (SELECT {s} FROM kinds ORDER BY n LIMIT 3) SELECT * FROM x WHERE n >= (SELECT MIN(n) FROM x) UNION ALL SELECT * FROM x",
	"WITH x AS (SELECT small, COUNT(*) AS c, MAX(name) AS m FROM visit GROUP BY small) SELECT a.small, a.c, b.c, a.m FROM x a JOIN x b ON a.small = b.small + 1 WHERE a.c >= (SELECT AVG(c) FROM x)",
	"WITH w AS (SELECT owner, n, small FROM visit WHERE n < 9), x (o, s) AS (SELECT owner, SUM(small) FROM w GROUP BY owner), y AS (SELECT o, ROW_NUMBER() OVER (ORDER BY s, o) AS r FROM x) SELECT a.o, a.r, b.o, (SELECT COUNT(*) FROM x) FROM y a JOIN y b ON a.r = b.r - 1 ORDER BY a.r",
	"WITH RECURSIVE r AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 3), x AS (SELECT r.i, k.vc FROM r LEFT JOIN kinds k ON k.n = r.i UNION SELECT 9, 'é') SELECT a.i, b.vc, (SELECT MAX(i) FROM r) FROM x a JOIN x b ON a.vc = b.vc",
	"WITH x AS (SELECT owner, n * 2 AS d, n FROM visit), u AS (SELECT * FROM rate) SELECT COUNT(*), (SELECT SUM(d) FROM x) FROM x a, x b, u, u v WHERE a.d = b.n AND u.k = v.k",
	"WITH x AS (SELECT id, @@sql_mode AS m, CONNECTION_ID() > 0 AS c FROM account GROUP BY id) SELECT COUNT(*) FROM x JOIN x y USING (id, m, c)",
	"WITH x AS (SELECT n FROM kinds UNION SELECT n FROM visit) TABLE x UNION ALL TABLE x",
	"SELECT a.owner FROM account a JOIN (SELECT v.owner, v.n FROM visit v JOIN note c ON c.n = v.small WHERE v.n = 1) d ON d.n = a.small",
}

// under are session settings that must not change any value.
var under = []string{
	"SET time_zone = 'SYSTEM'", "SET time_zone = '+05:30'", "SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'", "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'",
	"SET NAMES latin1", "SET SESSION TRANSACTION READ ONLY", "SET collation_connection = utf8mb4_bin", "SET default_tmp_storage_engine = MyISAM",
}

func TestGathered(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		p := newPair(t, engine)
		p.fill(p.generator(1))
		p.fillKinds()
		p.compareGathered("", "", "BEGIN", "SET autocommit = 0")
		for _, set := range under {
			for _, conn := range p.sessions() {
				p.exec(conn, set)
			}
			p.compareGathered(set, "")
			p.proxied, p.direct = p.connect(p.shop.DB(t, nil)), p.connect(p.plain)
		}
	})
}

func (p *pair) sessions() []execer { return []execer{p.proxied, p.direct} }

// compareGathered runs the statements outside of a transaction, and within one
// that has changed rows.
func (p *pair) compareGathered(set string, begins ...string) {
	for _, begin := range begins {
		for _, conn := range p.sessions() {
			if begin == "" {
				break
			}
			p.exec(conn, begin)
			p.exec(conn, "UPDATE visit SET name = 'changed' WHERE owner = 42")
			p.exec(conn, "UPDATE rate SET small = small + 1")
			p.exec(conn, "UPDATE product SET price = price + 1")
		}
		for _, text := range gathered {
			p.sameAnswer(set+"; "+begin, text, false)
			if set == "" {
				p.sameAnswer(begin, text, true)
			}
		}
		if begin != "" {
			for _, conn := range p.sessions() {
				p.exec(conn, "ROLLBACK")
			}
		}
	}
}

func (p *pair) sameAnswer(under, text string, prepared bool) {
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	s := &statement{root: all(strings.NewReplacer("{c}", kinds, "{s}", storable).Replace(text)), prepared: prepared}
	if strings.Contains(text, "ORDER BY") && !strings.Contains(text, "(ORDER BY") {
		s.order = ordered
	}
	proxy, plain := ask(ctx, p.proxied, s, false), ask(ctx, p.direct, s, true)
	difference := differ(s, proxy, plain)
	if proxy.refused() {
		difference = "refusal and answer"
	}
	if difference != "" {
		p.t.Errorf("%s, under %s (prepared: %v): %s differ\n  %s\n  proxy: %v\n  plain: %v", p.engine, under, prepared, difference, s, proxy, plain)
	}
}

// carriedRows are rows of visit, of which one leads to others.
var carriedRows = []string{
	"9001, 1, 9002, 'Ann', 1.5", "9002, 1, 9001, 'é ß', NULL", "9003, 1, NULL, '😀 \"q\" \\\\', 0", "9004, 1, 9001, 'it''s  ', -1", "9005, 1, 9004, '', 2",
	"9006, 1, 9999, '日本', 3", "9007, 1, 9007, 'self', 4", "9001, 2, 9007, 'ANN', 5",
}

// carried are statements that run on one shard, with the rows that a unique key finds in their text. {o} is an owner.
var carried = []string{
	"SELECT w.small, w.name, w.amount FROM visit v JOIN visit w ON w.owner = v.small WHERE v.owner = {o} AND v.n = 1",
	"SELECT v.name, v.small, v.n, v.owner, HEX(v.name), COLLATION(v.name), COERCIBILITY(v.name), v.name = 'ANN', v.name LIKE 'a%', v.small + 0, -v.small, CONCAT(v.n, v.name), w.n FROM visit AS v LEFT JOIN visit w ON w.owner = v.small WHERE v.owner = {o} AND v.n = 1",
	"SELECT visit.owner, w.* FROM visit JOIN visit w ON w.owner = visit.small WHERE visit.owner = {o} AND visit.n IN (1, 2) ORDER BY 1, 2, 3",
	"SELECT w.owner, v.n FROM visit w RIGHT JOIN visit v ON w.owner = v.small AND w.name <> v.name WHERE v.n = 1 AND v.owner = {o}",
	"SELECT w.owner, w.n FROM visit w WHERE w.owner IN (SELECT v.small FROM visit v WHERE v.owner = {o} AND v.n = 1) AND w.name >= ''",
	"SELECT x.owner, x.n, v.small, w.name FROM visit v JOIN visit w ON w.owner = v.small AND w.n = 1 JOIN visit x ON x.owner = w.small WHERE v.owner = {o} AND v.n = 1 AND 'a' <> 'b'",
	"SELECT w.n, p.name, v.small IS NULL FROM visit v JOIN visit w ON w.owner = v.small LEFT JOIN product p ON p.product_id = w.n WHERE v.owner = {o} AND v.n = 1 LIMIT 5",
	"SELECT w.n, (SELECT COUNT(*) FROM product), (SELECT v.name) FROM visit v FORCE INDEX (PRIMARY) JOIN visit w ON w.owner = v.small WHERE v.owner = {o} AND v.n = 1",
	"SELECT w.n FROM (visit v, visit w) WHERE w.owner = v.small AND v.owner = {o} AND v.n = 1 AND (v.name = w.name OR w.n < 5) UNION ALL SELECT 7",
	"WITH v AS (SELECT small, name FROM visit WHERE owner = {o} AND n = 1) SELECT v.name, w.name FROM visit w JOIN v ON w.owner = v.small",
	"SELECT SQL_CALC_FOUND_ROWS w.n FROM visit v JOIN visit w ON w.owner = v.small WHERE v.owner = {o} AND v.n = 1 LIMIT 1",
}

// Statements with the rows of other tables in their text return what one server returns, and the types of the columns are the same.
func TestCarried(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		p := newPair(t, engine)
		for _, conn := range p.sessions() {
			for _, row := range carriedRows {
				p.exec(conn, "INSERT INTO visit (owner, n, small, name, amount) VALUES ("+row+")")
			}
			p.exec(conn, "INSERT INTO product VALUES (1, 'one', 1), (2, 'two', 2)")
		}
		before := p.shop.Proxy.Status().Counts.Carried.Load()
		statements := uint64(0)
		for _, set := range append([]string{""}, under...) {
			for _, begin := range []string{"DO 0", "BEGIN", "SET autocommit = 0"} {
				for _, conn := range p.sessions() {
					if set != "" {
						p.exec(conn, set)
					}
					p.exec(conn, begin)
					if begin != "DO 0" && !strings.Contains(set, "READ ONLY") {
						p.exec(conn, "UPDATE visit SET name = 'changed'"+map[bool]string{true: ", version = version + 1"}[conn == p.direct]+" WHERE owner IN (9002, 9004)")
					}
				}
				owners := []int{9001, 9003, 9005}
				if set == "" {
					owners = []int{9000, 9001, 9002, 9003, 9004, 9005, 9006, 9007}
				}
				for _, owner := range owners {
					for _, text := range carried {
						statements += p.sameCarried(set+"; "+begin, text, owner)
					}
				}
				for _, conn := range p.sessions() {
					p.exec(conn, "ROLLBACK")
				}
				p.proxied, p.direct = p.connect(p.shop.DB(t, nil)), p.connect(p.plain)
			}
		}
		if n := p.shop.Proxy.Status().Counts.Carried.Load() - before; n < statements/2 {
			t.Errorf("of %d statements, %d had the rows in their text", statements, n)
		}
	})
}

// sameCarried runs a statement as text and prepared, with the owner as a parameter, and returns the number of executions.
func (p *pair) sameCarried(under, text string, owner int) (n uint64) {
	literal, bound := strings.ReplaceAll(text, "{o}", strconv.Itoa(owner)), strings.ReplaceAll(text, "{o}", "?")
	for _, args := range [][]any{nil, {owner}} {
		text := literal
		if args != nil {
			text = bound
		}
		proxied, plain := p.described(p.proxied, text, args), p.described(p.direct, text, args)
		if proxied != plain {
			p.t.Errorf("%s, under %s, of owner %d: %s\n  proxy: %s\n  plain: %s", p.engine, under, owner, text, proxied, plain)
		}
		n++
	}
	return n
}

// described returns the types and the sorted rows of an answer.
func (p *pair) described(conn *sql.Conn, text string, args []any) string {
	rows, err := conn.QueryContext(p.t.Context(), text, args...)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	var out []string
	types, err := rows.ColumnTypes()
	if err != nil {
		return err.Error()
	}
	values := make([]any, len(types))
	head := ""
	for i, c := range types {
		head += c.Name() + " " + c.DatabaseTypeName() + ", "
		values[i] = new(sql.NullString)
	}
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			return err.Error()
		}
		line := ""
		for _, v := range values {
			line += fmt.Sprintf("%+v ", *v.(*sql.NullString))
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return head + "\n" + strings.Join(out, "\n") + fmt.Sprint(rows.Err())
}
