package differential

import (
	"context"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
)

// Joins in the manner of TPC-H: accounts are its customers, visits and lines its
// orders and items, products and settings its parts and nations. Each is answered
// over three shards as by one server.
var businessQuestions = []string{
	// Pricing summary.
	`SELECT l.qty, SUM(l.price) AS base, SUM(l.price * (1 - 0.05)) AS discounted, AVG(l.price) AS average, COUNT(*) AS n
	 FROM line l WHERE l.price < 1000 GROUP BY l.qty ORDER BY l.qty`,
	// The best of each group.
	`SELECT a.owner, a.id, a.amount FROM account a
	 WHERE a.amount = (SELECT MAX(b.amount) FROM account b WHERE b.owner = a.owner) ORDER BY a.amount DESC, a.id`,
	// Shipping priority.
	`SELECT l.id, SUM(l.price * l.qty) AS revenue, a.day FROM account a JOIN line l ON l.id = a.id
	 WHERE a.day IS NOT NULL GROUP BY l.id, a.day ORDER BY revenue DESC, l.id LIMIT 10`,
	// Those with at least one.
	`SELECT a.kind, COUNT(*) AS n FROM account a WHERE EXISTS (SELECT 1 FROM line l WHERE l.id = a.id AND l.qty > 0) GROUP BY a.kind ORDER BY n, a.kind`,
	// Local supplier volume: over five tables.
	`SELECT p.product_id, SUM(l.price * (1 - 0.1)) AS revenue FROM account a JOIN line l ON l.id = a.id JOIN product p ON p.product_id = l.product
	 JOIN visit v ON v.owner = a.owner LEFT JOIN setting s ON s.name = p.name GROUP BY p.product_id ORDER BY revenue DESC, p.product_id`,
	// Volume by year, from a derived table.
	`SELECT y, SUM(volume) AS revenue FROM (SELECT EXTRACT(YEAR FROM a.day) AS y, l.price * l.qty AS volume
	 FROM account a JOIN line l ON l.id = a.id) shipping GROUP BY y ORDER BY y`,
	// Market share.
	`SELECT p.product_id, SUM(CASE WHEN a.small > 10 THEN l.price ELSE 0 END) / SUM(l.price) AS share
	 FROM line l JOIN product p ON p.product_id = l.product LEFT JOIN account a ON a.id = l.id GROUP BY p.product_id ORDER BY p.product_id`,
	// Customers by the number of their orders.
	`SELECT c, COUNT(*) AS customers FROM (SELECT m.id, COUNT(a.id) AS c FROM member m LEFT JOIN account a ON a.small = m.small GROUP BY m.id) d GROUP BY c ORDER BY customers DESC, c DESC`,
	// The top supplier.
	`SELECT product, total FROM (SELECT product, SUM(price) AS total FROM line GROUP BY product) r
	 WHERE total = (SELECT MAX(total) FROM (SELECT SUM(price) AS total FROM line GROUP BY product) q) ORDER BY product`,
	// Products that nobody ordered.
	`SELECT p.product_id, p.name FROM product p WHERE p.product_id NOT IN (SELECT product FROM line WHERE product IS NOT NULL) ORDER BY 1`,
	// Large orders.
	`SELECT a.id, a.owner, SUM(l.qty) AS q FROM account a JOIN line l ON l.id = a.id WHERE l.id IN (SELECT id FROM line GROUP BY id HAVING SUM(qty) > 2)
	 GROUP BY a.id, a.owner ORDER BY q DESC, a.id`,
	// Who waits: the same table three times.
	`SELECT a.owner, COUNT(*) AS n FROM account a WHERE EXISTS (SELECT 1 FROM account b WHERE b.small = a.small AND b.owner <> a.owner)
	 AND NOT EXISTS (SELECT 1 FROM account c WHERE c.tiny = a.tiny AND c.owner <> a.owner AND c.amount > a.amount) GROUP BY a.owner ORDER BY n DESC, a.owner`,
	// Running totals and ranks.
	`SELECT owner, n, amount, SUM(amount) OVER (PARTITION BY owner ORDER BY n) AS running, RANK() OVER (ORDER BY amount DESC, owner, n) AS place FROM visit ORDER BY owner, n`,
	// A chain of common table expressions.
	`WITH sums AS (SELECT id, SUM(price) AS total FROM line GROUP BY id), big AS (SELECT id FROM sums WHERE total > 10)
	 SELECT a.owner, COUNT(*) AS n FROM big JOIN account a ON a.id = big.id GROUP BY a.owner ORDER BY n DESC, a.owner`,
	// Queries WITH ROLLUP.
	`SELECT kind, tags, COUNT(*) AS n FROM account GROUP BY kind, tags WITH ROLLUP`,
	// Set operations.
	`SELECT owner FROM account EXCEPT SELECT owner FROM visit ORDER BY owner`,
	`SELECT small FROM account INTERSECT SELECT small FROM visit ORDER BY small`,
}

func TestBusinessQuestions(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		p := newPair(t, engine)
		p.fill(p.generator(2))
		for _, text := range businessQuestions {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			s := &statement{root: all(text)}
			if strings.Contains(text, "ORDER BY") {
				s.order = ordered
			}
			proxy, plain := ask(ctx, p.proxied, s, false), ask(ctx, p.direct, s, true)
			cancel()
			switch difference := differ(s, proxy, plain); {
			case difference != "":
				t.Errorf("%s differ\n  %s\n  proxy: %v\n  plain: %v", difference, text, proxy, plain)
			case plain.err != nil:
				t.Errorf("%s\n  %v", text, plain)
			}
		}
	})
}
