package moves

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/changes"
	"locus/migrate/table"
	"locus/router/catalog"
)

// feed opens a feed of tables at a position.
func (p *pair) feed(s *servers.Server, tables []*table.Table, from changes.Position) *changes.Feed {
	p.t.Helper()
	f, err := changes.Open(at(s), p.flavor(), tables, from)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(f.Close)
	return f
}

func (p *pair) here(s *servers.Server) changes.Position {
	p.t.Helper()
	c := p.dial(s)
	defer c.Close()
	here, err := changes.Current(p.t.Context(), c)
	if err != nil {
		p.t.Fatal(err)
	}
	return here
}

// follow returns the changes up to a position, as text.
func (p *pair) follow(f *changes.Feed, to changes.Position) []string {
	p.t.Helper()
	var all []string
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for !f.Position().Covers(to) {
		e, err := f.Next(ctx)
		if err != nil {
			p.t.Fatalf("%v (%v), after %v", err, f.Trouble(), all)
		}
		for _, c := range e.Changes {
			all = append(all, spell(c))
		}
	}
	return all
}

// spell writes a change as its first and last values: "1:a→b".
func spell(c changes.Change) string {
	image := func(r table.Row) string {
		if r == nil {
			return "-"
		}
		return string(r[0]) + ":" + string(r[len(r)-1])
	}
	return image(c.Before) + "→" + image(c.After)
}

func (p *pair) plain() []*table.Table {
	p.t.Helper()
	p.on(p.source, "CREATE TABLE plain (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, v VARCHAR(30))")
	return p.read(map[string]catalog.Declaration{"plain": byID})
}

// Wherever reading is interrupted and continued, every group of rows is returned once, in the log's order.
func TestFeedResumesAnywhere(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.plain()
		from := p.here(p.source)
		for n := range 5 {
			p.on(p.source, "START TRANSACTION",
				fmt.Sprintf("INSERT INTO plain VALUES (%d, 1, 'a'), (%d, 1, 'b')", 10*n+1, 10*n+2),
				fmt.Sprintf("UPDATE plain SET v = 'c' WHERE id = %d", 10*n+1),
				fmt.Sprintf("DELETE FROM plain WHERE id = %d", 10*n+2), "COMMIT",
				"CREATE TABLE IF NOT EXISTS other (i INT)", "INSERT INTO other VALUES (1)")
		}
		to := p.here(p.source)
		want := p.follow(p.feed(p.source, tables, from), to)
		if len(want) != 20 || strings.Join(want[:4], " ") != "-→1:a -→2:b 1:a→1:c 2:b→-" {
			t.Fatalf("changes: %v", want)
		}
		for _, every := range []int{1, 2, 3} {
			got := p.followInPieces(tables, from, to, every)
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("read in pieces of %d events:\n%v\nwant\n%v", every, got, want)
			}
		}
	})
}

// followInPieces makes a new feed after some events, from the text of the position.
func (p *pair) followInPieces(tables []*table.Table, from, to changes.Position, every int) []string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	var all []string
	for !from.Covers(to) {
		f := p.feed(p.source, tables, from)
		for n := 0; n < every && !f.Position().Covers(to); {
			e, err := f.Next(ctx)
			if err != nil {
				p.t.Fatal(err)
			}
			if e.Committed || e.Changes != nil {
				n++
			}
			for _, c := range e.Changes {
				all = append(all, spell(c))
			}
		}
		var err error
		if from, err = changes.Decode(f.Position().Encode()); err != nil {
			p.t.Fatal(err)
		}
		f.Close()
	}
	return all
}

// The rows of a branch are returned when it is committed, however often reading is interrupted. The rows of a branch
// that is rolled back are never returned.
func TestFeedHoldsPreparedBranches(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.plain()
		from := p.here(p.source)
		branch := func(id string, statements ...string) {
			p.on(p.source, append(append([]string{"XA START '" + id + "'"}, statements...), "XA END '"+id+"'", "XA PREPARE '"+id+"'")...)
		}
		one := p.database + "-1"
		branch(one, "INSERT INTO plain VALUES (1, 1, 'first')", "INSERT INTO plain VALUES (11, 1, 'first')")
		branch(p.database+"-2", "INSERT INTO plain VALUES (2, 1, 'second')")
		branch(p.database+"-3", "INSERT INTO plain VALUES (3, 1, 'third')")
		p.on(p.source, "INSERT INTO plain VALUES (4, 1, 'between')")
		middle := p.here(p.source)
		p.on(p.source, "XA COMMIT '"+p.database+"-3'", "XA ROLLBACK '"+p.database+"-2'", "INSERT INTO plain VALUES (5, 1, 'later')", "XA COMMIT '"+one+"'",
			"XA START '"+one+"'", "UPDATE plain SET v = 'at once' WHERE id = 1", "XA END '"+one+"'", "XA COMMIT '"+one+"' ONE PHASE")
		to := p.here(p.source)
		want := "-→4:between -→3:third -→5:later -→1:first -→11:first 1:first→1:at once"
		f := p.feed(p.source, tables, from)
		got := p.follow(f, middle)
		if s := strings.Join(got, " "); s != "-→4:between" {
			t.Errorf("before any is decided: %s", s)
		}
		if s := strings.Join(append(got, p.follow(f, to)...), " "); s != want {
			t.Errorf("changes: %s\nwant %s", s, want)
		}
		for _, every := range []int{1, 2} {
			if s := strings.Join(p.followInPieces(tables, from, to, every), " "); s != want {
				t.Errorf("in pieces of %d: %s\nwant %s", every, s, want)
			}
		}
	})
}

