package e2e

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/test/shop"
)

func TestRefusals(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		id, _ := exec(t, db, "INSERT INTO test_order (buyer_uid) VALUES (42)").LastInsertId()
		for _, c := range []struct {
			query  string
			number uint16
			words  string
		}{
			{"INSERT INTO test_order (amount) VALUES (1)", 1364, "buyer_uid"},
			{"INSERT INTO test_order (buyer_uid) VALUES (NULL)", 1105, "buyer_uid"},
			{"INSERT INTO test_order (buyer_uid) VALUES (UUID_SHORT())", 1105, "expression"},
			{fmt.Sprintf("INSERT INTO test_order (order_id, buyer_uid) VALUES (%d, 43)", id+100), 1105, "gene"},
			{"INSERT INTO test_order (nothing, buyer_uid) VALUES (1, 42)", 1054, "nothing"},
			{"INSERT INTO test_order (buyer_uid, amount) VALUES (42)", 1136, "row 1"},
			{"UPDATE test_order SET amount = 1", 1235, "WHERE"},
			{"DELETE FROM test_order", 1235, "WHERE"},
			{"DELETE FROM test_order WHER order_id = 1", 1064, "order_id"},
			{"UPDATE test_order SET buyer_uid = 43 WHERE buyer_uid = 42", 1105, "gene"},
			{"SELECT status, COUNT(*) FROM test_order PARTITION (p0) GROUP BY status", 1235, "PARTITION"},
			{"SELECT status, COUNT(*) FROM test_order USE INDEX (nothing) GROUP BY status", 1176, "nothing"},
			{"SELECT DISTINCT status FROM test_order FOR UPDATE", 1235, "FOR UPDATE"},
			{"SELECT * FROM test_order a JOIN test_order b ON a.amount = b.amount FOR UPDATE", 1235, "owner"},
			{"SELECT GET_LOCK('a', 1) FROM test_order", 1235, "lock"},
			{"SELECT @n := amount FROM test_order", 1235, "variables"},
			{"SELECT SQL_CALC_FOUND_ROWS * FROM test_order LIMIT 1 FOR UPDATE", 1235, "FOR UPDATE"},
			{"CREATE TEMPORARY TABLE test_order (id INT)", 1235, "test_order"},
			{"SELECT 1; SELECT 2", 1064, "near 'SELECT 2' at line 1"},
			{"SELECT * FROM test_order WHERE buyer_uid = 'unfinished", 1064, ""},
		} {
			_, err := db.Exec(c.query)
			if err == nil {
				t.Errorf("%s: no error, want %d", c.query, c.number)
				continue
			}
			refused(t, err, c.number, c.words)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM test_order WHERE version = 1"); got != 1 {
			t.Errorf("%d rows after refused statements, want the one from before", got)
		}
	})
}

func TestWrongPasswordAndUnknownUser(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		for _, configure := range []func(*mysql.Config){
			func(c *mysql.Config) { c.Passwd = "wrong" },
			func(c *mysql.Config) { c.User = "nobody" },
		} {
			refused(t, s.DB(t, configure).Ping(), 1045, "Access denied")
		}
		refused(t, s.DB(t, func(c *mysql.Config) { c.DBName = "no_such_database" }).Ping(), 1049, "no_such_database")
		if err := s.DB(t, nil).Ping(); err != nil {
			t.Errorf("the right password: %v", err)
		}
	})
}

func TestGarbageHurtsNobodyElse(t *testing.T) {
	s := shop.Start(t, servers.MariaDB, shop.Options{})
	db := s.DB(t, nil)
	tx := begin(t, db)
	exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (42)")
	for _, garbage := range [][]byte{
		[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		bytes.Repeat([]byte{0xff}, 100),
		{0xff, 0xff, 0xff, 1}, // a packet of 16 MiB before the login
		{0, 0, 0, 1},
		{1, 0, 0, 9, 0},
	} {
		c, err := net.Dial("tcp", s.Addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(garbage); err != nil {
			t.Fatal(err)
		}
		_ = c.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(c)
		if len(answer) == 0 {
			t.Errorf("%q: no answer at all", garbage)
		}
		_ = c.Close()
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 1 {
		t.Errorf("%d rows, want 1", got)
	}
}

func TestBigStatementsAndResults(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for _, server := range servers.Shared(t, engine, 2) {
			server.Exec(t, "SET GLOBAL max_allowed_packet = 67108864")
		}
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, func(c *mysql.Config) { c.MaxAllowedPacket = 64 << 20 })
		exec(t, db, "CREATE TABLE blobs (id INT PRIMARY KEY, b LONGBLOB)")
		for id, size := range map[int]int{1: 100, 2: 1 << 20, 3: 1<<24 - 1, 4: 1<<24 + 5000, 5: 40 << 20} {
			blob := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
			exec(t, db, "INSERT INTO blobs VALUES (?, ?)", id, blob)
			var got []byte
			if err := db.QueryRow("SELECT b FROM blobs WHERE id = ?", id).Scan(&got); err != nil || !bytes.Equal(got, blob) {
				t.Errorf("%d bytes came back as %d (%v)", size, len(got), err)
			}
		}
	})
}
