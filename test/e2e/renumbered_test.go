package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router/catalog"
	"locus/test/shop"
)

// renumberings are definitions after which a server continues from another number. {t} is the table.
var renumberings = []string{
	"INSERT INTO {t} (guest) VALUES (1)", "INSERT INTO {t} (guest) VALUES (2)",
	// the greatest number, and a definition after it is gone
	"INSERT INTO {t} (n, guest) VALUES (2147483647, 3)", "DELETE FROM {t} WHERE n = 2147483647 AND guest = 3", "ALTER TABLE {t} AUTO_INCREMENT = 1",
	"INSERT INTO {t} (guest) VALUES (4)", "INSERT INTO {t} (guest) VALUES (5), (6), (7)",
	"INSERT INTO {t} (n, guest) VALUES (2147483647, 3)", "TRUNCATE TABLE {t}", "INSERT INTO {t} (guest) VALUES (8)", "INSERT INTO {t} (guest) VALUES (9)",
	"INSERT INTO {t} (n, guest) VALUES (2147483647, 3)", "DROP TABLE {t}", "CREATE TABLE {t} {definition}", "INSERT INTO {t} (guest) VALUES (10)",
	// upwards, downwards, and below what is there
	"ALTER TABLE {t} AUTO_INCREMENT = 500", "INSERT INTO {t} (guest) VALUES (11)", "ALTER TABLE {t} AUTO_INCREMENT = 100", "INSERT INTO {t} (guest) VALUES (12)",
	"DELETE FROM {t} WHERE n = 501 AND guest = 12", "INSERT INTO {t} (guest) VALUES (13)", "DELETE FROM {t} WHERE n = 502 AND guest = 13",
	"ALTER TABLE {t} ADD COLUMN more INT, AUTO_INCREMENT = 7", "INSERT INTO {t} (guest) VALUES (14)",
	// the counter is of two columns' types in turn
	"INSERT INTO {t} (n, guest) VALUES (2147483647, 3)", "ALTER TABLE {t} MODIFY n BIGINT NOT NULL AUTO_INCREMENT", "INSERT INTO {t} (guest) VALUES (15)",
	"TRUNCATE {t}", "INSERT INTO {t} (guest) VALUES (16)", "INSERT INTO {t} (n, guest) VALUES (NULL, 1), (70, 2), (NULL, 3)",
	"TRUNCATE {t}", "TRUNCATE {t}", "INSERT INTO {t} (guest) VALUES (17)",
	"DROP TABLE {t}", "CREATE TABLE {t} {definition} AUTO_INCREMENT = 40", "INSERT INTO {t} (guest) VALUES (18)",
	"CREATE TABLE IF NOT EXISTS {t} {definition}", "INSERT INTO {t} (guest) VALUES (19)",
	"RENAME TABLE {t} TO {t}_moved", "CREATE TABLE {t} {definition}", "INSERT INTO {t}_moved (guest) VALUES (20)",
	"TRUNCATE {t}_moved", "INSERT INTO {t}_moved (guest) VALUES (21)", "DROP TABLE {t}_moved",
}

// Numbers continue where one server continues after ALTER TABLE, TRUNCATE, and DROP and CREATE TABLE, at every proxy.
func TestNumbersAreSetBack(t *testing.T) {
	const definition = "(n INT NOT NULL AUTO_INCREMENT PRIMARY KEY, guest BIGINT NOT NULL, note VARCHAR(40) COMMENT ' AUTO_INCREMENT=2147483647', KEY (guest))"
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		_, dbs := twoProxies(t, engine)
		plain := servers.Shared(t, engine, 3)[2]
		direct := plain.DB(t, servers.Database(t, plain))
		for table, comment := range map[string]string{"spread": " COMMENT 'locus: owner=guest'", "everywhere": " COMMENT 'locus: global'", "owner": " COMMENT 'locus: owner=n'"} {
			t.Run(table, func(t *testing.T) {
				run := func(db *sql.DB, text string) string {
					r, err := db.Exec(text)
					if err != nil {
						return err.Error()
					}
					id, _ := r.LastInsertId()
					return fmt.Sprint(id)
				}
				text := func(text, comment string) string {
					return strings.NewReplacer("{t}", table, "{definition}", definition+comment).Replace(text)
				}
				for i, one := range append([]string{"CREATE TABLE {t} {definition}"}, renumberings...) {
					want := run(direct, text(one, ""))
					if got := run(dbs[i/2%2], text(one, comment)); got != want {
						t.Errorf("%s: %s, one server says %s", text(one, comment), got, want)
					}
				}
			})
		}
	})
}

