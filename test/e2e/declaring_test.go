package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router/catalog"
	"locus/router/live"
	"locus/test/shop"
)

const cart = "(cart_id BIGINT NOT NULL PRIMARY KEY, buyer_uid BIGINT NOT NULL, small INT, note VARCHAR(20), KEY (buyer_uid)) DEFAULT CHARSET utf8mb4"

// placedOn returns the shards that have a table.
func placedOn(t *testing.T, s *shop.Shop, table string) (shards string) {
	t.Helper()
	for i := range s.Servers {
		if number(t, s.Shard(t, i), "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", table) == 1 {
			shards += string(rune('0' + i))
		}
	}
	return shards
}

func declared(s *shop.Shop, table string) string {
	d, is := s.Declared()[catalog.TableName{Schema: s.Schema, Name: table}]
	if !is {
		return "no"
	}
	return d.Words()
}

// A migration declares in the table's comment how it is sharded, and the table can be used at once.
func TestATableIsDeclaredByItsComment(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "CREATE TABLE IF NOT EXISTS cart "+cart+" COMMENT = 'locus: owner=buyer_uid id=cart_id; baskets'")
		if got := declared(s, "cart"); got != "owner=buyer_uid id=cart_id" {
			t.Errorf("it is declared %q", got)
		}
		exec(t, db, "CREATE TABLE cart_line (cart_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (cart_id, line)) COMMENT 'locus: parent=cart_id'")
		exec(t, db, "CREATE TABLE country (code CHAR(2) NOT NULL PRIMARY KEY) COMMENT 'locus: global'")
		exec(t, db, "INSERT INTO country VALUES ('no')")
		for owner := range 8 {
			r := exec(t, db, "INSERT INTO cart (buyer_uid, note) VALUES (?, 'x')", owner)
			id, err := r.LastInsertId()
			if err != nil || id == 0 {
				t.Fatal(id, err)
			}
			exec(t, db, "INSERT INTO cart_line (cart_id, line) VALUES (?, 1)", id)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM cart JOIN cart_line USING (cart_id)"); got != 8 {
			t.Errorf("%d carts with lines", got)
		}
		for i := range 2 {
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM cart"); got == 0 || got == 8 {
				t.Errorf("s%d has %d carts", i, got)
			}
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM country"); got != 1 {
				t.Errorf("s%d has %d countries", i, got)
			}
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_COMMENT LIKE 'locus: owner=buyer_uid id=cart_id; baskets'"); got != 1 {
				t.Errorf("s%d has %d tables of the comment, which a dump is to carry", i, got)
			}
		}

		// The table exists, and has the declared kind.
		_, err := db.Exec("CREATE TABLE cart " + cart + " COMMENT 'locus: owner=buyer_uid id=cart_id'")
		refused(t, err, 1050, "cart")
		exec(t, db, "CREATE TABLE IF NOT EXISTS cart "+cart+" COMMENT 'locus: owner=buyer_uid id=cart_id; baskets'")
		for _, words := range []string{"global", "owner=small id=cart_id", "owner=buyer_uid id=cart_id version=small"} {
			_, err := db.Exec("ALTER TABLE cart COMMENT 'locus: " + words + "'")
			refused(t, err, 1105, `is declared as "owner=buyer_uid id=cart_id", and the comment says "`+words+`"`)
		}
		exec(t, db, "ALTER TABLE cart COMMENT ''") // which undeclares nothing
		exec(t, db, "DROP TABLE cart")
		_, err = db.Exec("CREATE TABLE cart " + cart + " COMMENT 'locus: global'")
		refused(t, err, 1105, "locus-1010")
		exec(t, db, "CREATE TABLE cart "+cart)
		if got := placedOn(t, s, "cart") + declared(s, "cart"); got != "01owner=buyer_uid id=cart_id" {
			t.Errorf("after DROP and CREATE: %s", got)
		}
	})
}

// late is a source whose documents can be out of date when they arrive.
type late struct{ live.Source }

// Read implements live.Source.
func (l late) Read(ctx context.Context, since int64) (map[string][]byte, int64, error) {
	values, revision, err := l.Source.Read(ctx, since)
	select {
	case <-time.After(5 * time.Millisecond): // the transfer
		return values, revision, err
	case <-ctx.Done():
		return nil, 0, context.Cause(ctx)
	}
}

// rereading makes the proxy read the tables again and again until the test ends, as definitions of other sessions do.
func rereading(t *testing.T, p *proxy.Proxy) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	running.Go(func() {
		for ctx.Err() == nil {
			_ = p.RereadNow(ctx) // fails when the test ends
		}
	})
}

