package sysvars

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// fakeShard answers the questions for which it has an answer, and records all texts.
type fakeShard struct {
	is      flavor.Flavor
	answers map[string]*backend.Rows // by text
	refuses map[string]error         // by text, or for settings by "carry " and their variables
	warns   uint16                   // of each executed text
	heard   []string
	carried int // how often settings were carried
	noted   []backend.Leaves
	code    bool // stored code ran on a connection
	anew    []string
	undone  int
}

var errNotAsked = errors.New("the fake has no answer to that")

func (f *fakeShard) On(settings *backend.Settings, ask func(Conn) error) error {
	if err := f.Carry(settings); err != nil {
		return err
	}
	return ask(f)
}

func (f *fakeShard) Compute(_ *backend.Settings, query string) (*backend.Rows, error) {
	return f.Query(query)
}

func (f *fakeShard) Reassign(names []string) func() {
	if f.anew = append(f.anew, names...); !f.code {
		return nil
	}
	return func() { f.undone++ }
}

func (f *fakeShard) Query(text string) (*backend.Rows, error) {
	f.heard = append(f.heard, text)
	if rows := f.answers[text]; rows != nil {
		return rows, f.refuses[text]
	}
	if err := f.refuses[text]; err != nil {
		return nil, err
	}
	return nil, errNotAsked
}

func (f *fakeShard) Exec(text string) (wire.OK, error) {
	f.heard = append(f.heard, text)
	return wire.OK{Warnings: f.warns}, f.refuses[text]
}

func (f *fakeShard) Carry(settings *backend.Settings) error {
	f.carried++
	return f.refuses["carry "+variablesOf(settings)]
}

func (f *fakeShard) Note(l backend.Leaves) { f.noted = append(f.noted, l) }

// row returns an answer of one row of texts.
func row(values ...string) *backend.Rows { return table(values) }

func table(list ...[]string) *backend.Rows {
	rows := &backend.Rows{}
	for _, values := range list {
		var out [][]byte
		for _, v := range values {
			out = append(out, []byte(v))
		}
		rows.Rows = append(rows.Rows, out)
	}
	for range list[0] {
		rows.Columns = append(rows.Columns, wire.Column{Type: mysql.MYSQL_TYPE_VAR_STRING})
	}
	return rows
}

// number64 returns an answer of one number.
func number64(value string) *backend.Rows {
	rows := row(value)
	rows.Columns[0].Type = mysql.MYSQL_TYPE_LONGLONG
	return rows
}

// variablesOf returns the assignments of settings: "a=1 b='x'".
func variablesOf(settings *backend.Settings) string {
	var list []string
	for _, a := range settings.Assignments() {
		list = append(list, a.Name+"="+a.Literal)
	}
	return strings.Join(list, " ")
}

// newState returns the state of a session that has just logged in.
func newState(f *fakeShard) *Evaluator {
	s := New(func() flavor.Flavor { return f.is })
	s.Reset(Values{Settings: backend.Default, Autocommit: true})
	return NewEvaluator(&s, f)
}

func parse(t *testing.T, text string) (*stmt.Statement, *stmt.Lexed) {
	t.Helper()
	l := new(stmt.Lexed)
	l.Lex([]byte(text), 0)
	st, err := stmt.Parse(l)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return st, l
}

// assign runs a SET up to the point where a shard must accept it.
func assign(t *testing.T, s *Evaluator, text string, transaction Transaction) (*Set, error) {
	t.Helper()
	st, _ := parse(t, text)
	next := s.Set(transaction)
	for _, v := range st.Variables {
		if err := next.Assign(v); err != nil {
			return nil, err
		}
	}
	next.Finish()
	return next, nil
}

// take runs a SET.
func take(t *testing.T, s *Evaluator, text string, known *SetWarnings) error {
	t.Helper()
	next, err := assign(t, s, text, Transaction{})
	if err != nil {
		return err
	}
	if err := s.Apply(next, known); err != nil {
		return err
	}
	s.Values = next.Values
	s.Carry(next.Settings)
	return nil
}
