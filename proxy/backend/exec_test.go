//go:build servers

package backend

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy/wire"
)

func TestExecAndQuery(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		c := borrow(t, p, Default.WithDatabase("one"), 0)
		defer p.Return(c)
		rows, err := c.Query(t.Context(), "SELECT NULL AS nothing, '' AS blank, name, REPEAT('x', 9 << 20), REPEAT('y', 9 << 20) FROM place")
		if err != nil {
			t.Fatal(err)
		}
		row := rows.Rows[0] // the row is longer than a packet
		if row[0] != nil || row[1] == nil || len(row[1]) != 0 || string(row[2]) != "one" || len(row[3]) != 9<<20 || len(row[4]) != 9<<20 {
			t.Errorf("row %.40q", row)
		}
		if string(rows.Columns[0].Name) != "nothing" || string(rows.Columns[2].Name) != "name" {
			t.Errorf("columns %+v", rows.Columns)
		}
		_, err = c.Query(t.Context(), "SELECT * FROM missing")
		if e, ok := errors.AsType[*ServerError](err); !ok || e.Code != 1146 || e.State != "42S02" || !strings.Contains(e.Message, "one.missing") {
			t.Errorf("a table that isn't there: %v", err)
		}
		if rows, err := c.Query(t.Context(), "DO 1"); err != nil || rows.Columns != nil {
			t.Errorf("a statement without a result: %v, %v", rows, err)
		}
		ok, err := c.Exec(t.Context(), "BEGIN")
		if err != nil || ok.Status&mysql.SERVER_STATUS_IN_TRANS == 0 || !c.InTransaction() {
			t.Errorf("BEGIN gives %+v, %v", ok, err)
		}
		exec(t, c, "ROLLBACK")
	})
}

func TestAnAnswerOfAnotherFormEndsTheConnection(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		exec := func(ctx context.Context, c *Conn, sql string) error {
			_, err := c.Exec(ctx, sql)
			return err
		}
		query := func(ctx context.Context, c *Conn, sql string) error {
			_, err := c.Query(ctx, sql)
			return err
		}
		ten := "(SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6)"
		large := "SELECT 1 FROM " + ten + " a, " + ten + " b, " + ten + " c, " + ten + " d, " + ten + " e, " + ten + " f"
		for _, try := range []struct {
			run func(context.Context, *Conn, string) error
			sql string
		}{
			{exec, "SELECT 1"},
			{query, "SELECT 1; SELECT 2"},
			{exec, "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE one.place"},
			{query, large},
		} {
			c := borrow(t, p, Default, MultiStatements)
			err := try.run(t.Context(), c, try.sql)
			e, lost := errors.AsType[*LostError](err)
			if refused, ok := errors.AsType[*ServerError](err); ok && strings.HasPrefix(try.sql, "LOAD") && refused.Code == 3948 {
				lost, e = true, &LostError{Sent: true} // MySQL's own switch is off
			}
			if !lost || !e.Sent {
				t.Errorf("%.40s: %v", try.sql, err)
			}
			p.Return(c)
		}
		if p.Stats().Open > 1 {
			t.Errorf("kept: %+v", p.Stats())
		}
	})
}

func TestTheContextEndsAStatement(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		c := borrow(t, p, Default, 0)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := c.Exec(ctx, "DO SLEEP(60)")
		if e, ok := errors.AsType[*LostError](err); !ok || !e.Sent || NotSent(err) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a deadline: %v", err)
		}
		if err := p.KillQuery(t.Context(), c.ThreadID()); err != nil {
			t.Error(err)
		}
		p.Return(c)
		if p.Stats().Open != 0 {
			t.Error("a connection with an answer under way was kept")
		}

		c = borrow(t, p, Default, 0)
		ended, end := context.WithCancelCause(t.Context())
		gone := errors.New("the client has gone")
		end(gone)
		if _, err := c.Query(ended, "SELECT 1"); !errors.Is(err, gone) {
			t.Errorf("a context that ended before: %v", err)
		}
		p.Return(c)
	})
}