// No statement is planned with a declaration that was withdrawn, whatever the proxy reads during the withdrawal.
func TestADeclarationThatWasTakenBack(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{Options: func(o *proxy.Options) { o.Declared = late{o.Declared} }})
		rereading(t, s.Proxy)
		db := s.DB(t, nil)
		for range 8 {
			_, err := db.Exec("CREATE TABLE cart " + cart + " COMMENT 'locus: owner=buyer_uid id=small'")
			refused(t, err, 1105, "locus-1010")
			if got := placedOn(t, s, "cart") + declared(s, "cart"); got != "no" {
				t.Fatalf("it is %s", got)
			}
		}
	})
}

// Comments declare a parent whose IDs have two lengths, and its children.
func TestCommentsOfTwoLengths(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		exec(t, db, "CREATE TABLE box (box_id VARBINARY(16) NOT NULL PRIMARY KEY, sender BIGINT NOT NULL) COMMENT 'locus: owner=sender id=box_id overflow=bytes16'")
		exec(t, db, "CREATE TABLE piece (piece_id BIGINT NOT NULL PRIMARY KEY, box_id VARBINARY(16) NOT NULL) COMMENT 'locus: parent=box_id parent_overflow=bytes16 id=piece_id'")
		exec(t, db, "CREATE TABLE label (box_id VARBINARY(16) NOT NULL, n INT NOT NULL, PRIMARY KEY (box_id, n)) COMMENT 'locus: parent=box_id overflow=bytes16'")
		long := "X'033eab00000000000000000000000001'" // buyer 42
		exec(t, db, "INSERT INTO box (box_id, sender) VALUES ("+long+", 42), (X'1f55800000000001', 42)")
		exec(t, db, "INSERT INTO piece (box_id) VALUES ("+long+"), (X'1f55800000000001')")
		exec(t, db, "INSERT INTO label (box_id, n) VALUES ("+long+", 1), (X'1f55800000000001', 1)")
		for _, id := range []string{long, "X'1f55800000000001'"} {
			if n := number(t, db, "SELECT COUNT(*) FROM box JOIN piece USING (box_id) JOIN label USING (box_id) WHERE box.box_id = "+id); n != 1 {
				t.Errorf("%s has %d rows", id, n)
			}
		}
	})
}

// An invalid declaration is an error of the CREATE, and no table is made.
func TestACommentThatDeclaresNonsense(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		for comment, want := range map[string]string{
			"locus: owner=nobody id=cart_id":                             "column nobody: declared as owner, but the table has no such column",
			"locus: owner=buyer_uit id=cart_id":                          "did you mean buyer_uid?",
			"locus: ownr=buyer_uid id=cart_id":                           "did you mean owner?",
			"locus: globl":                                               "did you mean global?",
			"locus: owner=buyer_uid owner=small id=c":                    "owner is given twice",
			"locus: owner=buyer_uid parent=cart_id":                      "one of the two",
			"locus: owner=buyer_uid id=small":                            "layout int64 needs BIGINT",
			"locus: owner=buyer_uid id=cart_id layout=no":                "no",
			"locus: owner=buyer_uid id=cart_id version=id":               "no such column",
			"locus: owner=note id=cart_id":                               "collation",
			"locus: shard=s1":                                            "locus table add",
			"LOCUS:":                                                     "the table has no words",
			"locus: owner=buyer_uid id=cart_id order_no=note":            "note",
			"locus: owner=buyer_uid id=cart_id stamped.note=no_such_gen": "no such generator is declared",
		} {
			for _, text := range []string{"CREATE TABLE cart ", "CREATE TABLE IF NOT EXISTS cart "} {
				_, err := db.Exec(text + cart + " COMMENT '" + comment + "'")
				refused(t, err, 1105, "locus-1010")
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", comment, err, want)
				}
				if got := placedOn(t, s, "cart") + declared(s, "cart"); got != "no" {
					t.Fatalf("%s: it is %s", comment, got)
				}
			}
		}
		_, err := db.Exec("CREATE TABLE cart COMMENT 'locus: global' SELECT 1 AS id")
		refused(t, err, 1235, "locus-1003")
		_, err = db.Exec("CREATE TABLE cart (id BIGINT PRIMARY KEY, FOREIGN KEY (id) REFERENCES counted (id)) COMMENT 'locus: global'")
		refused(t, err, 1235, "which is not on every shard")
		exec(t, s.Shard(t, 1), "CREATE TABLE cart "+cart)
		_, err = db.Exec("CREATE TABLE IF NOT EXISTS cart " + cart + " COMMENT 'locus: global'")
		refused(t, err, 1105, "is on s1 already, and not declared")
		exec(t, s.Shard(t, 1), "DROP TABLE cart")
		exec(t, db, "CREATE TEMPORARY TABLE cart "+cart+" COMMENT 'locus: no'") // a session's own
		exec(t, db, "DROP TEMPORARY TABLE cart")
		exec(t, db, "CREATE TABLE cart "+cart+" COMMENT 'locus: owner=buyer_uid id=cart_id'")
		if got := placedOn(t, s, "cart") + declared(s, "cart"); got != "01owner=buyer_uid id=cart_id" {
			t.Errorf("it is %s", got)
		}
	})
}

