package trust

import "testing"

// INSERT and REPLACE into named partitions of a sharded table insert what one server inserts, or nothing.
func TestInsertIntoPartitions(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		for _, side := range []*session{s.app, s.plain} {
			side.must(t, "CREATE TABLE part (id INT NOT NULL PRIMARY KEY, a INT) COMMENT 'locus: owner=id' PARTITION BY HASH (id) PARTITIONS 4")
			defer side.say("DROP TABLE IF EXISTS part, part2")
		}
		rows := "SELECT * FROM part"
		for _, c := range []struct {
			say     []string
			args    []any // of the last text
			refused string
		}{
			{say: []string{"INSERT INTO part PARTITION (p2) (id, a) VALUES (2, 1), (6, 1), (10, 1), (14, 1), (18, 1)", rows}},
			{say: []string{"INSERT INTO part PARTITION (p2, `p3`) VALUES (22, 1), (3, 1), (7, 1)", rows}},
			{say: []string{"INSERT INTO part PARTITION (p2) (id, a) VALUES (26, 1), (30, 1), (34, 1), (38, 1), (41, 1)", rows}},
			{say: []string{"INSERT IGNORE INTO part PARTITION (p2) (id, a) VALUES (26, 2), (27, 2), (30, 2), (31, 2), (2, 2)", rows}},
			{say: []string{"REPLACE INTO part PARTITION (p2) (id, a) VALUES (2, 3), (6, 3), (50, 3)", rows}},
			{say: []string{"REPLACE part PARTITION (p1) SET id = 2, a = 4", rows, "INSERT INTO part PARTITION (p0) SET a = 4, id = 4", rows}},
			{say: []string{"INSERT INTO part PARTITION (p2) (id, a) VALUES (2, 5), (54, 5) ON DUPLICATE KEY UPDATE a = VALUES(a)", rows}},
			{say: []string{"INSERT INTO part PARTITION (p2) SELECT id + 100, a FROM part WHERE id IN (2, 6)", rows}},
			{say: []string{"INSERT INTO part PARTITION (p1) (id, a) SELECT id + 200, a FROM part WHERE id < 10", rows}},
			{say: []string{"INSERT INTO part PARTITION (nowhere) (id, a) VALUES (60, 1)", rows}},
			{say: []string{"BEGIN", "INSERT INTO part PARTITION (p2) (id, a) VALUES (62, 1)", "INSERT INTO part PARTITION (p2) (id, a) VALUES (63, 1)", rows, "ROLLBACK", rows}},
			{say: []string{"INSERT INTO part PARTITION (p2) (id, a) VALUES (?, ?), (70, 1)"}, args: []any{66, 7}},
			{say: []string{"INSERT INTO part PARTITION (p2) (id, a) VALUES (?, ?), (74, 1)"}, args: []any{65, 7}},
		} {
			if refusal, d := s.attacked(t, &attack{say: c.say, args: c.args}); refusal != c.refused || d != "" {
				t.Errorf("%s: %q: refusal %q, want %q; %s", s.engine, c.say, refusal, c.refused, d)
			}
		}
		renames := []string{"RENAME TABLES part NOWAIT TO part2", "RENAME TABLE IF EXISTS part WAIT 5 TO part2"} // MySQL reads neither
		if s.engine == "mariadb" {
			renames = []string{renames[0], "RENAME TABLE IF EXISTS part2 WAIT 5 TO part", rows}
		}
		if refusal, d := s.attacked(t, &attack{say: renames}); refusal != "" || d != "" {
			t.Errorf("%s: renames: refusal %q; %s", s.engine, refusal, d)
		}
	})
}
