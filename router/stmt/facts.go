package stmt

import (
	"math"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Facts are the facts about a statement by which the session tracks the state that it leaves, begins and ends. They don't
// depend on comments and blanks.
type Facts struct {
	// Verb is the first word in upper case. For SET STATEMENT … FOR it is the word behind FOR.
	Verb    string
	Effects Effect
	// Defines reports whether it creates, changes or drops definitions without running queries or triggers in them. It runs
	// only what its own text calls.
	Defines bool
	// Created are temporary tables that it creates. Dropped and Renamed are tables, temporary or not, that are gone afterwards
	// or may have other names.
	Created, Dropped, Renamed []TableName
	Opening                   *Opening  // for Begin
	Mark                      *Mark     // for Savepoint
	Handling                  *Handling // for Handler
	Branch                    *XABranch // for XA
}

// Filling is the query whose rows CREATE TABLE … SELECT inserts.
type Filling struct {
	// Text is the start of the statement. Query encloses the query, with parentheses around it.
	Text  Anchor
	Query Stretch
	// Limit is the start of the query's own LIMIT, or nil.
	Limit *Anchor
}

// Handling is a HANDLER statement.
type Handling struct{ Verb string } // "open", "read", "close", or empty for others

// XABranch is XA START or the like.
type XABranch struct {
	Verb string // in lower case; "start" also for BEGIN
	// Names are the one or two strings of the transaction's name. Named reports whether they, and the rest of the statement,
	// are known.
	Names []string
	Named bool
	// Shape is the text behind RECOVER in upper case, such as CONVERT XID.
	Shape string
}

// Note finds the facts of a text that the parser doesn't support, for a partly known statement.
func (l *Lexed) Note(s *Statement) {
	r := lexemeReader{l: l, list: l.lexemes(math.MaxInt)}
	s.Verb = r.verb()
	s.judge(l)
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
	if s.Assigns = l.userVariables(); s.Assigns != nil { // any statement may assign
		s.Features |= SetsUserVariable
	}
	s.Effects |= endings(s)
}

// judge decides by the tokens.
func (s *Statement) judge(l *Lexed) {
	reach := l.Reach()
	s.Unread, s.Files = &reach, reach.Files
}

// note is Note for a statement that the parser supports.
func (r *reader) note(node ast.StmtNode) {
	s := r.out
	s.Defines = defines(node)
	scan := lexemeReader{l: r.l, list: r.l.lexemes(maxHead)}
	s.Verb = scan.verb()
	if s.Files = chosenFiles(node); s.Features&Program != 0 {
		s.judge(r.l)
	}
	switch n := node.(type) {
	case *ast.CreateTableStmt:
		r.create(n, &scan)
	case *ast.DropTableStmt:
		s.IfExists = n.IfExists
		if !n.IsView {
			s.Dropped = tableNamesOf(n.Tables...)
		}
	case *ast.AnalyzeTableStmt:
		s.Verb = "ANALYZE" // also for ALTER TABLE … ANALYZE PARTITION
	case *ast.AlterTableStmt:
		s.maintainsPartitions(n)
		s.Renumbers = slices.ContainsFunc(n.Specs, func(s *ast.AlterTableSpec) bool { return setsNumber(s.Options) })
		for _, spec := range n.Specs {
			r.comment(spec.Options)
			s.foreignKeys(spec.NewColumns, spec.NewConstraints)
			s.dropsKey(spec)
			if spec.Constraint != nil {
				s.foreignKeys(nil, []*ast.Constraint{spec.Constraint})
			}
		}
		s.Altering = r.altering(n)
		s.CommentAlone = s.Comment != nil && len(n.Specs) == 1 && len(n.Specs[0].Options) == 1
		if slices.ContainsFunc(n.Specs, func(s *ast.AlterTableSpec) bool { return s.Tp == ast.AlterTableRenameTable }) {
			s.Renamed = tableNamesOf(n.Table)
		}
		s.Renames, s.RenamesAlone = renames(n), len(n.Specs) == 1
	case *ast.DropIndexStmt:
		s.DroppedKeys = []string{n.IndexName}
	case *ast.TruncateTableStmt:
		s.Renumbers = true
	case *ast.RenameTableStmt:
		s.RenamesAlone = true
		s.IfExists, s.OneDialect = r.renameClauses()
		for _, one := range n.TableToTables {
			names := tableNamesOf(one.OldTable, one.NewTable)
			s.Renamed = append(s.Renamed, names[0])
			s.Renames = append(s.Renames, Rename{names[0], names[1]})
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

// maintainsPartitions gives ALTER TABLE … CHECK PARTITION, OPTIMIZE PARTITION and REPAIR PARTITION the verbs of CHECK TABLE, OPTIMIZE
// TABLE and REPAIR TABLE. They return the same rows.
func (s *Statement) maintainsPartitions(n *ast.AlterTableStmt) {
	if len(n.Specs) != 1 {
		return
	}
	switch n.Specs[0].Tp {
	case ast.AlterTableCheckPartitions:
		s.Verb = "CHECK"
	case ast.AlterTableOptimizePartition:
		s.Verb = "OPTIMIZE"
	case ast.AlterTableRepairPartition:
		s.Verb = "REPAIR"
	default:
	}
}

// create records the table that a CREATE TABLE defines.
func (r *reader) create(n *ast.CreateTableStmt, scan *lexemeReader) {
	s := r.out
	if n.TemporaryKeyword != ast.TemporaryNone {
		s.Created = tableNamesOf(n.Table)
	}
	if n.Select != nil {
		s.Effects |= Copies
		if n.TemporaryKeyword != ast.TemporaryNone {
			s.Filling = r.filling()
		}
	}
	s.Renumbers = true
	s.foreignKeys(n.Cols, n.Constraints)
	r.comment(n.Options)
	if n.ReferTable != nil {
		s.Like = &tableNamesOf(n.ReferTable)[0]
	}
	if n.ReferTable == nil && len(n.Cols) > 0 {
		s.DefinitionsEnd = r.definitionsEnd()
	}
	if n.IfNotExists {
		if s.IfNotExists = scan.ifNotExists(); s.IfNotExists == nil {
			r.fail("the place of IF NOT EXISTS is not known")
		}
	}
}

// filling finds the query of a CREATE TABLE. It is not the list of definitions, which may be in parentheses before it.
func (r *reader) filling() *Filling {
	f := &Filling{Text: r.l.Anchor(0)}
	scan := lexemeReader{l: r.l, list: r.l.lexemes(math.MaxInt)}
	for len(scan.list) > 0 && !scan.takes("table") {
		scan.next()
	}
	scan.takes("if", "not", "exists")
	if _, ok := scan.table(); !ok {
		return nil
	}
	for depth := 0; len(scan.list) > 0; {
		if depth == 0 && scan.atQuery() {
			start := scan.peek().start
			f.Query = Stretch{r.l.Anchor(start), r.l.Anchor(r.l.end())}
			if limit := r.l.clause(start, "limit"); limit >= 0 {
				at := r.l.Anchor(limit)
				f.Limit = &at
			}
			for _, c := range r.l.fetches() {
				if c.depth == 0 && c.start > start && f.Limit == nil {
					at := r.l.Anchor(c.start)
					f.Limit = &at
				}
			}
			return f
		}
		switch x := scan.next(); {
		case x.kind != punctuation:
		case x.char == '(':
			depth++
		case x.char == ')':
			depth--
		}
	}
	return nil
}

// renameClauses reports whether RENAME TABLE has IF EXISTS, and whether it has that or WAIT, which only MariaDB supports.
func (r *reader) renameClauses() (ifExists, oneDialect bool) {
	scan := lexemeReader{l: r.l, list: r.l.lexemes(math.MaxInt)}
	if scan.takes("rename", "table") || scan.takes("rename", "tables") {
		ifExists = scan.takes("if", "exists")
	}
	for oneDialect = ifExists; len(scan.list) > 0; scan.next() {
		oneDialect = oneDialect || scan.at("nowait", "wait")
	}
	return ifExists, oneDialect
}

// atQuery reports whether a query comes next, perhaps in parentheses.
func (r lexemeReader) atQuery() bool {
	for r.takesChar('(') {
	}
	return r.at("select", "with", "table", "values")
}

// renames returns the renames in an ALTER TABLE.
func renames(n *ast.AlterTableStmt) (list []Rename) {
	for _, spec := range n.Specs {
		if spec.Tp == ast.AlterTableRenameTable {
			names := tableNamesOf(n.Table, spec.NewTable)
			list = append(list, Rename{names[0], names[1]})
		}
	}
	return list
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

// ifNotExists finds the words IF NOT EXISTS.
func (r lexemeReader) ifNotExists() *Stretch {
	for ; len(r.list) > 0; r.next() {
		if words := r.list; r.takes("if", "not", "exists") {
			return &Stretch{r.l.Anchor(words[0].start), r.l.Anchor(words[2].end)}
		}
	}
	return nil
}

// maxHead bounds the lexemes examined of a statement that the parser supports.
const maxHead = 12

func tableNamesOf(list ...*ast.TableName) (names []TableName) {
	for _, t := range list {
		names = append(names, TableName{t.Schema.O, t.Name.O})
	}
	return names
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

// branch reads the branch after XA and its verb.
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

// recovers reads the words after XA RECOVER.
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

// restOf reports whether only the given words are left.
func (r *lexemeReader) restOf(words ...string) bool {
	for r.at(words...) {
		r.next()
	}
	return len(r.list) == 0
}

// whole returns read if nothing is left.
func whole[T any](r *lexemeReader, read *T) *T {
	if len(r.list) > 0 {
		return nil
	}
	return read
}
