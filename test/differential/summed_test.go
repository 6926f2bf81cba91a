package differential

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
)

// summed are statements that shards sum up by themselves where they can: with {g} for
// each column of kinds.
var summed = []string{
	"SELECT {g}, COUNT(*) FROM kinds GROUP BY {g}",
	"SELECT DISTINCT {g} FROM kinds",
	"SELECT COUNT(DISTINCT {g}), COUNT({g}), COUNT(*), MIN(n) + 1 FROM kinds",
	"SELECT MIN({g}), MAX({g}), COUNT(DISTINCT n) FROM kinds",
	"SELECT n % 3 IS NULL, ROUND(SUM({g}), 3), ROUND(AVG({g}), 3), BIT_OR({g}), BIT_AND({g}), BIT_XOR({g}) FROM kinds GROUP BY 1",
	"SELECT ga, SUM({g}), AVG({g}) * 3, MAX(1 + {g}), MIN({g}), COUNT({g}) FROM kinds GROUP BY ga",
	"SELECT n AS x, {g} y FROM kinds WHERE {g} IS NOT NULL GROUP BY x, y HAVING COUNT({g}) > 0 ORDER BY 1, 2",
}

// summedOnce are further queries.
var summedOnce = []string{
	"SELECT 1 + SUM(n), -COUNT(*), AVG(n) / 2 FROM kinds",
	"SELECT 1 + SUM(n), COUNT(*) + 0, MIN(n) + 0, BIT_AND(n), AVG(n), COUNT(DISTINCT vc) FROM kinds WHERE n < 0",
	"SELECT vc, COUNT(*) FROM kinds WHERE n < 0 GROUP BY vc",
	"SELECT 'x', COUNT(*) FROM kinds GROUP BY 'x'",
	"SELECT SUM(n) FROM kinds WHERE n < 0 GROUP BY NULL",
	"SELECT Vc, i8, SUM(DISTINCT n), GROUP_CONCAT(n ORDER BY n) FROM kinds GROUP BY VC, kinds.i8",
	"SELECT `i8` `VC`, COUNT(*) `d``d`, sum( n ) FROM kinds GROUP BY `i8` ORDER BY SUM(n) DESC, COUNT(*), 1 LIMIT 3",
	"SELECT i8, /* a comment */ COUNT( * ) -- another\n, SUM(n)/COUNT(*) FROM kinds -- a third\n WHERE n > 1 -- a fourth\n GROUP BY i8 # a fifth",
	"SELECT i8 i24, COUNT(*) FROM kinds GROUP BY i24",
	"SELECT i8 i24, COUNT(*) n FROM kinds GROUP BY i8 ORDER BY i24, n",
	"SELECT i8 i24, COUNT(*) n FROM kinds GROUP BY i8 ORDER BY -i24, -n",
	"SELECT i8, COUNT(*) n FROM kinds GROUP BY i8 HAVING n > 2 ORDER BY 1",
	"SELECT i8, COUNT(*) c FROM kinds GROUP BY i8 HAVING c > 2 AND i8 > 0",
	"SELECT i8, i24, COUNT(*) FROM kinds GROUP BY i8, i24 WITH ROLLUP",
	"SELECT DISTINCT i8, i24 FROM kinds ORDER BY i24, i8 LIMIT 2",
	"SELECT DISTINCT LENGTH(vc) FROM kinds",
	"SELECT DISTINCT i8, COUNT(*) FROM kinds GROUP BY i8, i24",
	"SELECT COUNT(DISTINCT i8, vc), COUNT(DISTINCT LENGTH(vc)), SUM(n * 2), MAX(CONCAT(vc, 'x')) FROM kinds",
	"SELECT MAX(CONCAT(n, 'x')), MIN(dt + INTERVAL 1 DAY), MAX(d6 + INTERVAL 1 SECOND), MIN(n > 3), SUM(n > 3), SUM(vc), COUNT(NULL), SUM(NULL), MIN(NULL), 1 FROM kinds GROUP BY en",
	"SELECT YEAR(dt), COUNT(*) FROM kinds GROUP BY YEAR(dt)",
	"SELECT YEAR(dt) y, COUNT(*) FROM kinds GROUP BY y",
	"SELECT CASE WHEN i8 > 0 THEN 'more' ELSE 'less' END AS how, i8, COUNT(*) FROM kinds GROUP BY i8",
	"SELECT ROUND(STDDEV(n), 9), COUNT(*) FROM kinds GROUP BY i8",
	"SELECT v.small, k.i8, COUNT(*), SUM(v.amount), SUM(k.de), AVG(v.amount), COUNT(v.n) FROM kinds k LEFT JOIN visit v ON v.owner = k.owner GROUP BY v.name, v.small, k.i8",
	"SELECT p.price, COUNT(v.n), MIN(p.product_id) FROM visit v LEFT JOIN product p ON p.product_id = v.small GROUP BY p.price",
	"SELECT COUNT(*), MIN(p.price) FROM visit v JOIN product p USING (name) GROUP BY p.name",
	"SELECT COUNT(*), MIN(p.price) FROM visit v JOIN product p ON p.name = v.name GROUP BY p.name, v.name",
	"SELECT a.small, b.small, COUNT(*) FROM account a JOIN visit b ON a.owner = b.owner AND a.small <= b.small WHERE a.tiny > 1 GROUP BY a.small, b.small",
	"SELECT visit.small AS small, SUM(amount), AVG(amount), ROUND(AVG(amount), 1) FROM visit GROUP BY visit.small",
	"SELECT small, SUM(amount + 0.5), MIN(amount * 2), MAX(-small) FROM visit WHERE name <> 'x' OR name IS NULL GROUP BY small HAVING SUM(amount) > 1.5 ORDER BY SUM(amount) DESC, small LIMIT 5 OFFSET 1",
	"SELECT ratio, COUNT(*) FROM account GROUP BY ratio",
	"SELECT day, COUNT(*), MAX(at), MIN(span), MAX(yr) FROM account GROUP BY day",
}

func TestSummedUp(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		p := newPair(t, engine)
		p.fill(p.generator(1))
		p.fillKinds()
		for _, conn := range p.sessions() {
			p.exec(conn, "SET SESSION group_concat_max_len = 4096")
		}
		texts := slices.Clone(summedOnce)
		for _, text := range summed {
			for _, c := range strings.Split(kinds, ", ") {
				texts = append(texts, strings.ReplaceAll(text, "{g}", c))
			}
		}
		for _, set := range []string{"", "SET sql_mode = 'PIPES_AS_CONCAT,ANSI_QUOTES'", "BEGIN"} {
			for _, conn := range p.sessions() {
				if set != "" {
					p.exec(conn, set)
				}
				if set == "BEGIN" {
					p.exec(conn, "UPDATE visit SET small = 7 WHERE owner = 42")
				}
			}
			for _, text := range texts {
				p.sameAnswer(set, text, false)
				if set == "" {
					p.sameAnswer(set, text, true)
				}
			}
		}
	})
}

// fillKinds inserts the same rows of every owner on both sides into the table with all types.
func (p *pair) fillKinds() {
	for _, conn := range p.sessions() {
		p.exec(conn, "SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'")
		for n := range 40 {
			columns := strings.TrimSuffix(kinds, ", ga, gv")
			p.exec(conn, fmt.Sprintf("INSERT INTO kinds (owner, %s) VALUES (%d, %d, %s)", columns, owners[n%len(owners)], n, kindRows[n%len(kindRows)]))
		}
		p.exec(conn, "SET sql_mode = DEFAULT, time_zone = DEFAULT")
	}
}
