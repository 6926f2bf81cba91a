package e2e

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/test/shop"
)

var largeTable = shop.Options{
	Tables: []string{
		"CREATE TABLE {schema}.large (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, u INT NOT NULL, KEY (u), gene INT UNSIGNED NOT NULL DEFAULT 0 INVISIBLE, KEY (gene))",
	},
	Declarations: `  {schema}.large: {kind: sharded, owner: u, gene: gene}
`,
}

// After the greatest number that the column can hold, no number is generated again.
func TestTheGreatestNumberIsTheLast(t *testing.T) {
	for _, engine := range []servers.Engine{servers.MariaDB, servers.MySQL} {
		t.Run(string(engine), func(t *testing.T) {
			s := shop.Start(t, engine, largeTable)
			plain := servers.Shared(t, engine, 3)[2]
			schema := servers.Database(t, plain)
			direct := plain.DB(t, schema)
			exec(t, direct, "CREATE TABLE large (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, u INT NOT NULL)")
			for _, text := range []string{
				"INSERT INTO large (u) VALUES (1)", "INSERT INTO large (id, u) VALUES (18446744073709551612, 1)", "INSERT INTO large (u) VALUES (1)",
				"INSERT INTO large (id, u) VALUES (18446744073709551615, 2)", "INSERT INTO large (u) VALUES (1)", "INSERT INTO large (u) VALUES (3)", "INSERT INTO large (u) VALUES (3), (4)",
			} {
				outcome := func(db *sql.DB) string {
					_, err := db.Exec(text)
					if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
						return fmt.Sprint(e.Number)
					}
					return fmt.Sprint(err)
				}
				if got, want := outcome(s.DB(t, nil)), outcome(direct); got != want {
					t.Errorf("%s: %s, want %s", text, got, want)
				}
			}
		})
	}
}
