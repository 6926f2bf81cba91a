package session

import (
	"testing"

	"locus/test/shop"
)

// RETURNING on undeclared tables. MySQL refuses it with its own error.
func TestReturning(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"CREATE TABLE made (id INT AUTO_INCREMENT PRIMARY KEY, connection_id INT, found_rows INT)",
			"INSERT INTO made (connection_id) VALUES (1), (2)",
			"INSERT INTO made (connection_id, found_rows) VALUES (3, 1) RETURNING id, connection_id",
			"SELECT LAST_INSERT_ID()",
			"INSERT INTO made (id, found_rows) VALUES (9, 1) RETURNING id AS `connection_id`",
			"SELECT LAST_INSERT_ID()",
			"INSERT INTO made (found_rows) VALUES (5), (6) RETURNING id, (SELECT 7), found_rows",
			"SELECT LAST_INSERT_ID()",
			"DELETE FROM made WHERE id < 3 ORDER BY id RETURNING *",
			"SELECT * FROM made",
		)
	})
}