// TestFeedRefuses checks that an event that can't be followed ends the feed with the right kind of error.
func TestFeedRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		only       servers.Engine
		statements []string
		want       func(error) bool
	}{
		"ALTER":          {statements: []string{"ALTER TABLE plain ADD COLUMN w INT"}, want: isSchema},
		"TRUNCATE":       {statements: []string{"/* by hand */ TRUNCATE TABLE plain"}, want: isSchema},
		"RENAME":         {statements: []string{"CREATE TABLE o LIKE plain", "RENAME TABLE plain TO gone"}, want: isSchema},
		"CREATE INDEX":   {statements: []string{"CREATE UNIQUE INDEX i ON plain (v)"}, want: isSchema},
		"DROP DATABASE":  {statements: []string{"DROP DATABASE @db", "CREATE DATABASE @db"}, want: isSchema},
		"statement":      {only: servers.MariaDB, statements: []string{"SET SESSION binlog_format = STATEMENT", "INSERT INTO plain VALUES (1, 1, 'x')"}, want: isRows},
		"minimal image":  {statements: []string{"INSERT INTO plain VALUES (1, 1, 'x')", "SET SESSION binlog_row_image = MINIMAL", "UPDATE plain SET v = 'y'"}, want: isRows},
		"another column": {statements: []string{"SET SESSION sql_log_bin = 0", "ALTER TABLE plain ADD COLUMN w INT", "SET SESSION sql_log_bin = 1", "INSERT INTO plain VALUES (1, 1, 'x', 2)"}, want: isSchema},
	} {
		t.Run(name, func(t *testing.T) {
			eachPair(t, func(t *testing.T, p *pair) {
				if c.only != "" && c.only != p.engine {
					return
				}
				tables := p.plain()
				f := p.feed(p.source, tables, p.here(p.source))
				p.on(p.source, c.statements...)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				var err error
				for err == nil {
					_, err = f.Next(ctx)
				}
				if !c.want(err) {
					t.Errorf("the feed ended with %v", err)
				}
				before := f.Position()
				if _, again := f.Next(ctx); again == nil || f.Position().Encode() != before.Encode() {
					t.Error("it went on")
				}
			})
		})
	}
}

func isSchema(err error) bool { return errors.As(err, new(*changes.SchemaError)) }
func isRows(err error) bool   { return errors.As(err, new(*changes.RowsError)) }

// Statements that mention a watched table without changing it are ignored.
func TestFeedPassesBy(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.plain()
		from := p.here(p.source)
		p.on(p.source, "ANALYZE TABLE plain", "CREATE TABLE plain_old LIKE plain", "CREATE VIEW seen AS SELECT * FROM plain",
			"DROP TABLE plain_old", "SAVEPOINT plain", "INSERT INTO plain VALUES (1, 1, 'x')", "FLUSH TABLES plain")
		if got := p.follow(p.feed(p.source, tables, from), p.here(p.source)); strings.Join(got, " ") != "-→1:x" {
			t.Errorf("changes: %v", got)
		}
	})
}

// After a restart of the server the feed continues from its position. If the server has purged its log, the feed
// fails.
func TestFeedOutlivesTheServer(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Start(t, engine, 1)[0]
		s.Exec(t, "CREATE DATABASE own", "CREATE TABLE own.plain (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, v VARCHAR(30))")
		p := &pair{t: t, engine: engine, source: s, target: s, database: "own"}
		tables := p.read(map[string]catalog.Declaration{"plain": byID})
		from := p.here(s)
		f := p.feed(s, tables, from)
		s.Exec(t, "INSERT INTO own.plain VALUES (1, 1, 'before')")
		first := p.follow(f, p.here(s))
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		s.Restart(t)
		s.Exec(t, "INSERT INTO own.plain VALUES (2, 1, 'after')")
		got := append(first, p.follow(f, p.here(s))...)
		if strings.Join(got, " ") != "-→1:before -→2:after" {
			t.Errorf("changes: %v", got)
		}
		p.purge()
		late := p.feed(s, tables, from)
		if _, err := late.Next(t.Context()); !errors.Is(err, changes.ErrPurged) {
			t.Errorf("without the log: %v", err)
		}
	})
}

// purge removes the whole log except its end.
func (p *pair) purge() {
	p.t.Helper()
	p.on(p.source, "FLUSH BINARY LOGS", "INSERT INTO plain VALUES (3, 1, 'x')", "FLUSH BINARY LOGS", "INSERT INTO plain VALUES (4, 1, 'x')")
	c := p.dial(p.source)
	logs, err := c.Query(p.t.Context(), "SHOW BINARY LOGS")
	if err != nil {
		p.t.Fatal(err)
	}
	last := string(logs[len(logs)-1][0])
	waitFor(p.t, "the log to be purged", func() bool {
		p.on(p.source, "PURGE BINARY LOGS TO '"+last+"'")
		left, err := c.Query(p.t.Context(), "SHOW BINARY LOGS")
		return err == nil && string(left[0][0]) == last
	})
}
