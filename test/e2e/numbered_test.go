package e2e

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/proxy"
	"locus/test/shop"
)

// invisible is a column for the gene that no application sees.
const invisible = "gene INT UNSIGNED NOT NULL DEFAULT 0 INVISIBLE, KEY (gene))"

// numberedTables has tables that applications number: one by the owner itself, one by another column, and one whose
// numbers end soon.
var numberedTables = shop.Options{
	Tables: []string{
		"CREATE TABLE {schema}.member (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), " + invisible,
		"CREATE TABLE {schema}.post (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, author BIGINT UNSIGNED NOT NULL, title VARCHAR(20), KEY (author), " + invisible,
		"CREATE TABLE {schema}.kind (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE)",
		"CREATE TABLE {schema}.small (id TINYINT NOT NULL AUTO_INCREMENT PRIMARY KEY, author BIGINT UNSIGNED NOT NULL, KEY (author), " + invisible,
	},
	Declarations: `  {schema}.member: {kind: sharded, owner: id, gene: gene}
  {schema}.post: {kind: sharded, owner: author, gene: gene}
  {schema}.small: {kind: sharded, owner: author, gene: gene}
  {schema}.kind: {kind: global}
`,
}

// everywhere reads a column of all shards.
func everywhere(t *testing.T, s *shop.Shop, query string) (all []uint64) {
	t.Helper()
	for shard := range s.Servers {
		rows, err := s.Shard(t, shard).Query(query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var n uint64
			if err := rows.Scan(&n); err != nil {
				t.Fatal(err)
			}
			all = append(all, n)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Two proxies number rows at the same time, among rows that give their numbers. No number repeats, and each INSERT
// returns the first number of its own rows.
func TestNumbersAreUniqueInTheCluster(t *testing.T) {
	for _, engine := range []servers.Engine{servers.MariaDB, servers.MySQL} {
		t.Run(string(engine), func(t *testing.T) {
			var beside proxy.Options
			o := numberedTables
			o.Options = func(o *proxy.Options) { beside = *o; beside.Name = "beside" }
			s := shop.Start(t, engine, o)
			_, other := shop.Serve(t, beside)
			second := s.DB(t, func(c *mysql.Config) { c.Addr = other })
			const rounds, clients = 40, 4
			heard := make([][]int64, 2*clients)
			var all sync.WaitGroup
			for i := range heard {
				db := []*sql.DB{s.DB(t, nil), second}[i%2]
				all.Go(func() {
					for round := range rounds {
						text := fmt.Sprintf("INSERT INTO post (author, title) VALUES (%d, 'a'), (%d, 'b'), (%d, 'c')", i, i+100, round)
						if round%10 == 9 { // far from the numbers of other clients
							text = fmt.Sprintf("INSERT INTO post (id, author) VALUES (%d, %d)", 10_000_000*(round+1)+100_000*i, i)
						}
						r, err := db.Exec(text)
						if err != nil {
							t.Errorf("%s: %v", text, err)
							return
						}
						id, _ := r.LastInsertId()
						heard[i] = append(heard[i], id)
					}
				})
			}
			all.Wait()
			seen := map[uint64]bool{}
			for _, id := range everywhere(t, s, "SELECT id FROM post") {
				if seen[id] {
					t.Errorf("number %d is there twice", id)
				}
				seen[id] = true
			}
			if want := 2 * clients * (rounds*9/10*3 + rounds/10); len(seen) != want {
				t.Errorf("%d rows, want %d", len(seen), want)
			}
			for i := range heard {
				for at, id := range heard[i] {
					last := id
					if at%10 != 9 {
						last += 2
					}
					if !seen[uint64(id)] || !seen[uint64(last)] {
						t.Errorf("client %d heard of %d, and there are no such rows", i, id)
					}
				}
			}
		})
	}
}

func TestRowsAreNumbered(t *testing.T) {
	each(t, numberedTables, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		db.SetMaxOpenConns(1)
		for want := int64(1); want <= 8; want++ {
			r := exec(t, db, "INSERT INTO member (name) VALUES (?)", "x")
			if id, _ := r.LastInsertId(); id != want {
				t.Errorf("LastInsertId %d, want %d", id, want)
			}
			if got := number(t, db, "SELECT LAST_INSERT_ID()"); got != want {
				t.Errorf("LAST_INSERT_ID() %d, want %d", got, want)
			}
			if got := number(t, db, "SELECT COUNT(*) FROM member WHERE id = ?", want); got != 1 {
				t.Errorf("%d rows of member %d", got, want)
			}
		}
		exec(t, db, "INSERT INTO member VALUES (NULL, 'y'), (0, 'z'), (20, 'w'), (DEFAULT, 'v')")
		exec(t, db, "INSERT INTO member SET name = 'u'")
		if got := fmt.Sprint(sums(t, db, "SELECT id FROM member WHERE name <> 'x' ORDER BY id")); got != "[9 10 20 21 22]" {
			t.Errorf("members %s", got)
		}
		exec(t, db, "INSERT INTO post (author, title) SELECT id, name FROM member")
		if got := number(t, db, "SELECT COUNT(DISTINCT id) * 1000 + MAX(id) FROM post"); got != 13013 {
			t.Errorf("posts %d", got)
		}
		if genes := everywhere(t, s, "SELECT COUNT(*) FROM member"); genes[0] == 0 || genes[1] == 0 {
			t.Errorf("members are on one shard: %v", genes)
		}

		// A definition that sets the next number applies to the whole cluster.
		exec(t, db, "ALTER TABLE post AUTO_INCREMENT = 500")
		r := exec(t, db, "INSERT INTO post (author) VALUES (1)")
		if id, _ := r.LastInsertId(); id != 500 {
			t.Errorf("number %d behind ALTER TABLE … AUTO_INCREMENT = 500", id)
		}

		// The column's last number is the last.
		exec(t, db, "INSERT INTO small (id, author) VALUES (125, 1)")
		exec(t, db, "INSERT INTO small (author) VALUES (1), (2)")
		_, err := db.Exec("INSERT INTO small (author) VALUES (3)")
		refused(t, err, 1467, "ends at 127")
		_, err = db.Exec("INSERT INTO small (author) VALUES (3)")
		refused(t, err, 1467, "ends at 127")
		if got := number(t, db, "SELECT COUNT(*) FROM small"); got != 3 {
			t.Errorf("%d rows", got)
		}
	})
}

// If a number doesn't fit into the column's type, the statement fails before anything is inserted, and other rows
// lose no number. The largest number that fits is used, and none follows it.
func TestNumbersAboveTheirColumn(t *testing.T) {
	tables := shop.Options{Declarations: "  {schema}.many: {kind: global}\n"}
	last := map[string]string{"TINYINT": "127", "SMALLINT UNSIGNED": "65535", "MEDIUMINT": "8388607", "INT": "2147483647", "INT UNSIGNED": "4294967295", "BIGINT": "9223372036854775807"}
	tables.Tables = append(tables.Tables, "CREATE TABLE {schema}.many (id SMALLINT NOT NULL AUTO_INCREMENT PRIMARY KEY, author INT)")
	names := map[string]string{"many": "32767"}
	for kind, greatest := range last {
		for owner, name := range map[string]string{"author": "of_" + strings.ToLower(strings.ReplaceAll(kind, " ", "_")), "id": "root_" + strings.ToLower(strings.ReplaceAll(kind, " ", "_"))} {
			tables.Tables = append(tables.Tables, "CREATE TABLE {schema}."+name+" (id "+kind+" NOT NULL AUTO_INCREMENT PRIMARY KEY, author INT, KEY (author), "+invisible)
			tables.Declarations += "  {schema}." + name + ": {kind: sharded, owner: " + owner + ", gene: gene}\n"
			names[name] = greatest
		}
	}
	each(t, tables, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		db.SetMaxOpenConns(1)
		for name, greatest := range names {
			above := incremented(greatest)
			for _, mode := range []string{"STRICT_TRANS_TABLES", ""} {
				exec(t, db, "SET sql_mode = '"+mode+"'")
				for _, text := range []string{
					"INSERT INTO %s (id, author) VALUES (%s, 1)", "INSERT INTO %s (id, author) VALUES (NULL, 1), (NULL, 2), (%s, 3)",
					"INSERT INTO %s (id, author) SELECT %s, 1", "INSERT INTO %s SET id = '%s', author = 4",
				} {
					_, err := db.Exec(fmt.Sprintf(text, name, above))
					refused(t, err, 1264, "'id'")
				}
			}
			_, err := db.Exec("INSERT INTO "+name+" (id, author) VALUES (?, 1)", above)
			refused(t, err, 1264, "at row 1")
			if !strings.HasPrefix(name, "of_") { // other shards would not see equal keys
				_, err = db.Exec("INSERT IGNORE INTO " + name + " (id, author) VALUES (NULL, 1), (" + above + ", 2)")
				refused(t, err, 1264, "at row 2")
			}
			if got := number(t, db, "SELECT COUNT(*) FROM "+name); got != 0 {
				t.Errorf("%s has %d rows", name, got)
			}
			r := exec(t, db, "INSERT INTO "+name+" (author) VALUES (1)")
			if id, _ := r.LastInsertId(); id != 1 {
				t.Errorf("%s: the next number is %d", name, id)
			}
			exec(t, db, "INSERT INTO "+name+" (id, author) VALUES (?, 1)", greatest)
			_, err = db.Exec("INSERT INTO " + name + " (author) VALUES (1)")
			refused(t, err, 1467, "ends at "+greatest)
			if got := number(t, db, "SELECT COUNT(*) FROM "+name); got != 2 {
				t.Errorf("%s has %d rows", name, got)
			}
		}
	})
}

// incremented is the number behind one.
func incremented(n string) string {
	i, err := strconv.ParseUint(n, 10, 64)
	if err != nil {
		panic(err)
	}
	return strconv.FormatUint(i+1, 10)
}

func sums(t *testing.T, db *sql.DB, query string) (all []int64) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return all
}