// Interrupt lets the owner of a session end its own wait for an answer.
func TestInterrupt(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		c := borrow(t, p, Default, 0)
		failed := make(chan error)
		command, _ := wire.AppendCommand(nil, mysql.COM_QUERY, []byte("DO SLEEP(60)"))
		if err := c.Send(command, Nothing); err != nil {
			t.Fatal(err)
		}
		go func() { failed <- c.Stream().Fill() }()
		c.Interrupt()
		if err := <-failed; err == nil {
			t.Error("the read ended without an error")
		}
		if err := p.KillQuery(t.Context(), c.ThreadID()); err != nil {
			t.Error(err)
		}
		p.Return(c)
		if p.Stats().Open != 0 {
			t.Error("an interrupted connection was kept")
		}
	})
}

func TestKillQuery(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{MaxOpen: 1}) // a kill needs no place in the limit
		c := borrow(t, p, Default, 0)
		answered := make(chan error)
		go func() {
			_, err := c.Query(t.Context(), "SELECT 1 FROM (SELECT SLEEP(600) UNION SELECT 2) t WHERE 1 = 2 OR SLEEP(600)")
			answered <- err
		}()
		watcher, err := s.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer watcher.Close()
		eventually(t, "the statement runs", func() bool {
			r, err := watcher.Execute("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT 1 FROM (SELECT SLEEP%'")
			if err != nil {
				t.Fatal(err)
			}
			n, _ := r.GetInt(0, 0)
			return n == 1
		})
		if err := p.KillQuery(t.Context(), c.ThreadID()); err != nil {
			t.Fatal(err)
		}
		if e, ok := errors.AsType[*ServerError](<-answered); ok && e.Code != 1317 {
			t.Errorf("the killed statement answers %v", e)
		}
		if got := value(t, c, "SELECT 1"); got != "1" {
			t.Errorf("after the kill: %s", got)
		}
		p.Return(c)
		err = p.KillQuery(t.Context(), 1<<30)
		if e, ok := errors.AsType[*ServerError](err); !ok || e.Code != 1094 {
			t.Errorf("kill of nobody: %v", err)
		}
	})
}

func TestCarry(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		c := borrow(t, p, Default.WithDatabase("one"), 0)
		defer p.Return(c)
		exec(t, c, "BEGIN", "INSERT INTO place VALUES ('mine', 2)")
		next := c.Settings().With("sql_mode", "'ANSI_QUOTES'").WithDatabase("two")
		if err := c.Carry(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		if !c.InTransaction() || value(t, c, "SELECT CONCAT(@@sql_mode, DATABASE(), (SELECT COUNT(*) FROM one.place))") != "ANSI_QUOTEStwo2" {
			t.Error("the transaction didn't outlive a change of settings")
		}
		over := Default.WithDatabase("two").With("time_zone", "'+01:00'")
		if err := c.Carry(t.Context(), over); err != nil || !c.InTransaction() {
			t.Errorf("to settings that name less: %v", err)
		}
		if got := value(t, c, "SELECT CONCAT(@@sql_mode = @@global.sql_mode, @@time_zone, (SELECT COUNT(*) FROM one.place))"); got != "1+01:002" {
			t.Errorf("what settings don't name: %s", got)
		}
		exec(t, c, "ROLLBACK", "SET time_zone = '+09:00'", "SET NAMES latin1", "SET autocommit = 0") // as stored code does
		if err := c.Carry(t.Context(), over); err != nil || value(t, c, "SELECT CONCAT(@@time_zone, @@character_set_client, @@autocommit = 1)") != "+09:00latin10" {
			t.Errorf("what the connection has already was set anew: %v", err)
		}
		c.Revalidate(c.Invalidate([]string{"names"}))
		c.Invalidate([]string{"time_zone", "autocommit", "@none"})
		if err := c.Carry(t.Context(), over); err != nil || value(t, c, "SELECT CONCAT(@@time_zone, @@character_set_client, @@autocommit = 1)") != "+01:00latin11" {
			t.Errorf("what is invalid was not set anew: %v", err)
		}
		c.Invalidate([]string{"names"})
		if err := c.Carry(t.Context(), over); err != nil || value(t, c, "SELECT @@character_set_client") != "utf8mb4" {
			t.Errorf("names were not set anew: %v", err)
		}
		exec(t, c, "BEGIN")
		if err := c.Carry(t.Context(), over.With("sql_mode", "'NONSENSE'")); err == nil {
			t.Error("a bad value was taken")
		}
		if c.Settings() != over || !c.InTransaction() {
			t.Error("a refused change changed the settings")
		}
		if err := c.Carry(t.Context(), Default); err == nil || !c.InTransaction() {
			t.Errorf("what takes a reset: %v", err)
		}
		exec(t, c, "ROLLBACK")
	})
}
