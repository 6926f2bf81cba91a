package session

import (
	"database/sql/driver"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// XA statements of a client, on undeclared tables.
func TestXAOfAClient(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"CREATE TABLE x (id INT PRIMARY KEY)",
			"XA START 'one'", "INSERT INTO x VALUES (1)", "BEGIN", "COMMIT", "ROLLBACK", "SELECT * FROM x", "CREATE TABLE y (id INT)",
			"SAVEPOINT a", "INSERT INTO x VALUES (2)", "ROLLBACK TO SAVEPOINT a", "XA START 'two'",
			"XA END 'one'", "SELECT * FROM x", "XA PREPARE 'one'", "XA RECOVER", "XA COMMIT 'one'", "SELECT * FROM x", "XA RECOVER",
			"XA START 'three'", "INSERT INTO x VALUES (3)", "XA END 'three'", "XA ROLLBACK 'three'", "SELECT * FROM x",
			"XA BEGIN 'four'", "INSERT INTO x VALUES (4)", "XA END 'four'", "XA COMMIT 'four' ONE PHASE", "SELECT * FROM x",
			"BEGIN", "INSERT INTO x VALUES (5)", "XA START 'five'", "COMMIT", "SELECT * FROM x",
			"XA COMMIT 'nobody'", "XA END 'nobody'", "XA PREPARE 'nobody'", "XA ROLLBACK 'nobody'",
			"XA START 'six'", "DELETE FROM x WHERE id = 9", "XA END 'six'", "XA COMMIT 'six' ONE PHASE",
			"/* before */ XA START 'seven'", "XA END 'seven'", "XA ROLLBACK 'seven'", "BEGIN", "COMMIT",
		)
	})
}

// A prepared transaction survives its session, and any session may finish it.
func TestXAOutlivesItsSession(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t, "CREATE TABLE x (id INT PRIMARY KEY)")
		name := "'left_" + string(p.engine) + "'" // names are a server's, whatever the test
		for _, who := range []*talk{p.plain, p.proxy} {
			db := p.shop.DB(t, nil)
			if who == p.plain {
				db = servers.Shared(t, p.engine, 3)[2].DB(t, p.plain.value(t, "SELECT DATABASE()"))
			}
			other := open(t, "another", db)
			for _, text := range []string{"XA START " + name, "INSERT INTO x VALUES (7)", "XA END " + name, "XA PREPARE " + name} {
				other.must(t, text)
			}
			_ = other.conn.Raw(func(any) error { return driver.ErrBadConn }) // closes it
			got := ""
			for range 1000 { // the end of the connection reaches the server later
				if got = who.say("XA COMMIT " + name); !strings.HasPrefix(got, "error") {
					break
				}
			}
			if got != "" {
				t.Errorf("%s: what was prepared: %s", who.who, got)
			}
		}
		p.alike(t, "SELECT * FROM x")
	})
}

// A client's XA transaction can't use sharded tables, nor tables of other shards.
func TestXAOfAClientKeepsToItself(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.proxy.must(t, "CREATE TABLE x (id INT PRIMARY KEY)")
		p.proxy.must(t, "XA START 'locus_client'")
		for _, text := range []string{
			"SELECT * FROM test_order WHERE buyer_uid = 1", "INSERT INTO test_order (buyer_uid, amount) VALUES (1, 1)", "SELECT COUNT(*) FROM test_order",
			"CREATE DATABASE no_such_thing",
		} {
			if got := p.proxy.say(text); !strings.HasPrefix(got, "error 1235") && !strings.HasPrefix(got, "error 1399") {
				t.Errorf("%s: %s", text, got)
			}
		}
		p.proxy.must(t, "INSERT INTO x VALUES (1)")
		if got := open(t, "another", p.shop.DB(t, nil)).say("SHOW PROCESSLIST"); !strings.Contains(got, "pinned: xa") {
			t.Errorf("processes: %s", got)
		}
		p.proxy.must(t, "XA END 'locus_client'")
		p.proxy.must(t, "XA ROLLBACK 'locus_client'")
		if got := p.proxy.say("XA ROLLBACK 'locus-0000'"); got != "error 1235 (42000)" {
			t.Errorf("a name of the proxies': %s", got)
		}
		p.proxy.must(t, "INSERT INTO test_order (buyer_uid, amount) VALUES (1, 1)")
		if got := p.proxy.say("SELECT * FROM x"); got != "id" {
			t.Errorf("after the rollback: %s", got)
		}
	})
}
