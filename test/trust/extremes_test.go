package trust

import "testing"

// extremes are values at the limits of aggregates. The rows are on several shards.
var extremes = []string{
	"CREATE TABLE far (w INT NOT NULL PRIMARY KEY, d DOUBLE, f FLOAT, m DECIMAL(65,0), n DECIMAL(65,30), b BIGINT, u BIGINT UNSIGNED, s VARCHAR(20)) COMMENT 'locus: owner=w'",
	"INSERT INTO far VALUES (1, 1.7e308, 3e38, REPEAT('9', 65), 1e-30, 9223372036854775807, 18446744073709551615, 'a')",
	"INSERT INTO far VALUES (2, 1.7e308, 3e38, REPEAT('9', 65), -1e-30, 9223372036854775807, 18446744073709551615, '5x')",
	"INSERT INTO far VALUES (3, 1.7e308, 3e38, REPEAT('9', 65), 99999999999999999999999999999999999.999999999999999999999999999999, -9223372036854775808, 0, '')",
	"INSERT INTO far VALUES (4, 1.7e308, -3e38, -1, 0, -9223372036854775808, 1, NULL)",
	"INSERT INTO far VALUES (5, 1.7e308, -3e38, 5, NULL, NULL, NULL, '7')", "INSERT INTO far VALUES (6, -0e0, -0e0, NULL, 3, 0, 3, '1e400')",
	"INSERT INTO far VALUES (7, 0e0, 0e0, 0, 0.1, 1, 4, 'ä')", "INSERT INTO far VALUES (8, NULL, NULL, 0, 0.1, 1, 4, '-0')", "INSERT INTO far VALUES (9, 1.7e308, 1, 0, 0.1, 1, 4, '0')",
}

// summedUp are aggregates of them: some overflow on one shard, and some only over all shards.
var summedUp = []string{
	"SELECT SUM(d) FROM far", "SELECT SUM(d), COUNT(*) FROM far WHERE w IN (1, 6)", "SELECT SUM(d) FROM far WHERE w > 5", "SELECT AVG(d) FROM far", "SELECT AVG(d) FROM far WHERE w < 3",
	"SELECT SUM(d * 2) FROM far", "SELECT SUM(-d) FROM far", "SELECT SUM(DISTINCT d) FROM far", "SELECT VARIANCE(d) FROM far", "SELECT STD(d), STDDEV_SAMP(w) FROM far WHERE w > 5", "SELECT VAR_SAMP(w) FROM far",
	"SELECT w % 2 g, SUM(d) FROM far GROUP BY g ORDER BY g", "SELECT w % 2 g, SUM(d), MAX(w) FROM far WHERE d < 1e308 GROUP BY g ORDER BY g", "SELECT SUM(d) s, MIN(s) FROM far", "SELECT SUM(d) + 1, COUNT(DISTINCT d) FROM far", "SELECT SUM(d), MAX(s) FROM far WHERE w <> 3",
	"SELECT SUM(DISTINCT d), SUM(d) FROM far", "SELECT SUM(a.d) FROM far a JOIN far b ON a.w <= b.w", "SELECT SUM(EXP(w * 100)) FROM far", "SELECT MAX(d), MIN(d) FROM far", "SELECT MIN(d), MAX(d) FROM far WHERE w IN (6, 7)",
	"SELECT SUM(f), AVG(f), MAX(f), MIN(f) FROM far", "SELECT SUM(m) FROM far", "SELECT SUM(m), AVG(m), MIN(m) FROM far", "SELECT AVG(m) FROM far WHERE w < 4", "SELECT SUM(n), AVG(n), MAX(n) FROM far", "SELECT AVG(n) FROM far WHERE w > 5",
	"SELECT SUM(b), AVG(b) FROM far", "SELECT SUM(u), AVG(u), MAX(u) FROM far", "SELECT SUM(b * 2) FROM far", "SELECT SUM(b + u) FROM far", "SELECT SUM(u - 5) FROM far", "SELECT SUM(m * 10), COUNT(*) FROM far", "SELECT SUM(n * n) FROM far",
	"SELECT SUM(s) FROM far", "SELECT AVG(s), MAX(s) FROM far", "SELECT SUM(s + 0), MIN(s) FROM far", "SELECT BIT_AND(u), BIT_OR(u), BIT_XOR(u) FROM far", "SELECT BIT_AND(b), BIT_OR(d) FROM far WHERE w > 5", "SELECT BIT_OR(s) FROM far", "SELECT BIT_XOR(b) FROM far WHERE w > 100", "SELECT BIT_AND(m) FROM far",
	"SELECT GROUP_CONCAT(s ORDER BY w) FROM far", "SELECT GROUP_CONCAT(d ORDER BY w) FROM far", "SELECT GROUP_CONCAT(m ORDER BY w SEPARATOR '') FROM far", "SELECT COUNT(DISTINCT d), COUNT(DISTINCT d, s) FROM far", "SELECT COUNT(DISTINCT f) FROM far", "SELECT COUNT(DISTINCT b + 0e0) FROM far",
	"SELECT JSON_ARRAYAGG(d) FROM far WHERE w = 1 OR w = 6", "SELECT JSON_OBJECTAGG(w, b) FROM far WHERE w = 1 OR w = 3", "SELECT SUM(d) FROM far WHERE w > 100", "SELECT AVG(d), VARIANCE(d), SUM(m), COUNT(d) FROM far WHERE w > 100",
	"SELECT SUM(d) OVER () FROM far", "SELECT w, SUM(d) OVER (ORDER BY w) FROM far ORDER BY w", "SELECT (SELECT SUM(d) FROM far)", "SELECT 1 FROM far HAVING SUM(d) > 0", "SELECT SUM(d) FROM far ORDER BY SUM(d)", "SELECT SUM(d) FROM far HAVING COUNT(*) > 1",
	"SELECT SUM(CAST(s AS DOUBLE)) FROM far", "SELECT SUM(CAST(s AS DECIMAL(10, 2))) FROM far", "SELECT SUM(1 / (w - 5)) FROM far", "SELECT SUM(CAST(d AS SIGNED)) FROM far", "SELECT SUM(POW(d, 2)) FROM far",
	"SELECT SUM(d) FROM far GROUP BY w < 5 WITH ROLLUP", "SELECT SUM(u) DIV 0 FROM far",
}

// Aggregates at the ends of their types are as on one server, with the same errors and number of warnings.
func TestAggregatesAtTheirExtremes(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		defer s.clearUp(t, &attack{after: []string{"DROP TABLE far"}})
		for _, text := range extremes {
			s.app.must(t, text)
			s.plain.must(t, text)
		}
		for _, mode := range []string{"", "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_DATE"} {
			before := []string{"SET sql_mode = '" + mode + "'"}
			s.exchanged(t,
				exchange{name: "text, " + mode, before: before, say: summedUp, values: true},
				exchange{name: "prepared, " + mode, before: before, say: summedUp, values: true, ready: true},
			)
		}
	})
}
