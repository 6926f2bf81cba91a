package e2e

import (
	"database/sql"
	"fmt"
	"maps"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router/cluster"
	"locus/test/shop"
)

// declare adds users to the shop's users, all with the shop's password.
func declare(s *shop.Shop, users map[string]cluster.User) {
	changed := *s.Cluster
	changed.Users = maps.Clone(s.Cluster.Users)
	for name, u := range users {
		u.Secret = "app"
		changed.Users[name] = u
	}
	s.Apply(&changed)
}

// as opens a pool of a user's connections, once the proxy knows the user.
func as(t *testing.T, s *shop.Shop, user string, configure func(*mysql.Config)) *sql.DB {
	t.Helper()
	db := s.DB(t, func(c *mysql.Config) {
		c.User = user
		if configure != nil {
			configure(c)
		}
	})
	return db
}

func known(t *testing.T, db *sql.DB) *sql.DB {
	t.Helper()
	until(t, "the user may log in", func() bool { return db.Ping() == nil })
	return db
}

func TestRights(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		orders(t, db)
		exec(t, db, "CREATE TABLE secret (a INT)")
		no := false
		declare(s, map[string]cluster.User{
			"reader":   {ReadOnly: true},
			"narrow":   {Tables: []string{s.Schema + ".test_order", s.Schema + ".product"}},
			"database": {Databases: []string{s.Schema}},
			"nothing":  {Databases: []string{"elsewhere"}},
			"dml":      {DDL: &no},
			"owner":    {Scatter: cluster.GuardRefuse},
			"warned":   {Scatter: cluster.GuardWarn},
		})
		users := map[string]*sql.DB{}
		for _, name := range []string{"reader", "narrow", "database", "dml", "owner", "warned"} {
			users[name] = known(t, as(t, s, name, nil))
		}
		_, err := as(t, s, "nothing", nil).Exec("SELECT 1")
		refused(t, err, 1044, s.Schema)
		for _, c := range []struct {
			user, query string
			number      uint16 // 0: it may
		}{
			{"reader", "SELECT COUNT(*) FROM test_order", 0},
			{"reader", "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42", 0},
			{"reader", "SHOW TABLES", 0},
			{"reader", "SET @a = 1", 0},
			{"reader", "INSERT INTO test_order (buyer_uid) VALUES (42)", 1142},
			{"reader", "UPDATE test_order SET amount = 1 WHERE buyer_uid = 42", 1142},
			{"reader", "DELETE FROM test_order WHERE buyer_uid = 42", 1142},
			{"reader", "REPLACE INTO setting VALUES ('a', 'b')", 1142},
			{"reader", "UPDATE product SET price = 1", 1142},
			{"reader", "SELECT * FROM test_order WHERE buyer_uid = 42 FOR UPDATE", 1142},
			{"reader", "CREATE TABLE t (a INT)", 1142},
			{"reader", "CREATE DATABASE d", 1044},
			{"reader", "CALL p()", 1370},
			{"reader", "SELECT f(1)", 1370},
			{"narrow", "SELECT COUNT(*) FROM test_order o JOIN product p ON p.product_id = o.amount WHERE o.buyer_uid = 42", 0},
			{"narrow", "WITH secret AS (SELECT 1 AS a) SELECT a FROM secret", 0},
			{"narrow", "INSERT INTO test_order (buyer_uid) VALUES (42)", 0},
			{"narrow", "SELECT * FROM secret", 1142},
			{"narrow", "SELECT * FROM product WHERE product_id IN (SELECT a FROM secret)", 1142},
			{"narrow", "INSERT INTO secret VALUES (1)", 1142},
			{"narrow", "INSERT INTO product SELECT a, 'x', 1 FROM secret", 1142},
			{"narrow", "WITH x AS (SELECT a FROM secret) SELECT a FROM x", 1142},
			{"narrow", "SELECT 1 UNION SELECT a FROM secret", 1142},
			{"narrow", "TABLE secret", 1142},
			{"narrow", "SHOW CREATE TABLE secret", 1142},
			{"narrow", "DESCRIBE secret", 1142},
			{"narrow", "EXPLAIN SELECT * FROM secret", 1142},
			{"narrow", "DROP TABLE secret", 1142},
			{"narrow", "TRUNCATE TABLE secret", 1142},
			{"narrow", "SELECT * FROM mysql.user", 1142},
			{"narrow", "SELECT 1 /*! UNION SELECT a FROM secret */", 1142},
			{"narrow", "HANDLER secret OPEN", 1142},
			{"narrow", "LOCK TABLES secret READ", 1142},
			{"narrow", "PREPARE p FROM 'SELECT * FROM secret'", 1142},
			{"narrow", "SELECT a INTO @a FROM secret", 1142},
			{"narrow", "SHOW COLUMNS FROM secret", 1142},
			{"narrow", "SHOW INDEX FROM secret", 1142},
			{"narrow", "CHECKSUM TABLE secret", 1142},
			{"narrow", "ANALYZE TABLE secret", 1142},
			{"narrow", "DO (SELECT a FROM secret)", 1142},
			{"narrow", "SET @a = (SELECT a FROM secret)", 1142},
			{"narrow", "RENAME TABLE secret TO mine", 1142},
			{"narrow", "CREATE TABLE product2 LIKE secret", 1142},
			{"narrow", "CREATE VIEW v AS SELECT * FROM secret", 1142},
			{"narrow", "LOAD DATA LOCAL INFILE 'x' INTO TABLE secret", 1142},
			{"reader", "LOCK TABLES product WRITE", 1142},
			{"narrow", "SELECT COUNT(*) FROM information_schema.tables", 0},
			{"narrow", "USE mysql", 1044},
			{"narrow", "SHOW TABLES FROM mysql", 1044},
			{"narrow", "CREATE DATABASE d", 1044},
			{"database", "SELECT * FROM secret", 0},
			{"database", "CREATE TABLE mine (a INT)", 0},
			{"database", "SELECT * FROM mysql.user", 1142},
			{"database", "CREATE DATABASE d", 1044},
			{"dml", "DELETE FROM mine", 0},
			{"dml", "DROP TABLE mine", 1142},
			{"dml", "ALTER TABLE mine ADD b INT", 1142},
			{"dml", "TRUNCATE mine", 1142},
			{"owner", "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42", 0},
			{"owner", "SELECT COUNT(*) FROM test_order", 1235},
			{"warned", "SELECT COUNT(*) FROM test_order", 0},
		} {
			_, err := users[c.user].Exec(c.query)
			if c.number == 0 && err != nil {
				t.Errorf("%s: %s: %v", c.user, c.query, err)
			}
			if c.number != 0 {
				refused(t, err, c.number, "")
			}
			if t.Failed() {
				t.Fatalf("%s: %s", c.user, c.query)
			}
		}
		conn, _ := connect(t, users["warned"])
		if got := number(t, conn, "SELECT COUNT(*) FROM test_order"); got == 0 {
			t.Error("a warned read has no rows")
		}
		var level, text string
		var code int
		if err := conn.QueryRow("SHOW WARNINGS").Scan(&level, &code, &text); err != nil || level != "Warning" {
			t.Errorf("warnings after a read of two shards: %s %d %q, %v", level, code, text, err)
		}
	})
}

