package plan

import (
	"slices"
	"testing"

	"locus/router/stmt"
)

// TestRepeated tests which common table expressions MySQL can compute before the statement that reads them more than once.
func TestRepeated(t *testing.T) {
	for text, want := range map[string][]string{
		"WITH x AS (SELECT amount FROM orders) SELECT 1 FROM x a JOIN x b USING (amount)":                                          {"x"},
		"WITH `x` AS (SELECT * FROM orders) SELECT 1 FROM x a JOIN x b USING (amount)":                                             {"`x`"},
		"WITH x AS (SELECT amount + 1 AS c FROM orders) SELECT 1 FROM x a JOIN x b USING (c)":                                      {"x"},
		"WITH x AS (SELECT 'a' AS c, amount FROM orders) SELECT 1 FROM x a JOIN x b USING (c)":                                     nil,
		"WITH x AS (SELECT 'a' AS c, amount FROM orders GROUP BY amount) SELECT 1 FROM x a JOIN x b USING (c)":                     {"x"},
		"WITH x AS (SELECT (SELECT MAX(id) FROM users) AS c FROM orders) SELECT 1 FROM x a JOIN x b USING (c)":                     nil,
		"WITH x AS (SELECT c FROM (SELECT CONCAT(amount) AS c FROM orders) d) SELECT 1 FROM x a JOIN x b USING (c)":                nil,
		"WITH x AS (SELECT amount * RAND() AS c FROM orders) SELECT 1 FROM x a JOIN x b USING (c)":                                 nil,
		"WITH w AS (SELECT CONCAT(amount) AS c FROM orders), x AS (SELECT c FROM w) SELECT 1 FROM x a JOIN x b USING (c)":          nil,
		"WITH w AS (SELECT CONCAT(amount) AS c FROM orders), x AS (SELECT c FROM w LIMIT 1) SELECT 1 FROM x a JOIN x b USING (c)":  {"x"},
		"WITH w AS (SELECT amount AS c FROM orders), x AS (SELECT c FROM w), y AS (SELECT c FROM x) SELECT 1 FROM x, y a, y b":     {"x", "y"},
		"WITH w AS (SELECT amount AS c FROM orders), x AS (SELECT c FROM w) SELECT 1 FROM x a":                                     nil,
		"SELECT 1 FROM (WITH x AS (SELECT amount FROM orders) SELECT a.amount FROM x a JOIN x b USING (amount)) d":                 nil,
		"WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n < 3) SELECT 1 FROM x a, x b, orders o, orders p": {"x"},
		"WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n < 3) SELECT 1 FROM x a, orders o, orders p":      nil,
	} {
		l := new(stmt.Lexed)
		l.Lex([]byte(text), 0)
		s, err := stmt.Parse(l)
		if err != nil {
			t.Fatal(err)
		}
		g, refusal := planGather(l, s, Context{Catalog: shopCatalog(t), Schema: "shop"})
		if refusal != nil {
			t.Errorf("%s: %v", text, refusal)
			continue
		}
		var got []string
		for i := range g.Repeated {
			got = append(got, g.Repeated[i].Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
