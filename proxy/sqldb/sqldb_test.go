//go:build servers

package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/proxy/backend"
)

func TestMain(m *testing.M) { servers.Main(m) }

func open(t *testing.T, server *servers.Server) *sql.DB {
	t.Helper()
	target := backend.Target{
		Shard: "s0", Addr: server.Addr(), User: server.User, Password: func() (string, error) { return server.Password, nil }, MaxOpen: 2,
	}
	pool := backend.NewPool(target, backend.Limits{}, slog.New(slog.DiscardHandler))
	db := Open(pool)
	t.Cleanup(func() {
		_ = db.Close()
		if err := pool.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestStatementsAndRows checks that arguments and rows are passed unchanged, that statements commit at once whatever the
// server's default is, and that connections are returned to the pool.
func TestStatementsAndRows(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		database := servers.Database(t, server)
		server.Exec(t, "CREATE TABLE "+database+".t (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARBINARY(64), note VARCHAR(64)) DEFAULT CHARSET utf8mb4")
		server.Exec(t, "SET GLOBAL autocommit = 0")
		defer server.Exec(t, "SET GLOBAL autocommit = 1")
		db := open(t, server)
		for i, note := range []string{"it's", `a\b`, "?", "买家"} {
			result, err := db.ExecContext(t.Context(), "INSERT INTO "+database+".t (name, note) VALUES (?, ?)", []byte{0, '\'', byte(i)}, note)
			if err != nil {
				t.Fatal(err)
			}
			if id, _ := result.LastInsertId(); id != int64(i+1) {
				t.Errorf("row %d, want %d", id, i+1)
			}
			var stored string
			if err := db.QueryRowContext(t.Context(), "SELECT note FROM "+database+".t WHERE name = ? AND id = ?", []byte{0, '\'', byte(i)}, i+1).Scan(&stored); err != nil || stored != note {
				t.Errorf("%q is stored for %q: %v", stored, note, err)
			}
		}
		var n int
		if err := server.DB(t, database).QueryRow("SELECT COUNT(*) FROM t").Scan(&n); err != nil || n != 4 {
			t.Errorf("%d rows are committed: %v", n, err)
		}
		for range 5 { // of two connections
			if err := db.QueryRowContext(t.Context(), "SELECT id FROM "+database+".t WHERE id = ?", 99).Scan(&n); err != sql.ErrNoRows {
				t.Error(err)
			}
			if _, err := db.ExecContext(t.Context(), "INSERT INTO nowhere.t VALUES (1)"); err == nil {
				t.Error("a table that is not there")
			}
		}
		for _, wrong := range [][]any{{}, {1, 2}, {true}} {
			if _, err := db.ExecContext(t.Context(), "DELETE FROM "+database+".t WHERE id = ?", wrong...); err == nil {
				t.Errorf("arguments %v are taken", wrong)
			}
		}
	})
}

// A statement is sent again only if the server can't have received it.
func TestALostConnection(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		database := servers.Database(t, server)
		server.Exec(t, "CREATE TABLE "+database+".t (id INT)")
		db := open(t, server)
		if _, err := db.ExecContext(t.Context(), "KILL CONNECTION_ID()"); err == nil {
			t.Error("a connection that ends itself is whole")
		}
		insert := "INSERT INTO " + database + ".t VALUES (1)"
		if _, err := db.ExecContext(t.Context(), insert); err != nil { // the pool lent the connection without a check, so the server may have received the statement
			if lost, is := errors.AsType[*backend.LostError](err); !is || !lost.Sent || strings.Contains(err.Error(), "took effect") {
				t.Error(err)
			}
			if _, err := db.ExecContext(t.Context(), insert); err != nil {
				t.Errorf("on another connection: %v", err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := db.ExecContext(ctx, "INSERT INTO "+database+".t VALUES (2)"); err == nil {
			t.Error("a statement whose caller has gone")
		}
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+database+".t").Scan(&n); err != nil || n != 1 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}
