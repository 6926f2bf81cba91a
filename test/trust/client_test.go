package trust

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
)

// session is one connection, whose texts may be any bytes.
type session struct {
	*client.Conn
	who string
}

// login is how a connection is made.
type login struct{ addr, user, password, schema string }

func (l login) open(t testing.TB, who string) *session {
	t.Helper()
	c, err := l.dial()
	if err != nil {
		t.Fatalf("%s: log in as %s: %v", who, l.user, err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &session{c, who}
}

func (l login) dial() (*client.Conn, error) {
	return client.Connect(l.addr, l.user, l.password, l.schema, func(c *client.Conn) error {
		c.UnsetCapability(mysql.CLIENT_DEPRECATE_EOF)
		c.UnsetCapability(mysql.CLIENT_QUERY_ATTRIBUTES)
		return errors.Join(c.SetCapability(mysql.CLIENT_MULTI_STATEMENTS), c.SetCapability(mysql.CLIENT_MULTI_RESULTS), c.SetCollation("utf8mb4_general_ci"))
	})
}

// answer is the answer to one statement, with any number of results.
type answer struct {
	results []result
	err     error
}

type result struct {
	columns  []string
	rows     []string
	affected uint64
	insertID uint64
}

// say sends a text, or with arguments prepares it and executes that.
func (s *session) say(text string, args ...any) (a answer) {
	if len(args) > 0 {
		return s.prepared(text, args...)
	}
	last, err := s.ExecuteMultiple(text, func(r *mysql.Result, err error) {
		if err == nil {
			a.results = append(a.results, read(r))
		} else if a.err == nil {
			a.err = err
		}
	})
	_ = last
	if a.err == nil {
		a.err = err
	}
	return a
}

// nothing as the argument means: prepare the statement, which has no placeholders.
type nothing struct{}

func (s *session) prepared(text string, args ...any) answer {
	if args[0] == (nothing{}) {
		args = nil
	}
	statement, err := s.Prepare(text)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = statement.Close() }()
	if statement.ParamNum() != len(args) {
		return answer{err: fmt.Errorf("%d placeholders", statement.ParamNum())}
	}
	r, err := statement.Execute(args...)
	if err != nil {
		return answer{err: err}
	}
	return answer{results: []result{read(r)}}
}

func read(r *mysql.Result) result {
	out := result{affected: r.AffectedRows, insertID: r.InsertId}
	if r.Resultset == nil || len(r.Fields) == 0 {
		return out
	}
	out.affected, out.insertID = 0, 0
	for _, f := range r.Fields {
		out.columns = append(out.columns, string(f.Name))
	}
	plan := slices.Contains(out.columns, "EXPLAIN") || slices.Contains(out.columns, "possible_keys")
	for _, values := range r.Values {
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = shown(v)
			if plan {
				row[i] = withoutEstimates(out.columns[i], row[i])
			}
		}
		out.rows = append(out.rows, strings.Join(row, "|"))
	}
	slices.Sort(out.rows)
	return out
}

// estimates matches the estimated numbers in a plan, as a tree and as JSON.
var estimates = regexp.MustCompile(`((?:cost|rows|filtered|per_scan|per_join)\w*(?:=|\\?": *(?:\\?")?))[0-9.e+]+[KMG]?`)

// withoutEstimates removes from a value of a plan the servers' estimates of a table's rows, which each server
// updates at times of its own.
func withoutEstimates(column, value string) string {
	switch column {
	case "rows", "filtered":
		return "?"
	}
	return estimates.ReplaceAllString(value, "$1?")
}

func shown(v mysql.FieldValue) string {
	switch v := v.Value().(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf("%q", v)
	default:
		return fmt.Sprint(v)
	}
}

// must runs texts that must not fail.
func (s *session) must(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if a := s.say(text); a.err != nil {
			t.Fatalf("%s: %q: %v", s.who, text, a.err)
		}
	}
}

func (a answer) String() string {
	var b strings.Builder
	for i, r := range a.results {
		if i > 0 {
			b.WriteString(" ; ")
		}
		if r.columns == nil {
			fmt.Fprintf(&b, "ok, %d rows affected, insert ID %d", r.affected, r.insertID)
			continue
		}
		fmt.Fprintf(&b, "(%q)", r.columns)
		for _, row := range r.rows[:min(len(r.rows), 8)] {
			b.WriteString(" " + row)
		}
		if len(r.rows) > 8 {
			fmt.Fprintf(&b, " … %d rows", len(r.rows))
		}
	}
	if a.err != nil {
		fmt.Fprintf(&b, " error %v", a.err)
	}
	return b.String()
}

// number returns the error number: 0 if there is no error, and 0xffff if it is not a server's error.
func (a answer) number() uint16 {
	var e *mysql.MyError
	switch {
	case a.err == nil:
		return 0
	case errors.As(a.err, &e):
		return e.Code
	}
	return 0xffff
}