// If an existing table can't be what its comment declares, the error names all obstacles, whether or not it has rows,
// and nothing is changed.
func TestATableThatCannotBeWhatItsCommentSays(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "CREATE TABLE article (id VARCHAR(24) NOT NULL PRIMARY KEY) DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci")
		exec(t, db, "CREATE TABLE remark (id VARCHAR(24) NOT NULL PRIMARY KEY, article VARCHAR(24) NOT NULL, answers VARCHAR(24), KEY (article), "+
			"CONSTRAINT remark_of FOREIGN KEY (article) REFERENCES article (id), CONSTRAINT remark_to FOREIGN KEY (answers) REFERENCES remark (id)"+
			") DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci")
		look := func() {
			t.Helper()
			_, err := db.Exec("ALTER TABLE remark COMMENT 'locus: owner=article'")
			refused(t, err, 1105, "locus-1010")
			for _, want := range []string{"column article: its collation utf8mb4_general_ci makes different spellings of an owner equal", "; foreign key remark_of refers to table " + s.Schema + ".article, whose rows are on one shard alone"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}
			if err != nil && strings.Contains(err.Error(), "remark_to") {
				t.Errorf("%v, and a table may refer to itself", err)
			}
			if got := placedOn(t, s, "remark") + declared(s, "remark"); got != "0no" {
				t.Errorf("it is %s", got)
			}
			if got := number(t, s.Shard(t, 0), "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_COMMENT LIKE 'locus%'"); got != 0 {
				t.Errorf("%d comments declare something", got)
			}
		}
		look()
		exec(t, db, "INSERT INTO article VALUES ('a')")
		exec(t, db, "INSERT INTO remark VALUES ('r', 'a', 'r')")
		look()

		// Without the obstacles the table is declared.
		exec(t, db, "ALTER TABLE remark DROP FOREIGN KEY remark_of, DROP FOREIGN KEY remark_to")
		exec(t, db, "ALTER TABLE remark MODIFY article VARCHAR(24) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL")
		exec(t, db, "DELETE FROM remark")
		exec(t, db, "ALTER TABLE remark COMMENT 'locus: owner=article'")
		if got := placedOn(t, s, "remark") + declared(s, "remark"); got != "01owner=article" {
			t.Errorf("it is %s", got)
		}
	})
}

// A table that cannot be made on one shard is not declared either.
func TestATableThatIsDeclaredAndCannotBeMade(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, withGoods)
		db := s.DB(t, nil)
		exec(t, s.Shard(t, 1), "CREATE TABLE taken (id BIGINT PRIMARY KEY, CONSTRAINT one_only FOREIGN KEY (id) REFERENCES parts (id))")
		create := "CREATE TABLE cart (id BIGINT PRIMARY KEY, CONSTRAINT one_only FOREIGN KEY (id) REFERENCES parts (id)) COMMENT 'locus: global'"
		if _, err := db.Exec(create); err == nil || !strings.Contains(err.Error(), "it was made on s0 and dropped there again") {
			t.Errorf("error %v", err)
		}
		if got := placedOn(t, s, "cart") + declared(s, "cart"); got != "no" {
			t.Errorf("it is %s", got)
		}
		exec(t, s.Shard(t, 1), "DROP TABLE taken")
		exec(t, db, create)

		exec(t, db, "DROP TABLE cart")
		s.TakeAway(t, "s1")
		wish, tries := "", 0
		until(t, "the shard is away", func() bool {
			tries++ // until the proxy knows it is made
			wish = fmt.Sprintf("wish%d", tries)
			_, err := db.Exec("CREATE TABLE " + wish + " (id BIGINT PRIMARY KEY) COMMENT 'locus: global'")
			return err != nil && strings.Contains(err.Error(), "nothing was done on any shard")
		})
		if got := placedOn(t, s, wish); got != "" {
			t.Errorf("it is on %s", got)
		}
		if got := declared(s, wish); got != "no" {
			t.Errorf("it is declared %s", got)
		}
	})
}

