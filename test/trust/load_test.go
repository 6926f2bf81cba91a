package trust

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
)

// loading is a LOAD DATA of a client's file, with checks of the result on both sides.
type loading struct {
	name    string
	user    string   // who loads; empty: app
	before  []string // run in the session; if it is refused, the attack is, too
	text    string   // {file} is replaced by LOCAL INFILE and the file's name
	file    string
	look    []string // run in the session afterwards
	setup   []string // run by app on both sides
	after   []string
	refused bool   // it must be
	on      string // the engine; empty: both
}

// loader is a session that has a file.
type loader struct {
	*sql.Conn
	file string
}

const theFile = "LOCAL INFILE 'Reader::trust'"

func (l login) loader(t *testing.T) *loader {
	t.Helper()
	c := driver.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd, c.DBName = "tcp", l.addr, l.user, l.password, l.schema
	c.MultiStatements = true
	connector, err := driver.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &loader{Conn: conn}
}

// say returns the part of the answer that must be equal on both sides, and the code of a refusal.
func (l *loader) say(ctx context.Context, text string) (heard, refusal string) {
	driver.RegisterReaderHandler("trust", func() io.Reader { return strings.NewReader(l.file) })
	rows, err := l.QueryContext(ctx, strings.ReplaceAll(text, "{file}", theFile))
	var told *driver.MySQLError
	switch {
	case errors.As(err, &told):
		if c := code.FindString(told.Message); c != "" {
			return "", c
		}
		if slices.Contains(alwaysRefusals, told.Number) {
			refusal = fmt.Sprintf("#%d", told.Number)
		}
		return fmt.Sprintf("error %d", told.Number), refusal
	case err != nil:
		return err.Error(), ""
	}
	defer rows.Close()
	var all []string
	for more := true; more; more = rows.NextResultSet() {
		columns, _ := rows.Columns()
		for rows.Next() {
			values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				return err.Error(), ""
			}
			all = append(all, fmt.Sprint(values))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " "), ""
}

// load compares both sides.
func (s *stand) load(t *testing.T, a *loading) {
	for _, text := range a.setup {
		s.app.must(t, text)
		s.plain.must(t, text)
	}
	defer func() {
		for _, text := range a.after {
			s.app.say(text)
			s.plain.say(text)
		}
	}()
	user := a.user
	if user == "" {
		user = "app"
	}
	refusal, difference := s.loaded(t, a, login{s.Addr, user, password, s.Schema}.loader(t), login{s.server.Addr(), user, password, s.Schema}.loader(t))
	difference = strings.TrimSpace(difference + "\n" + s.unlikeRows(t))
	if a.refused && refusal == "" {
		difference += "\nit was not refused"
	}
	if difference != "" {
		t.Errorf("%s, as %s, after %q: %q of %q:\n%s", s.engine, user, a.before, a.text, a.file, difference)
	}
	if refusal != "" {
		t.Logf("refused: %s", refusal)
	}
}

func (s *stand) loaded(t *testing.T, a *loading, proxy, plain *loader) (refusal, difference string) {
	proxy.file, plain.file = a.file, a.file
	texts := append(slices.Clone(a.before), a.text, "SELECT ROW_COUNT()", "SHOW WARNINGS")
	for i, text := range append(texts, a.look...) {
		text = on(s.Schema, text)
		got, refusal := proxy.say(t.Context(), text)
		if i < len(a.before) && strings.HasPrefix(got, "error") {
			refusal = got // of a variable's value
		}
		if refusal != "" {
			return refusal, ""
		}
		want, _ := plain.say(t.Context(), text)
		if got != want {
			return "", fmt.Sprintf("%q: proxy: %s\nplain: %s", text, got, want)
		}
	}
	return "", ""
}
