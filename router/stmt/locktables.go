package stmt

import (
	"math"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// LockTable is one table of LOCK TABLES.
type LockTable struct {
	TableName
	Alias string // empty: none
	Mode  string // READ, READ LOCAL, WRITE, LOW_PRIORITY WRITE, WRITE CONCURRENT
}

func (r *reader) lockTables(n *ast.LockTablesStmt) {
	r.out.Kind = Lock
	for _, t := range n.TableLocks {
		r.out.LockTables = append(r.out.LockTables, LockTable{TableName: TableName{t.Table.Schema.O, t.Table.Name.O}, Mode: t.Type.String()})
	}
}

// readLocks reads LOCK TABLES with aliases, with LOW_PRIORITY or CONCURRENT, or with WAIT n or NOWAIT, which the parser doesn't support.
// It returns false for other statements.
func readLocks(l *Lexed) (*Statement, bool) {
	r := lexemeReader{l, l.lexemes(math.MaxInt)}
	if !r.takes("lock", "tables") && !r.takes("lock", "table") {
		return nil, false
	}
	s := &Statement{Kind: Lock, Counter: counter("lock_tables")}
	for more := true; more; more = r.takesChar(',') {
		t, ok := r.lockTable()
		if !ok {
			return nil, false
		}
		s.LockTables, s.Tables = append(s.LockTables, t), append(s.Tables, t.TableName)
	}
	switch {
	case r.takes("nowait"):
		s.LockWait = " NOWAIT"
	case r.takes("wait"):
		n := r.next()
		if n.kind != literalLexeme {
			return nil, false
		}
		s.LockWait = " WAIT " + string(l.Text[n.start:n.end])
	}
	if len(r.list) > 0 {
		return nil, false
	}
	l.Note(s)
	s.Verbatim = true
	return s, true
}

// lockTable reads a table and how it is locked.
func (r *lexemeReader) lockTable() (t LockTable, ok bool) {
	if t.TableName, ok = r.table(); !ok {
		return t, false
	}
	low := func() bool {
		x := r.peek()
		return x.kind == bareWord && lower(string(r.l.Text[x.start:x.end])) == "low_priority"
	}
	if r.takes("as") || !r.at("read", "write") && !low() {
		if t.Alias, ok = r.name(); !ok {
			return t, false
		}
	}
	switch {
	case r.takes("read", "local"):
		t.Mode = "READ LOCAL"
	case r.takes("read"):
		t.Mode = "READ"
	case low():
		if r.next(); r.takes("write") {
			t.Mode = "LOW_PRIORITY WRITE"
		}
	case r.takes("write", "concurrent"):
		t.Mode = "WRITE CONCURRENT"
	case r.takes("write"):
		t.Mode = "WRITE"
	}
	return t, t.Mode != ""
}
