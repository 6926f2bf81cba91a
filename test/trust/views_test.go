package trust

import "testing"

// Views over views read what one server reads, however they call what they read: MySQL stores the schema before the alias of
// a view.
func TestViewsOverViews(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		for _, made := range viewsOverViews {
			s.app.must(t, made[1])
			s.plain.must(t, made[1])
			defer s.app.must(t, "DROP VIEW "+made[0])
			defer s.plain.must(t, "DROP VIEW "+made[0])
		}
		for _, text := range readsOfViews {
			s.try(t, attack{name: text, say: []string{text}}, attack{name: text + ", prepared", say: []string{text}, args: []any{nothing{}}})
			if got := s.app.say(text); got.err != nil && s.plain.say(text).err == nil {
				t.Errorf("%s: %q: %v", s.engine, text, got.err)
			}
		}
	})
}

var viewsOverViews = [][2]string{
	{"q1", "CREATE VIEW q1 AS SELECT o.buyer_uid AS uid, o.amount, o.status FROM test_order o"},
	{"q2", "CREATE VIEW q2 AS SELECT a.uid FROM q1 a"},
	{"q3", "CREATE VIEW q3 (x, y) AS SELECT b.uid, b.uid + 1 FROM q2 b"},
	{"q4", "CREATE VIEW q4 AS SELECT q3.x AS z, p.name FROM q3 JOIN product p ON p.product_id = q3.x"},
	{"q5", "CREATE VIEW q5 AS SELECT a.uid AS u1, b.uid AS u2 FROM q1 a JOIN q2 b ON a.uid = b.uid WHERE a.uid < 4"},
	{"q6", "CREATE VIEW q6 AS SELECT d.uid FROM (SELECT c.uid FROM q2 c) d"},
	{"q7", "CREATE VIEW q7 AS SELECT a.uid FROM q2 a UNION ALL SELECT p.product_id FROM product p"},
	{"q8", "CREATE VIEW q8 AS SELECT a.uid FROM q2 a WHERE a.uid IN (SELECT c.uid FROM q2 c WHERE c.uid < 3)"},
	{"q9", "CREATE VIEW q9 AS SELECT COUNT(*) AS n, e.uid FROM q2 e GROUP BY e.uid HAVING e.uid > 1"},
	{"q10", "CREATE VIEW q10 AS SELECT `a`.* FROM q2 a LEFT JOIN q1 b ON a.uid = b.uid"},
	{"g1", "CREATE VIEW g1 AS SELECT g.product_id AS p, g.name FROM product g"},
	{"g2", "CREATE VIEW g2 AS SELECT a.p, b.name FROM g1 a JOIN g1 b ON a.p = b.p"},
	{"g3", "CREATE VIEW g3 (k, v) AS SELECT q.p, q.name FROM g2 q WHERE q.p < 4"},
	{"s1", "CREATE VIEW s1 AS SELECT k.id, k.note FROM plain k"},
	{"s2", "CREATE VIEW s2 (i, n) AS SELECT a.id, a.note FROM s1 a"},
	{"s3", "CREATE VIEW s3 AS SELECT b.i FROM s2 b JOIN s1 c ON c.id = b.i"},
}

var readsOfViews = []string{
	"SELECT COUNT(*), SUM(uid) FROM q2", "SELECT * FROM q2 WHERE uid = 3", "SELECT x, y FROM q3 ORDER BY x LIMIT 2", "SELECT q3.x FROM q3 ORDER BY q3.x LIMIT 2",
	"SELECT * FROM q4 t ORDER BY z", "SELECT COUNT(*), MAX(u2) FROM q5", "SELECT COUNT(*) FROM q6 WHERE uid < 9", "SELECT uid, COUNT(*) FROM q7 GROUP BY uid",
	"SELECT * FROM q8", "SELECT * FROM q9 WHERE uid < 4", "SELECT q.n FROM q9 q JOIN q2 r ON q.uid = r.uid WHERE r.uid = 3", "SELECT COUNT(*) FROM q10",
	"SELECT * FROM g2", "SELECT g.v FROM g3 g ORDER BY g.k", "SELECT v, uid FROM g3 JOIN q2 ON uid = k", "SELECT * FROM s2 ORDER BY i", "SELECT * FROM s3", "SELECT z.n, y.uid FROM s2 z JOIN q2 y ON y.uid = z.i",
	"SELECT uid FROM q2 x WHERE EXISTS (SELECT 1 FROM q3 y WHERE y.x = x.uid AND y.y < 5)", "WITH w AS (SELECT a.uid FROM q2 a) SELECT COUNT(*) FROM w", "SELECT (SELECT MAX(a.uid) FROM q2 a) m, COUNT(*) FROM q1",
}