// A table without rows is declared by its comment; one with rows is not.
func TestATableThatIsThereIsDeclared(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		exec(t, db, "CREATE TABLE cart "+cart)
		exec(t, db, "INSERT INTO cart VALUES (1, 2, 3, 'x')")
		_, err := db.Exec("ALTER TABLE cart COMMENT 'locus: owner=buyer_uid id=cart_id'")
		refused(t, err, 1105, "locus import")
		exec(t, db, "DELETE FROM cart")
		_, err = db.Exec("ALTER TABLE cart ADD COLUMN size INT, COMMENT 'locus: owner=buyer_uid id=cart_id'")
		refused(t, err, 1105, "does nothing else")
		_, err = db.Exec("ALTER TABLE cart COMMENT 'locus: owner=nobody id=cart_id'")
		refused(t, err, 1105, "no such column")
		if got := placedOn(t, s, "cart") + declared(s, "cart"); got != "0no" {
			t.Errorf("it is %s", got)
		}

		// A declaration waits for a row that is not committed yet.
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		exec(t, tx, "INSERT INTO cart VALUES (1, 2, 3, 'x')")
		altered := make(chan error, 1)
		go func() {
			_, err := db.Exec("ALTER TABLE cart COMMENT 'locus: owner=buyer_uid id=cart_id'")
			altered <- err
		}()
		waiting(t, s.Shard(t, 0))
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		refused(t, <-altered, 1105, "has rows on shard s0")
		if got := placedOn(t, s, "cart") + declared(s, "cart"); got != "0no" {
			t.Errorf("it is %s", got)
		}
		exec(t, db, "DELETE FROM cart")

		exec(t, db, "ALTER TABLE cart COMMENT 'locus: owner=buyer_uid id=cart_id'")
		if got := placedOn(t, s, "cart") + declared(s, "cart"); got != "01owner=buyer_uid id=cart_id" {
			t.Errorf("it is %s", got)
		}
		for owner := range 8 {
			exec(t, db, "INSERT INTO cart (buyer_uid) VALUES (?)", owner)
		}
		for i := range 2 {
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM cart"); got == 0 || got == 8 {
				t.Errorf("s%d has %d carts", i, got)
			}
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_COMMENT LIKE 'locus:%'"); got != 1 {
				t.Errorf("s%d has %d tables with a comment", i, got)
			}
		}
		_, err = db.Exec("ALTER TABLE nothing COMMENT 'locus: global'")
		refused(t, err, 1146, "nothing")
		exec(t, db, "CREATE VIEW some AS SELECT 1 AS one")
		if _, err = db.Exec("ALTER TABLE some COMMENT 'locus: global'"); err == nil || declared(s, "some") != "no" {
			t.Errorf("a view is declared: %v", err)
		}
	})
}

// A client that makes an undeclared table in a database with sharded ones gets a note.
func TestATableThatDeclaresNothing(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		db.SetMaxOpenConns(1)
		told := func() (message string) {
			var level, code string
			if err := db.QueryRow("SHOW WARNINGS").Scan(&level, &code, &message); err != nil {
				return ""
			}
			return level + " " + message
		}
		exec(t, db, "CREATE TABLE plain (id INT)")
		if got := told(); !strings.Contains(got, "Note locus: table "+s.Schema+".plain is not declared") {
			t.Errorf("told %q", got)
		}
		if got := number(t, db, "SELECT @@warning_count"); got != 1 {
			t.Errorf("%d warnings", got)
		}
		exec(t, db, "CREATE TABLE IF NOT EXISTS plain (id INT)")
		exec(t, db, "DROP TABLE plain")
		exec(t, db, "SET sql_notes = 0")
		exec(t, db, "CREATE TABLE plain (id INT)")
		if got := told(); got != "" {
			t.Errorf("without notes: told %q", got)
		}
	})
}

// A user that may not make tables can't declare any.
func TestWhoMayNotMakeTablesDeclaresNone(t *testing.T) {
	s := shop.Start(t, servers.MariaDB, shop.Options{User: ", ddl: false"})
	db := s.DB(t, nil)
	for _, text := range []string{"CREATE TABLE cart " + cart + " COMMENT 'locus: global'", "ALTER TABLE counted COMMENT 'locus: global'"} {
		_, err := db.Exec(text)
		refused(t, err, 1142, "denied")
	}
	if got := declared(s, "cart") + declared(s, "counted"); got != "nono" {
		t.Errorf("declared: %s", got)
	}
}
