//go:build servers

package lookup

import (
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
)

// A value that the indexed column can't store, and a duplicate of any length, have the error that one server returns.
func TestErrorsOfValues(t *testing.T) {
	const things = `CREATE TABLE things (id BIGINT NOT NULL PRIMARY KEY, code INT NOT NULL, email VARCHAR(600) NOT NULL DEFAULT 'none', UNIQUE KEY by_code (code), UNIQUE KEY by_email (email))
		DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci`
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, proxied := indexed(t, engine)
		must(t, proxied, things+declares,
			"CREATE TABLE things_by_code (code INT NOT NULL, value_hash BIGINT UNSIGNED NOT NULL, row_gene INT UNSIGNED NOT NULL, PRIMARY KEY (value_hash, code)) COMMENT 'locus: lookup=things.code'",
			"CREATE TABLE things_by_email (email VARCHAR(600) NOT NULL, value_hash BIGINT UNSIGNED NOT NULL, row_gene INT UNSIGNED NOT NULL, PRIMARY KEY (value_hash, email)) DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci COMMENT 'locus: lookup=things.email'",
			"CALL locus.fill_lookup('"+s.Schema+".things_by_code')", "CALL locus.fill_lookup('"+s.Schema+".things_by_email')")
		one := plain(t, engine)
		must(t, one, things)
		var texts []string
		for id := range 6 {
			texts = append(texts, fmt.Sprintf("INSERT INTO things VALUES (%d, %d, '%s')", id, id, strings.Repeat(fmt.Sprint(id), 70*id+170)))
			texts = append(texts, fmt.Sprintf("INSERT INTO things VALUES (%d, %d, '%s')", id+50, id+50, strings.Repeat(fmt.Sprint(id), 70*id+170)))
			texts = append(texts, fmt.Sprintf("UPDATE things SET email = '%s' WHERE id = 0", strings.Repeat(fmt.Sprint(id), 70*id+170)))
		}
		texts = append(texts,
			"INSERT INTO things (id, email) VALUES (10, 'x')", "INSERT INTO things VALUES (10, NULL, 'x')", "INSERT INTO things VALUES (10, DEFAULT, 'x')", "INSERT INTO things VALUES (10, 3000000000, 'x')",
			"INSERT INTO things VALUES (10, 'abc', 'x')", "INSERT INTO things VALUES (10, 10, NULL)", "INSERT INTO things VALUES (10, 10, '"+strings.Repeat("l", 601)+"')",
			"INSERT INTO things VALUES (10, 10, 'a'), (11, 3000000000, 'b')", "INSERT INTO things SET id = 10, code = NULL, email = 'x'",
			"REPLACE INTO things VALUES (10, 3000000000, 'x')", "REPLACE INTO things VALUES (10, 10, '"+strings.Repeat("l", 601)+"')",
			"INSERT INTO things VALUES (10, 10, NULL) ON DUPLICATE KEY UPDATE code = 5", "INSERT INTO things VALUES (1, 1, 'x') ON DUPLICATE KEY UPDATE code = 3000000000",
			"UPDATE things SET code = 3000000000 WHERE id = 1", "UPDATE things SET code = 3000000000 WHERE id = 99", "UPDATE things SET email = '"+strings.Repeat("l", 601)+"' WHERE id = 1",
			"INSERT INTO things SELECT id + 20, code + 3000000000, CONCAT('y', id) FROM things WHERE id = 1")
		for _, text := range texts {
			want, got := errorOf(one, text), errorOf(proxied, text)
			if got != want {
				t.Errorf("%.90s…\none server: %s\nlocus:      %s", text, want, got)
			}
		}
		refused(t, proxied, "INSERT INTO things (id, code) VALUES (10, 10)", "must give email")
		refused(t, proxied, "INSERT INTO things VALUES (10, 10, DEFAULT)", "looked up in")
		if want, got := column(t, one, "SELECT id FROM things ORDER BY id"), column(t, proxied, "SELECT id FROM things ORDER BY id"); got != want {
			t.Errorf("rows %s, and on one server %s", got, want)
		}
	})
}

// database matches the name of a test's database in a message.
var database = regexp.MustCompile("`?test_[0-9a-z_]+`?\\.")

func errorOf(db *sql.DB, text string) string {
	_, err := db.Exec(text)
	if e := new(mysql.MySQLError); errors.As(err, &e) {
		return fmt.Sprint(e.Number, " ", string(e.SQLState[:]), " ", database.ReplaceAllString(e.Message, ""))
	}
	return fmt.Sprint(err)
}
