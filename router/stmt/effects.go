package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Effect marks what a statement does to the session it runs in.
type Effect uint8

const (
	// Commits: it commits the transaction that is open before it runs.
	Commits Effect = 1 << iota
	// MayEnd: it may commit or roll back the transaction that is open; only the
	// server's answer tells.
	MayEnd
	// ReleasesAllLocks: RELEASE_ALL_LOCKS() stands in it.
	ReleasesAllLocks
	// Copies: rows of a query go into a table that it creates.
	Copies
	// ReadsSchema: DATABASE() or SCHEMA() stands in it.
	ReadsSchema
	// TellsOfOne: SHOW CREATE and its kin, whose rows FOUND_ROWS() doesn't count.
	TellsOfOne
)

// defines tells a statement of which [Facts.Defines] holds. Temporary tables are state themselves.
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

// endings tells what becomes of an open transaction, by the manuals of both
// servers.
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

// committing are statements that commit before they run, lasting those that leave
// a transaction as it is.
var (
	committing = set("ALTER CREATE DROP RENAME TRUNCATE INSTALL UNINSTALL GRANT REVOKE ANALYZE CACHE CHECK FLUSH OPTIMIZE REPAIR RESET")
	lasting    = set("SELECT WITH TABLE VALUES INSERT REPLACE UPDATE DELETE DO SHOW HANDLER CHECKSUM DESCRIBE DESC EXPLAIN")
)

// verb gives the first word in capitals, and leaves it the next one to be read.
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
		if r.list = before; !table { // MariaDB: of a statement, which runs
			return "EXPLAIN"
		}
	}
	return strings.ToUpper(string(r.l.Text[x.start:x.end]))
}

// effects looks at the words of an unread text.
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

// defines tells CREATE of something that is no table.
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
