package sysvars

import (
	"testing"

	"locus/proxy/flavor"
)

func TestCountsOfRows(t *testing.T) {
	const before = 99 // FOUND_ROWS()
	rows := Answer{Columns: true, Rows: 3}
	for _, test := range []struct {
		text   string
		is     flavor.Flavor
		answer Answer
		count  int64
		found  uint64
		ask    bool
	}{
		{"SELECT a FROM t", flavor.MySQL, rows, -1, 3, false},
		{"SELECT a FROM t LIMIT 3 OFFSET 5", flavor.MySQL, Answer{Columns: true, Rows: 3, Offset: 5}, -1, 8, false},
		{"SELECT a FROM t LIMIT 3 OFFSET 5", flavor.MySQL, Answer{Columns: true, Offset: 5}, -1, before, true},
		{"SELECT a FROM t UNION SELECT b FROM t LIMIT 3", flavor.MySQL, rows, -1, 3, false},
		{"SELECT a FROM t UNION SELECT b FROM t LIMIT 3", flavor.MariaDB, rows, -1, before, true},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM t LIMIT 1", flavor.MySQL, rows, -1, before, false},
		{"SELECT a FROM t INTO @a", flavor.MySQL, Answer{OK: true, Affected: 1}, 1, 1, false},
		{"EXPLAIN SELECT a FROM t", flavor.MySQL, rows, -1, before, false},
		{"SHOW CREATE TABLE t", flavor.MySQL, rows, -1, before, false},
		{"CALL p()", flavor.MySQL, Answer{Columns: true, Rows: 3, OK: true}, 0, before, false},
		{"UPDATE t SET a = 1", flavor.MySQL, Answer{OK: true, Affected: 7}, 7, before, false},
		{"INSERT INTO t VALUES (1)", flavor.MySQL, Answer{OK: true, Affected: 1}, 1, before, false},
		{"INSERT INTO t SELECT a FROM t", flavor.MySQL, Answer{OK: true, Affected: 2}, 2, before, true},
		{"CREATE TABLE u AS SELECT a FROM t", flavor.MySQL, Answer{OK: true, Affected: 2}, 2, before, false},
		{"CREATE TABLE u AS SELECT a FROM t", flavor.MariaDB, Answer{OK: true, Affected: 2}, 2, before, true},
		{"SELECT a FROM t", flavor.MySQL, Answer{Failed: true, Begun: true}, -1, before, false},
		{"SELECT a FROM t", flavor.MariaDB, Answer{Failed: true, Begun: true}, -1, before, true},
		{"SELECT a FROM nowhere", flavor.MariaDB, Answer{Failed: true}, -1, before, false},
		{"UPDATE t SET a = 1", flavor.MariaDB, Answer{Failed: true, Begun: true}, -1, before, false},
	} {
		s := newState(&fakeShard{is: test.is})
		s.FoundRows = before
		st, _ := parse(t, test.text)
		if ask := s.Count(st, test.answer); ask != test.ask || s.RowCount != test.count || s.FoundRows != test.found {
			t.Errorf("%v, %s: %d, %d found, asked %v; want %d, %d, %v", test.is, test.text, s.RowCount, s.FoundRows, ask, test.count, test.found, test.ask)
		}
	}
}
