package trust

import (
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/scale"
)

// mostValues is the number of values in one list.
var mostValues = scale.Of(100_000, 500_000)

// listed writes n items.
func listed(n int, sep string, item func(i int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return strings.Join(items, sep)
}

func repeated(n int, sep, item string) string {
	return listed(n, sep, func(int) string { return item })
}

// Large statements have the plain server's answer, or are refused before they cost much.
func TestLargeStatements(t *testing.T) {
	number := func(i int) string { return fmt.Sprint(i) }
	count := "SELECT COUNT(*) FROM test_order WHERE buyer_uid "
	large := []string{"1009"}
	stands(t, func(t *testing.T, s *stand) {
		s.try(t,
			attack{name: "values", say: []string{
				count + "IN (" + listed(40_000, ",", number) + ")", count + "IN (" + listed(mostValues, ",", number) + ")",
			}},
			attack{name: "values of several kinds", say: []string{count + "IN (" + repeated(1_000, ",", "1,'a',-7,1+1") + ")"}},
			attack{name: "conditions", say: []string{count + "= 7 AND " + repeated(2_000, " AND ", "amount < 1000000"), count + "= 1 OR " + repeated(2_000, " OR ", "buyer_uid = 7")}},
			attack{name: "fields", say: []string{"SELECT " + repeated(1_000, ",", "1") + " FROM test_order WHERE buyer_uid = 7"}},
			attack{name: "aggregates", say: []string{"SELECT " + repeated(500, ",", "COUNT(*)") + " FROM test_order"}},
			attack{name: "comments", say: []string{count + strings.Repeat("/* x */ ", 20_000) + "= 7", count + strings.Repeat("-- x\n", 20_000) + "= 7"}},
			attack{name: "semicolons", say: []string{"SELECT COUNT(*) FROM test_order" + strings.Repeat(";", 100_000)}, maybe: []uint16{1065}},
			attack{name: "rows", say: []string{"INSERT INTO test_order (buyer_uid, amount) VALUES " + repeated(500, ",", "(7, 1)")}},
			attack{name: "a long name", say: []string{"SELECT " + strings.Repeat("a", 100_000) + " FROM test_order"}, maybe: []uint16{1054, 1059, 1166}},
			attack{name: "parentheses", refused: large, say: []string{"SELECT " + strings.Repeat("(", 1_200) + "1" + strings.Repeat(")", 1_200) + " FROM test_order"}},
			attack{name: "subqueries", refused: large, say: []string{strings.Repeat("SELECT (", 1_200) + "1" + strings.Repeat(")", 1_200)}},
			attack{name: "joins", refused: large, say: []string{"SELECT COUNT(*) FROM " + listed(200, ",", func(i int) string { return fmt.Sprintf("test_order o%d", i) })}},
			attack{name: "arms", refused: large, say: []string{repeated(1_500, " UNION ALL ", "SELECT 1 FROM test_order")}},
			attack{name: "expressions", refused: large, say: []string{"SELECT " + strings.Repeat("1+", 200_000) + "1 FROM test_order"}},
			attack{name: "strings in a row", refused: large, say: []string{"SELECT COUNT(*) FROM test_order WHERE status = " + repeated(60_000, " ", "'a'")}},
			attack{name: "variables", refused: large, say: []string{"SET " + listed(5_000, ",", func(i int) string { return fmt.Sprintf("@a%d = 1", i) })}},
		)
	})
}
