package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Effect is an effect of a statement on its session.
type Effect uint8

const (
	// Commits: it commits the open transaction before it runs.
	Commits Effect = 1 << iota
	// MayEnd: it may commit or roll back the open transaction. Only the server's answer shows that.
	MayEnd
	// ReleasesAllLocks: it contains RELEASE_ALL_LOCKS().
	ReleasesAllLocks
	// Copies: it creates a table with the rows of a query.
	Copies
	// ReadsSchema: it contains DATABASE() or SCHEMA().
	ReadsSchema
	// TellsOfOne: it is SHOW CREATE or the like, whose rows FOUND_ROWS() doesn't count.
	TellsOfOne
)

// defines reports whether [Facts.Defines] holds for a statement. Temporary tables are session state instead.
func defines(node ast.StmtNode) bool {
	switch n := node.(type) {
	case *ast.CreateTableStmt:
		return n.TemporaryKeyword == ast.TemporaryNone && n.Select == nil
	case *ast.DropTableStmt:
		return n.TemporaryKeyword == ast.TemporaryNone
	case *ast.AlterTableStmt, *ast.RenameTableStmt, *ast.TruncateTableStmt, *ast.CreateIndexStmt, *ast.DropIndexStmt, *ast.CreateViewStmt,
		*ast.CreateSequenceStmt, *ast.DropSequenceStmt, *ast.CreateDatabaseStmt, *ast.AlterDatabaseStmt, *ast.ProcedureInfo, *ast.DropProcedureStmt:
		return true
	}
	return false
}

// endings returns the effects on an open transaction, according to both servers' manuals.
func endings(s *Statement) Effect {
	switch s.Kind {
	case Call:
		return MayEnd
	case DDL:
		if s.Features&TemporaryTable != 0 {
			return 0
		}
		return Commits
	case Lock:
		return Commits
	case LockServers:
		if s.ServerLock == ReadLock {
			return Commits
		}
	case Other:
		switch {
		case committing[s.Verb] && s.Features&TemporaryTable == 0:
			return Commits
		case !lasting[s.Verb]:
			return MayEnd
		}
	default:
	}
	return 0
}

// committing are statements that commit before they run. lasting are those that don't affect a transaction.
var (
	committing = set("ALTER CREATE DROP RENAME TRUNCATE INSTALL UNINSTALL GRANT REVOKE ANALYZE CACHE CHECK FLUSH OPTIMIZE REPAIR RESET")
	lasting    = set("SELECT WITH TABLE VALUES INSERT REPLACE UPDATE DELETE DO SHOW HANDLER CHECKSUM DESCRIBE DESC EXPLAIN")
)

// verb returns the first word in upper case, and leaves the reader before it.
func (r *lexemeReader) verb() string {
	for r.peek().kind == punctuation && r.peek().char == '(' {
		r.next()
	}
	if before := r.list; r.takes("set", "statement") {
		for len(r.list) > 0 && !r.at("for") {
			r.next()
		}
		if r.next(); len(r.list) == 0 {
			r.list = before
		}
	}
	x := r.peek()
	if x.kind != bareWord {
		return ""
	}
	if before := r.list; r.takes("analyze") {
		r.takes("local")
		r.takes("no_write_to_binlog")
		table := r.at("table", "tables")
		if r.list = before; !table { // MariaDB: ANALYZE of a statement, which runs it
			return "EXPLAIN"
		}
	}
	return strings.ToUpper(string(r.l.Text[x.start:x.end]))
}

// effects scans the words of an unparsed text.
func (r *lexemeReader) effects(s *Statement) {
	words := lexemeReader{l: r.l, list: r.list}
	creates := words.takes("create")
	for ; len(words.list) > 0; words.next() {
		if words.at("release_all_locks") {
			s.Effects |= ReleasesAllLocks
		}
		if creates && words.at("select") && !words.l.defines(r.list) {
			s.Effects |= Copies
		}
	}
}

// defines reports whether CREATE creates something other than a table.
func (l *Lexed) defines(list []lexeme) bool {
	r := lexemeReader{l: l, list: list}
	for ; len(r.list) > 0; r.next() {
		if r.at("table") {
			return false
		}
		if r.at("view", "procedure", "function", "trigger", "event", "package", "select") {
			return true
		}
	}
	return true
}

// creates reads CREATE [OR REPLACE] TEMPORARY TABLE [IF NOT EXISTS] name.
func (r *lexemeReader) creates(s *Statement) {
	r.next()
	r.takes("or", "replace")
	if !r.takes("temporary") || !r.takes("table") && !r.takes("sequence") {
		return
	}
	r.takes("if", "not", "exists")
	if t, ok := r.table(); ok {
		s.Created = []TableName{t}
	}
}

// drops reads DROP [TEMPORARY] TABLE [IF EXISTS] name, ….
func (r *lexemeReader) drops(s *Statement) {
	r.next()
	r.takes("temporary")
	if !r.takes("table") && !r.takes("tables") && !r.takes("sequence") {
		return
	}
	r.takes("if", "exists")
	for {
		t, ok := r.table()
		if !ok {
			return
		}
		if s.Dropped = append(s.Dropped, t); !r.takesChar(',') {
			return
		}
	}
}

// renames reads RENAME TABLE name TO name, …, and ALTER TABLE name … RENAME.
func (r *lexemeReader) renames(s *Statement) {
	alters := r.at("alter")
	r.next()
	r.takes("online")
	r.takes("ignore")
	if !r.takes("table") && !r.takes("tables") {
		return
	}
	r.takes("if", "exists")
	for first := true; len(r.list) > 0; first = false {
		if t, ok := r.table(); ok && (first || !alters) {
			s.Renamed = append(s.Renamed, t)
		}
		for len(r.list) > 0 && !r.takesChar(',') {
			r.next()
		}
	}
}