// TestRightsChangeUnderRunningSessions prepares a statement, runs it, and revokes the right to it.
func TestRightsChangeUnderRunningSessions(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, _ *sql.DB) {
		declare(s, map[string]cluster.User{"carl": {}})
		conn, _ := connect(t, known(t, as(t, s, "carl", nil)))
		statement, err := conn.PrepareContext(t.Context(), "INSERT INTO test_order (buyer_uid) VALUES (?)")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := statement.Exec(42); err != nil {
			t.Fatal(err)
		}
		declare(s, map[string]cluster.User{"carl": {ReadOnly: true}})
		until(t, "he may no longer write", func() bool { _, err = statement.Exec(42); return err != nil })
		refused(t, err, 1142, "carl")
		_, err = conn.Exec("INSERT INTO test_order (buyer_uid) VALUES (42)")
		refused(t, err, 1142, "carl")
		declare(s, map[string]cluster.User{"carl": {}})
		until(t, "he may again", func() bool { _, err = statement.Exec(42); return err == nil })
		declare(s, nil)
		until(t, "he is gone", func() bool { return conn.PingContext(t.Context()) != nil })
	})
}

func TestTLSDemandedOfAUser(t *testing.T) {
	s := shop.Start(t, servers.MariaDB, shop.Options{})
	declare(s, map[string]cluster.User{"sealed": {TLS: cluster.TLSRequired}})
	known(t, as(t, s, "sealed", func(c *mysql.Config) { c.TLSConfig = "skip-verify" }))
	refused(t, as(t, s, "sealed", nil).Ping(), 3159, "TLS")
	refused(t, as(t, s, "sealed", func(c *mysql.Config) { c.Passwd = "wrong" }).Ping(), 1045, "Access denied")
	if err := s.DB(t, nil).Ping(); err != nil {
		t.Errorf("another user, without TLS: %v", err)
	}
}

func TestConnectionLimits(t *testing.T) {
	s := shop.Start(t, servers.MariaDB, shop.Options{Options: func(o *proxy.Options) { o.MaxConnections = 4 }})
	declare(s, map[string]cluster.User{"two": {MaxConnections: 2}, "boss": {Admin: true}})
	two := known(t, as(t, s, "two", nil))
	connect(t, two)
	second, _ := connect(t, two)
	_, err := two.Conn(t.Context())
	refused(t, err, 1226, "max_user_connections")
	_ = second.Close() // goes back to the driver's pool
	connect(t, two)

	app := s.DB(t, nil)
	connect(t, app)
	_, victim := connect(t, app)
	_, err = app.Conn(t.Context())
	refused(t, err, 1040, "max_connections")
	boss := as(t, s, "boss", nil)
	admin, _ := connect(t, known(t, boss)) // once the place of the one just refused is free
	_, err = boss.Conn(t.Context())
	refused(t, err, 1040, "max_connections")
	_, err = two.Exec(fmt.Sprintf("KILL %d", victim))
	if err == nil {
		t.Error("a user ended another one's session")
	}
	exec(t, admin, fmt.Sprintf("KILL %d", victim))
	until(t, "there is a place again", func() bool { return app.Ping() == nil })
}

// TestKillIsForOnesOwn needs no place beyond those that it has.
func TestKillIsForOnesOwn(t *testing.T) {
	s := shop.Start(t, servers.MySQL, shop.Options{})
	declare(s, map[string]cluster.User{"carl": {}, "boss": {Admin: true}})
	conn, id := connect(t, s.DB(t, nil))
	for _, kill := range []string{"KILL %d", "KILL QUERY %d"} {
		_, err := known(t, as(t, s, "carl", nil)).Exec(fmt.Sprintf(kill, id))
		refused(t, err, 1095, "not owner")
	}
	if err := conn.PingContext(t.Context()); err != nil {
		t.Error(err)
	}
	exec(t, known(t, as(t, s, "boss", nil)), fmt.Sprintf("KILL %d", id))
	until(t, "it is killed", func() bool { return conn.PingContext(t.Context()) != nil })
}