// A proxy starts to number above the rows of the shards, and reports it if it can't read them.
func TestNumbersGoOnAboveWhatIsThere(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		o := numberedTables
		var beside proxy.Options
		o.Options = func(o *proxy.Options) { beside = *o; beside.Name = "beside" }
		s := shop.Start(t, engine, o)
		exec(t, s.Shard(t, 1), "INSERT INTO post (id, author) VALUES (4711, 1)")
		exec(t, s.Shard(t, 1), "DELETE FROM post")
		first := s.DB(t, nil)
		if id, _ := exec(t, first, "INSERT INTO post (author) VALUES (1)").LastInsertId(); id != 4712 {
			t.Errorf("number %d, want 4712", id)
		}
		_, other := shop.Serve(t, beside)
		second := s.DB(t, func(c *mysql.Config) { c.Addr = other })
		if id, _ := exec(t, second, "INSERT INTO post (author) VALUES (1)").LastInsertId(); id != 4713 {
			t.Errorf("number %d, want 4713", id)
		}
		exec(t, second, "INSERT INTO post (id, author) VALUES (9000, 1)")
		if id, _ := exec(t, first, "INSERT INTO post (author) VALUES (1)").LastInsertId(); id != 9001 {
			t.Errorf("number %d, want 9001", id)
		}
		if got := strings.Count(fmt.Sprint(everywhere(t, s, "SELECT id FROM post")), "9001"); got != 1 {
			t.Errorf("9001 is there %d times", got)
		}
	})
}

