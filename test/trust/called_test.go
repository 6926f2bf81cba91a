package trust

import "testing"

// called are queries whose fields have no aliases, with blanks, comments or nothing around them.
var called = []string{
	"SELECT 1+1 ", "SELECT 1+1 FROM zero WHERE w = 1", "SELECT 1+1  , w FROM zero ORDER BY w", "SELECT COUNT( * ) \n FROM zero", "SELECT MAX(w)\t, 'a' /* x */ FROM zero", "SELECT w+1 /* c */ , 2 FROM zero ORDER BY w", "SELECT SUM(w) -- c\n FROM zero", "SELECT COUNT(DISTINCT d) , SUM( w )  FROM zero",
	"SELECT (SELECT MAX(w) FROM zero ) , 1 ", "SELECT (SELECT MAX(w) FROM zero /* a */)\n", "SELECT CONNECTION_ID() > 0 , COUNT(*)  FROM zero", "SELECT CONNECTION_ID() > 0\t", "SELECT 'a' 'b' , COUNT(DISTINCT w)FROM zero", "SELECT ' lead', COUNT(*) FROM zero", "SELECT MAX(w) + CONNECTION_ID() * 0 /* b */ FROM zero", "SELECT/* a */COUNT(DISTINCT d)/* b */FROM zero", "SELECT(SELECT COUNT(DISTINCT w)FROM zero)FROM zero", "SELECT MIN(w),MAX(d+0),COUNT(DISTINCT w)FROM zero WHERE(w>0)", "SELECT COUNT(DISTINCT a.w)FROM zero a JOIN zero b ON(a.d=b.d)", "SELECT(SELECT MAX(w)FROM zero)+1FROM zero",
	"SELECT COUNT(*) n FROM zero GROUP BY d ORDER BY n", "SELECT COUNT(*) n FROM zero GROUP BY d, dt ORDER BY n", "SELECT COUNT(DISTINCT d), COUNT(DISTINCT f) FROM zero", "SELECT SUM(w) n, COUNT(DISTINCT w) FROM zero GROUP BY d ORDER BY n",
	"SELECT IFNULL(ts, NULL) i, w FROM zero ORDER BY i, w", "SELECT IFNULL(ts, NULL), w FROM zero ORDER BY 1, w", "SELECT IFNULL(dt, NULL) i, w FROM zero ORDER BY i DESC, w", "SELECT MAX(w), IFNULL(ts, NULL) i FROM zero GROUP BY i ORDER BY i", "SELECT COALESCE(ts, NULL) i, w FROM zero ORDER BY i, w", "SELECT IF(w > 0, ts, NULL) i, w FROM zero ORDER BY i, w", "SELECT CASE WHEN w > 0 THEN ts END i, w FROM zero ORDER BY i, w", "SELECT NULLIF(ts, NULL) i, w FROM zero ORDER BY i, w", "SELECT GREATEST(ts, dt) i, w FROM zero ORDER BY i, w", "SELECT DATE(ts) i, w FROM zero ORDER BY i, w", "SELECT TIME(ts) i, w FROM zero ORDER BY i, w", "SELECT (SELECT MAX(ts) FROM zero z WHERE z.w = zero.w) i, w FROM zero ORDER BY i, w",
	"SELECT w FROM zero ORDER BY IFNULL(ts, NULL), w", "SELECT w FROM zero ORDER BY COALESCE(ts, NULL), w", "SELECT w FROM zero ORDER BY ts, w",
}

// executed are texts that are prepared by PREPARE, whose fields are named by placeholders.
var executed = []string{
	"SET @a = 7", "PREPARE p FROM 'SELECT ?, w FROM zero ORDER BY w'", "EXECUTE p USING @a",
	"PREPARE p FROM 'SELECT ? , w+? , (SELECT ? ) FROM zero ORDER BY w'", "EXECUTE p USING @a, @a, @a",
	"PREPARE p FROM 'SELECT COUNT(*)+?, SUM( ? ) FROM zero'", "EXECUTE p USING @a, @a",
	"PREPARE p FROM 'SELECT ? AS n, ? m, w FROM zero WHERE w > ? - 7 ORDER BY w'", "EXECUTE p USING @a, @a, @a",
	"PREPARE p FROM 'SELECT `?` FROM (SELECT ? FROM zero) d'", "EXECUTE p USING @a",
	"PREPARE p FROM 'SELECT ? FROM zero WHERE w = 1 UNION ALL SELECT w FROM zero WHERE w = 2'", "EXECUTE p USING @a",
	"PREPARE p FROM 'SELECT ?'", "EXECUTE p USING @a", "PREPARE p FROM 'SELECT ?+1, CONNECTION_ID() >= ? * 0'", "EXECUTE p USING @a, @a",
	"DEALLOCATE PREPARE p",
}

// Fields are called as on one server. Zero and negative zero are in the same groups as there, and zero dates in the same order.
func TestFieldsAreCalledByTheirTexts(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		defer s.clearUp(t, &attack{after: []string{"DROP TABLE zero"}})
		for _, text := range []string{
			"SET sql_mode = ''",
			"CREATE TABLE zero (w INT NOT NULL PRIMARY KEY, d DOUBLE, f FLOAT, ts TIMESTAMP NULL, dt DATETIME NULL) COMMENT 'locus: owner=w'",
			"INSERT INTO zero VALUES (1, 0, 0, '2024-01-01', '2024-01-01'), (2, -0e0, -0e0, 0, 0), (3, 0e0, 0, NULL, NULL), (4, -0e0, -0e0, '2020-01-01', '2020-01-01'), (5, 1, 1, 0, 0), (6, -0e0, 0, NULL, NULL)",
		} {
			s.app.must(t, text)
			s.plain.must(t, text)
		}
		s.exchanged(t, exchange{name: "text", values: true, say: called}, exchange{name: "prepared", ready: true, values: true, say: called}, exchange{name: "executed", values: true, say: executed})
	})
}
