//go:build servers

package backend

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy/wire"
)

func prepare(t *testing.T, c *Conn, sql string) *Statement {
	t.Helper()
	st, _, err := c.Prepare(t.Context(), sql)
	if err != nil {
		t.Fatalf("prepare %s: %v", sql, err)
	}
	return st
}

// run executes a statement without parameters and returns its only value, a string.
func run(t *testing.T, c *Conn, st *Statement) (string, error) {
	t.Helper()
	execute := append(wire.AppendStatementCommand(nil, mysql.COM_STMT_EXECUTE, st.ID), 0, 1, 0, 0, 0)
	wire.PutHeader(execute, len(execute)-wire.HeaderSize, 0)
	if err := c.Send(execute, Nothing); err != nil {
		t.Fatal(err)
	}
	var result string
	for packets := 0; ; packets++ {
		payload, err := c.receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case wire.IsERR(payload):
			err := c.Refusal(payload)
			c.stream.Done()
			return "", err
		case wire.IsEOF(payload) && packets > 2:
			c.stream.Done()
			return result, nil
		case packets == 3:
			result = string(payload[3:]) // after the header, the bitmap of NULLs, and the length
		}
	}
}

func TestPreparedStatementsAreKept(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{MaxOpen: 1})
		one := Default.WithDatabase("one")
		c := borrow(t, p, one, 0)
		const sql = "SELECT name FROM place"
		if _, ok := c.Prepared(sql, nil); ok {
			t.Error("prepared on a new connection")
		}
		st, answer, err := c.Prepare(t.Context(), "SELECT ?, name FROM place WHERE name = ?")
		if err != nil || st.Params != 2 || st.Columns != 2 {
			t.Fatalf("%+v, %v", st, err)
		}
		var scan wire.Scanner
		scan.Reset(wire.PrepareResponse)
		if n, state, err := scan.Scan(answer); n != len(answer) || state != wire.Done || err != nil {
			t.Errorf("the answer isn't one: %d of %d bytes, %v, %v", n, len(answer), state, err)
		}
		first := prepare(t, c, sql)
		p.Return(c)

		c = borrow(t, p, one.With("@x", "1"), 0) // user variables don't matter if the statement names none
		again, ok := c.Prepared(sql, nil)
		if !ok || again != first {
			t.Error("forgotten by a change of user variables")
		}
		if got, err := run(t, c, again); got != "one" || err != nil {
			t.Errorf("gives %q, %v", got, err)
		}
		const typed = "SELECT @x" // MySQL returns numbers, whatever the variable contains later
		number := prepare(t, c, typed)
		for literal, same := range map[string]bool{"'a'": false, "1.5": false, "7": true} {
			if err := c.Carry(t.Context(), one.With("@x", literal)); err != nil {
				t.Fatal(err)
			}
			if again, ok := c.Prepared(typed, nil); ok != same || ok && again != number {
				t.Errorf("prepared for a number, and offered for %s: %v", literal, ok)
			}
		}
		p.Return(c)

		c = borrow(t, p, Default.WithDatabase("two").With("@x", "1"), 0) // the same text, another meaning
		if _, ok := c.Prepared(sql, nil); ok {
			t.Error("a statement of another database is offered")
		}
		if got, err := run(t, c, prepare(t, c, sql)); got != "two" || err != nil {
			t.Errorf("gives %q, %v", got, err)
		}
		p.Return(c)

		c = borrow(t, p, Default.WithDatabase("two"), 0) // a reset
		if _, ok := c.Prepared(sql, nil); ok || c.prepared.len() != 0 {
			t.Error("statements outlive a reset")
		}
		if _, err := run(t, c, first); err == nil {
			t.Error("the server still knows a statement from before the reset")
		}
		c.settings = nil
		if _, ok := c.Prepared(sql, nil); ok {
			t.Error("a statement is offered under unknown settings")
		}
		p.Return(c)
	})
}

func TestTheLeastUsedStatementMakesRoom(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{MaxPreparedPerConn: 3})
		c := borrow(t, p, Default, 0)
		defer p.Return(c)
		var all []*Statement
		for i := range 3 {
			all = append(all, prepare(t, c, fmt.Sprintf("SELECT 'v%d'", i)))
		}
		c.Prepared("SELECT 'v0'", nil)
		prepare(t, c, "SELECT 'v3'")
		for i, kept := range []bool{true, false, true, true} {
			st, ok := c.Prepared(fmt.Sprintf("SELECT 'v%d'", i), nil)
			if ok != kept {
				t.Errorf("v%d is kept: %t", i, ok)
			}
			if ok {
				if got, err := run(t, c, st); err != nil || got != fmt.Sprintf("v%d", i) {
					t.Errorf("v%d gives %q, %v", i, got, err)
				}
			}
		}
		if _, err := run(t, c, all[1]); err == nil || !strings.Contains(err.Error(), "1243") {
			t.Errorf("the server wasn't told: %v", err)
		}
		if err := c.Unprepare(all[0]); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Prepared("SELECT 'v0'", nil); ok || c.prepared.len() != 2 {
			t.Error("offered after it was closed")
		}
		if _, err := run(t, c, all[0]); err == nil {
			t.Error("the server still has it")
		}
	})
}