// The copies of a global table have the same numbers, whichever proxy generates them: for rows of a client, of a
// query and of a file, among rows that give their own.
func TestCopiesHaveTheSameNumbers(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		o := numberedTables
		var beside proxy.Options
		o.Options = func(o *proxy.Options) { beside = *o; beside.Name = "beside" }
		s := shop.Start(t, engine, o)
		_, other := shop.Serve(t, beside)
		proxies := []*sql.DB{s.DB(t, nil), s.DB(t, func(c *mysql.Config) { c.Addr = other })}
		for shard := range s.Servers { // each shard would assign its own numbers, which differ
			exec(t, s.Shard(t, shard), fmt.Sprintf("ALTER TABLE kind AUTO_INCREMENT = %d", 10*(shard+1)))
		}
		var all sync.WaitGroup
		for client := range 4 {
			db := proxies[client%2]
			all.Go(func() {
				for round := range 10 {
					r, err := db.Exec("INSERT INTO kind (name) VALUES (?), (?)", fmt.Sprint(client, " a ", round), fmt.Sprint(client, " b ", round))
					if err != nil {
						t.Error(err)
						return
					}
					first, _ := r.LastInsertId()
					var name string
					if err := db.QueryRow("SELECT name FROM kind WHERE id = ?", first+1).Scan(&name); err != nil || name != fmt.Sprint(client, " b ", round) {
						t.Errorf("row %d is %q, %v", first+1, name, err)
					}
				}
			})
		}
		all.Wait()
		db := proxies[0]
		exec(t, db, "INSERT INTO kind (id, name) VALUES (5000, 'given')")
		if id, _ := exec(t, proxies[1], "INSERT INTO kind (name) VALUES ('behind it')").LastInsertId(); id != 5001 {
			t.Errorf("number %d, want 5001", id)
		}
		exec(t, db, "INSERT INTO kind (name) SELECT CONCAT(name, ' again') FROM kind WHERE name LIKE '1 a %'")
		mysql.RegisterReaderHandler("kinds", func() io.Reader { return strings.NewReader("from a file\nand another\n") })
		defer mysql.DeregisterReaderHandler("kinds")
		exec(t, s.Shard(t, 0), "SET GLOBAL local_infile = 0") // as MySQL has it
		refuses := map[servers.Engine]uint16{servers.MariaDB: 4166, servers.MySQL: 3948}[engine]
		_, err := db.Exec("LOAD DATA LOCAL INFILE 'Reader::kinds' INTO TABLE kind (name)")
		refused(t, err, refuses, "")
		exec(t, s.Shard(t, 0), "SET GLOBAL local_infile = 1")
		exec(t, db, "LOAD DATA LOCAL INFILE 'Reader::kinds' INTO TABLE kind (name)")
		exec(t, db, "ALTER TABLE kind AUTO_INCREMENT = 9000")
		if id, _ := exec(t, db, "INSERT INTO kind (name) VALUES ('behind ALTER')").LastInsertId(); id != 9000 {
			t.Errorf("number %d behind ALTER TABLE … AUTO_INCREMENT = 9000", id)
		}
		const sum = "SELECT CONCAT(COUNT(*), ' rows, ', GROUP_CONCAT(id, name ORDER BY id)) FROM kind"
		want := rows(t, s.Shard(t, 0), sum)
		if !strings.HasPrefix(want[0], "95 rows, 20") {
			t.Errorf("%s", want[0])
		}
		for shard := range s.Servers {
			if got := rows(t, s.Shard(t, shard), sum); got[0] != want[0] {
				t.Errorf("shard %d has %s, shard 0 %s", shard, got[0], want[0])
			}
		}
		if read := number(t, db, "SELECT COUNT(*) FROM kind WHERE name = 'from a file' OR name = 'and another'"); read != 2 {
			t.Errorf("%d rows of a file", read)
		}
	})
}
