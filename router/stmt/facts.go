package stmt

import (
	"math"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Facts are what the session must know of a statement to follow what it leaves
// behind, begins and ends. Comments and blanks make no difference to them.
type Facts struct {
	// Verb is the first word, in capitals: of SET STATEMENT … FOR that behind FOR.
	Verb    string
	Effects Effect
	// Defines: it makes, changes or drops definitions, and runs none of what they say: neither queries nor triggers. Only what
	// its own text calls is run.
	Defines bool
	// Created are temporary tables that are made. Dropped and Renamed are tables,
	// temporary ones or others, that are gone afterwards, and that may have other
	// names.
	Created, Dropped, Renamed []TableName
	Opening                   *Opening  // Begin
	Mark                      *Mark     // Savepoint
	Handling                  *Handling // Handler
	Branch                    *XABranch // XA
}

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

// Opening is what BEGIN or START TRANSACTION says.
type Opening struct {
	Access   Access
	Snapshot bool // WITH CONSISTENT SNAPSHOT
}

// Access is READ ONLY or READ WRITE.
type Access uint8

const (
	AnyAccess Access = iota
	ReadOnly
	ReadWrite
)

// String is what is written of it.
func (a Access) String() string { return [...]string{"", "READ ONLY", "READ WRITE"}[a] }

// String is the statement, with nothing else that was written around it.
func (o Opening) String() string {
	switch {
	case o.Snapshot && o.Access == AnyAccess:
		return "START TRANSACTION WITH CONSISTENT SNAPSHOT"
	case o.Snapshot:
		return "START TRANSACTION WITH CONSISTENT SNAPSHOT, " + o.Access.String()
	case o.Access != AnyAccess:
		return "START TRANSACTION " + o.Access.String()
	}
	return "BEGIN"
}

// Characteristic is what SET has said of transactions: their isolation level, or whether they read only.
type Characteristic struct {
	What string // "isolation" or "read_only"
	// Next: it was said of the next transaction alone. Else it was said of all to come.
	Next bool
	// Clause is the characteristic as SET TRANSACTION has it. If it was said of all to come it is that of the transaction under
	// way, which has to stay what it was begun as on shards that join it; empty: there is none.
	Clause string
}

// Mark is SAVEPOINT, ROLLBACK TO or RELEASE SAVEPOINT.
type Mark struct {
	Verb string // "savepoint", "rollback", "release"
	Name string
}

// String is the statement, with nothing else that was written around it.
func (m Mark) String() string {
	words := map[string]string{"savepoint": "SAVEPOINT ", "rollback": "ROLLBACK TO SAVEPOINT ", "release": "RELEASE SAVEPOINT "}
	return words[m.Verb] + "`" + strings.ReplaceAll(m.Name, "`", "``") + "`"
}

// Handling is HANDLER.
type Handling struct{ Verb string } // "open", "read", "close"; empty: another one

// XABranch is XA START and its kin.
type XABranch struct {
	Verb string // in lower case, "start" for BEGIN too
	// Names are the one or two texts of the transaction's name. Named: they are
	// known, and so is the rest of the statement.
	Names []string
	Named bool
	// Shape is what is written behind RECOVER, in capitals: CONVERT XID, say.
	Shape string
}

// Note finds the facts of a text that the parser doesn't know, for what is known
// of it so far.
func (l *Lexed) Note(s *Statement) {
	r := lexemeReader{l: l, list: l.lexemes(math.MaxInt)}
	s.Verb = r.verb()
	r.effects(s)
	switch s.Verb {
	case "CREATE":
		r.creates(s)
	case "DROP":
		r.drops(s)
	case "RENAME", "ALTER":
		r.renames(s)
	case "HANDLER":
		s.Handling = r.handling()
	case "XA":
		s.Branch = r.branch()
		s.Verbatim = true
	}
	if s.Assigns = l.userVariables(); s.Assigns != nil { // any of them may be
		s.Features |= SetsUserVariable
	}
	s.Effects |= endings(s)
}

// note is Note of a statement that the parser knows.
func (r *reader) note(node ast.StmtNode) {
	s := r.out
	s.Defines = defines(node)
	scan := lexemeReader{l: r.l, list: r.l.lexemes(maxHead)}
	s.Verb = scan.verb()
	switch n := node.(type) {
	case *ast.CreateTableStmt:
		if n.TemporaryKeyword != ast.TemporaryNone {
			s.Created = tableNamesOf(n.Table)
		}
		if n.Select != nil {
			s.Effects |= Copies
		}
		s.SetsNumber = setsNumber(n.Options)
		r.comment(n.Options)
		if n.ReferTable == nil && len(n.Cols) > 0 {
			s.DefinitionsEnd = r.definitionsEnd()
		}
		if n.IfNotExists {
			if s.IfNotExists = scan.ifNotExists(); s.IfNotExists == nil {
				r.fail("the place of IF NOT EXISTS is not known")
			}
		}
	case *ast.DropTableStmt:
		if !n.IsView {
			s.Dropped = tableNamesOf(n.Tables...)
		}
	case *ast.AlterTableStmt:
		s.SetsNumber = slices.ContainsFunc(n.Specs, func(s *ast.AlterTableSpec) bool { return setsNumber(s.Options) })
		for _, spec := range n.Specs {
			r.comment(spec.Options)
		}
		s.Altering = r.altering(n)
		s.CommentAlone = s.Comment != nil && len(n.Specs) == 1 && len(n.Specs[0].Options) == 1
		if slices.ContainsFunc(n.Specs, func(s *ast.AlterTableSpec) bool { return s.Tp == ast.AlterTableRenameTable }) {
			s.Renamed = tableNamesOf(n.Table)
		}
	case *ast.RenameTableStmt:
		for _, one := range n.TableToTables {
			s.Renamed = append(s.Renamed, tableNamesOf(one.OldTable)...)
		}
	case *ast.ShowStmt:
		if scan.takes("show") && scan.at("create", "profile", "profiles", "grants") {
			s.Effects |= TellsOfOne
		}
	case *ast.BeginStmt:
		if s.Opening = scan.opening(); s.Opening == nil {
			r.fail("no server knows this form of %s", s.Verb)
		}
	case *ast.SavepointStmt, *ast.ReleaseSavepointStmt, *ast.RollbackStmt:
		if s.Kind == Savepoint {
			if s.Mark = scan.mark(); s.Mark == nil {
				r.fail("the savepoint's name is not known")
			}
		}
	}
	s.Effects |= endings(s)
}

func setsNumber(options []*ast.TableOption) bool {
	return slices.ContainsFunc(options, func(o *ast.TableOption) bool { return o.Tp == ast.TableOptionAutoIncrement })
}

// definitionsEnd finds the parenthesis that closes the first one opened.
func (r *reader) definitionsEnd() *Anchor {
	depth := 0
	for _, x := range r.l.lexemes(math.MaxInt) {
		switch {
		case x.kind != punctuation:
		case x.char == '(':
			depth++
		case x.char == ')':
			if depth--; depth == 0 {
				at := r.l.Anchor(x.start)
				return &at
			}
		}
	}
	return nil
}

// ifNotExists finds these words.
func (r lexemeReader) ifNotExists() *Stretch {
	for ; len(r.list) > 0; r.next() {
		if words := r.list; r.takes("if", "not", "exists") {
			return &Stretch{r.l.Anchor(words[0].start), r.l.Anchor(words[2].end)}
		}
	}
	return nil
}

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

// maxHead is how many lexemes of a statement that the parser knows are looked at.
const maxHead = 12

func tableNamesOf(list ...*ast.TableName) (names []TableName) {
	for _, t := range list {
		names = append(names, TableName{t.Schema.O, t.Name.O})
	}
	return names
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

func (r *lexemeReader) handling() *Handling {
	r.next()
	if _, ok := r.table(); ok {
		for _, verb := range []string{"open", "read", "close"} {
			if r.at(verb) {
				return &Handling{Verb: verb}
			}
		}
	}
	return &Handling{}
}

// branch reads what stands behind XA.
func (r *lexemeReader) branch() *XABranch {
	r.next()
	b := &XABranch{}
	if x := r.next(); x.kind == bareWord {
		b.Verb = lower(string(r.l.Text[x.start:x.end]))
	}
	switch b.Verb {
	case "begin":
		b.Verb = "start"
	case "recover":
		b.Named, b.Shape = r.recovers()
		return b
	}
	for more := true; more; more = r.takesChar(',') {
		if len(b.Names) == 2 { // its format, a number
			if r.next().kind != literalLexeme {
				return b
			}
			break
		}
		name, ok := r.text()
		if !ok {
			return b
		}
		b.Names = append(b.Names, name)
	}
	b.Named = r.restOf("join", "resume", "suspend", "for", "migrate", "one", "phase")
	return b
}

// recovers reads what stands behind XA RECOVER.
func (r *lexemeReader) recovers() (known bool, shape string) {
	switch {
	case r.takes("convert", "xid"):
		shape = "CONVERT XID"
	case r.takes("format"):
		if !r.takesChar('=') {
			return false, ""
		}
		format, ok := r.text()
		if !ok || !strings.EqualFold(format, "sql") && !strings.EqualFold(format, "raw") {
			return false, ""
		}
		shape = "FORMAT='" + strings.ToUpper(format) + "'"
	}
	return len(r.list) == 0, shape
}

// restOf tells whether nothing but some words is left.
func (r *lexemeReader) restOf(words ...string) bool {
	for r.at(words...) {
		r.next()
	}
	return len(r.list) == 0
}

// readOpening reads the forms of START TRANSACTION that the parser doesn't know.
func readOpening(l *Lexed) (*Statement, bool) {
	r := lexemeReader{l: l, list: l.lexemes(maxHead)}
	if !r.at("begin", "start") {
		return nil, false
	}
	s := &Statement{Kind: Begin, Counter: counter("begin"), Facts: Facts{Verb: r.verb()}}
	if s.Opening = r.opening(); s.Opening == nil {
		return nil, false
	}
	return s, true
}

// opening reads BEGIN and START TRANSACTION; nil for what no server takes.
func (r *lexemeReader) opening() *Opening {
	o := &Opening{}
	if r.takes("begin") {
		r.takes("work")
		return whole(r, o)
	}
	if !r.takes("start", "transaction") {
		return nil
	}
	for first := true; len(r.list) > 0; first = false {
		switch {
		case !first && !r.takesChar(','):
			return nil
		case !o.Snapshot && r.takes("with", "consistent", "snapshot"):
			o.Snapshot = true
		case o.Access == AnyAccess && r.takes("read", "only"):
			o.Access = ReadOnly
		case o.Access == AnyAccess && r.takes("read", "write"):
			o.Access = ReadWrite
		default:
			return nil
		}
	}
	return o
}

// mark reads a statement on savepoints.
func (r *lexemeReader) mark() *Mark {
	m := &Mark{}
	switch {
	case r.takes("savepoint"):
		m.Verb = "savepoint"
	case r.takes("release", "savepoint"):
		m.Verb = "release"
	case r.takes("rollback"):
		m.Verb = "rollback"
		r.takes("work")
		if !r.takes("to") {
			return nil
		}
		if len(r.list) > 1 {
			r.takes("savepoint")
		}
	}
	var ok bool
	if m.Name, ok = r.name(); !ok || m.Verb == "" {
		return nil
	}
	return whole(r, m)
}

// whole gives what was read, if nothing is left.
func whole[T any](r *lexemeReader, read *T) *T {
	if len(r.list) > 0 {
		return nil
	}
	return read
}