// While tables are numbered again, no number repeats.
func TestNumbersAreSetBackUnderWriters(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		_, dbs := twoProxies(t, engine)
		exec(t, dbs[0], "CREATE TABLE visit (n BIGINT NOT NULL AUTO_INCREMENT, guest BIGINT NOT NULL, KEY (n), KEY (guest)) COMMENT 'locus: owner=guest'")
		var running sync.WaitGroup
		stop := make(chan struct{})
		for w := range 8 {
			running.Go(func() {
				for i := 0; paced(stop); i++ {
					text := "INSERT INTO visit (guest) VALUES (?)"
					switch i % 9 {
					case 3:
						text = "INSERT INTO visit (guest) VALUES (?), (1), (2), (3)"
					case 6:
						text = "INSERT INTO visit (n, guest) VALUES (NULL, ?), (3, 3), (NULL, 4)"
					}
					if _, err := dbs[w%2].Exec(text, w); err != nil {
						t.Errorf("%s: %v", text, err)
						return
					}
				}
			})
		}
		unique := func() {
			rows, err := dbs[0].Query("SELECT n, COUNT(*) FROM visit WHERE n <> 3 GROUP BY n HAVING COUNT(*) > 1")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var n, count int
				if err := rows.Scan(&n, &count); err != nil {
					t.Fatal(err)
				}
				t.Errorf("%d rows have the number %d", count, n)
			}
		}
		for i := range 10 {
			exec(t, dbs[i%2], "INSERT INTO visit (n, guest) VALUES (?, 3)", 1_000_000*(i+1))
			exec(t, dbs[i/2%2], "DELETE FROM visit WHERE n >= 1000000 AND guest = 3")
			exec(t, dbs[i%2], []string{"ALTER TABLE visit AUTO_INCREMENT = 1", "TRUNCATE visit"}[i%2])
			unique()
		}
		close(stop)
		running.Wait()
		unique()
	})
}

// If a proxy can't be asked, numbers continue from where they were, and the client gets the reason.
func TestNumbersAreNotSetBackUnasked(t *testing.T) {
	asked := errors.New("no answer from proxy-7")
	s := shop.Start(t, servers.MariaDB, shop.Options{Options: func(o *proxy.Options) {
		o.Renumbered = func(context.Context, catalog.Change) error { return asked }
	}})
	db := s.DB(t, func(c *mysql.Config) {})
	db.SetMaxOpenConns(1)
	exec(t, db, "CREATE TABLE visit (n INT NOT NULL AUTO_INCREMENT PRIMARY KEY, guest BIGINT NOT NULL, KEY (guest)) COMMENT 'locus: owner=guest'")
	exec(t, db, "INSERT INTO visit (n, guest) VALUES (2147483647, 3)")
	exec(t, db, "TRUNCATE visit")
	var level, message string
	var code int
	if err := db.QueryRow("SHOW WARNINGS").Scan(&level, &code, &message); err != nil || !strings.Contains(message, asked.Error()) || !strings.Contains(message, "continue from where they were") {
		t.Errorf("the warning is %q, %v", message, err)
	}
	_, err := db.Exec("INSERT INTO visit (guest) VALUES (1)")
	if e, is := errors.AsType[*mysql.MySQLError](err); !is || e.Number != 1467 {
		t.Errorf("the next number: %v", err)
	}
	asked = nil
	exec(t, db, "ALTER TABLE visit AUTO_INCREMENT = 1")
	if r, err := db.Exec("INSERT INTO visit (guest) VALUES (1)"); err != nil {
		t.Error(err)
	} else if id, _ := r.LastInsertId(); id != 1 {
		t.Errorf("the number is %d", id)
	}
}