func TestPrepareRefused(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		c := borrow(t, p, Default, 0)
		defer p.Return(c)
		_, _, err := c.Prepare(t.Context(), "SELEC 1")
		if e, ok := errors.AsType[*ServerError](err); !ok || e.Code != 1064 {
			t.Errorf("a syntax error: %v", err)
		}
		if got := value(t, c, "SELECT 1"); got != "1" {
			t.Error("the connection is out of step")
		}
	})
}

// A server without room for more gets it from this connection.
func TestPreparedStatementsGiveWay(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Start(t, engine, 1, "--max-prepared-stmt-count=4")[0]
		p := realPool(t, target(s), Limits{})
		c := borrow(t, p, Default, 0)
		defer p.Return(c)
		for i := range 9 {
			sql := fmt.Sprintf("SELECT 'v%d'", i)
			if got, err := run(t, c, prepare(t, c, sql)); err != nil || got != fmt.Sprintf("v%d", i) {
				t.Errorf("%s gives %q, %v", sql, got, err)
			}
		}
		other := borrow(t, p, Default.With("@x", "1"), 0)
		defer p.Return(other)
		for c.prepared.len() < 4 {
			prepare(t, c, fmt.Sprintf("SELECT 'w%d'", c.prepared.len()))
		}
		_, _, err := other.Prepare(t.Context(), "SELECT 1")
		if e, ok := errors.AsType[*ServerError](err); !ok || e.Code != tooManyPrepared {
			t.Errorf("with nothing of its own to give up: %v", err)
		}
	})
}

// A server keeps types and precisions of the values that a statement was executed with. So executions with others get statements of
// their own.
func TestStatementsAreSharedByBinding(t *testing.T) {
	text := func(value string) wire.Param {
		return wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte(value)}
	}
	number := wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: []byte("12345678")}
	unsigned := wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Flags: mysql.PARAM_UNSIGNED, Value: []byte("12345678")}
	null := wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG}
	for _, alike := range [][]wire.Param{
		{text("zzz"), text(""), text("7"), text("123456789012345678"), text("2024-05-06"), text("7a"), text("1e5x")},
		{text("-7"), text("+7"), text(" 7"), text("1234567890123456789")},
		{text("7.5"), text(".5"), text("-7.")},
		{text("1e30"), text("1.5E-3")},
		{number},
		{unsigned},
		{null, {Type: mysql.MYSQL_TYPE_LONGLONG}},
	} {
		l := statements{limit: 100}
		l.add(&Statement{key: text0, Columns: 1})
		for _, p := range alike {
			if _, ok := l.find(Default, text0.sql, AppendBinding(nil, []wire.Param{p}, nil)); !ok {
				t.Errorf("%q is not like %q", p.Value, alike[0].Value)
			}
		}
		found := 0
		for _, p := range []wire.Param{text("zzz"), text("-7"), text("7.5"), text("1e30"), number, unsigned, null} {
			if _, ok := l.find(Default, text0.sql, AppendBinding(nil, []wire.Param{p}, nil)); ok {
				found++
			}
		}
		if found != 1 || l.len() != 1 {
			t.Errorf("a statement of %q is used for %d kinds of values", alike[0].Value, found)
		}
	}
}

// A NULL that is only stored doesn't change the type that a parameter has. It only shows in the definitions of result columns. Any other NULL does.
func TestNullsShareStatements(t *testing.T) {
	number, null := wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: []byte("12345678")}, wire.Param{Type: mysql.MYSQL_TYPE_NULL}
	for _, test := range []struct {
		columns int
		stored  Stored
		want    bool
	}{
		{0, Stored{true, true}, true}, {0, Stored{true}, true}, {0, Stored{true, false}, false}, {0, Stored{true, true, false}, false}, {0, nil, false}, {1, Stored{true, true}, false},
	} {
		l := statements{limit: 100}
		l.add(&Statement{key: text0, Columns: test.columns})
		find := func(params ...wire.Param) bool {
			_, ok := l.find(Default, text0.sql, AppendBinding(nil, params, test.stored))
			return ok
		}
		if !find(number, number) || find(null, null) != test.want || !find(number, number) {
			t.Errorf("%+v: not shared as it should be", test)
		}
	}
	l := statements{limit: 100}
	l.add(&Statement{key: text0})
	if _, ok := l.find(Default, text0.sql, AppendBinding(nil, []wire.Param{null, number}, Stored{true})); !ok {
		t.Error("a new statement is not used")
	}
	if _, ok := l.find(Default, text0.sql, AppendBinding(nil, []wire.Param{number, number}, Stored{true})); ok {
		t.Error("a parameter that was NULL so far is used for a number")
	}
	l = statements{limit: 100, forgets: true}
	l.add(&Statement{key: text0})
	for _, p := range []wire.Param{number, null, {Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte("x")}} {
		if _, ok := l.find(Default, text0.sql, AppendBinding(nil, []wire.Param{p}, Stored{true})); !ok || l.len() != 1 {
			t.Error("a statement without result columns is not shared, on a server that keeps nothing")
		}
	}
}

var text0 = text{under: Default, sql: "SELECT ?"}
