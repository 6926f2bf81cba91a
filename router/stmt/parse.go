package stmt

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // literals of the parser
)

// SyntaxError means that the parser refuses a text. The server may still accept it.
type SyntaxError struct{ Reason string }

func (e *SyntaxError) Error() string { return "cannot read the statement: " + e.Reason }

// Parse reads the text in l. It takes tens of microseconds and is meant to run once per key. The positions in the
// result are valid for every text of l's key.
func Parse(l *Lexed) (*Statement, error) {
	if u, ok := errors.AsType[*Uncertain](l.Err); ok {
		return nil, u
	}
	if l.Err != nil {
		return nil, &SyntaxError{l.Err.Error()}
	}
	if s, ok := readKill(l); ok {
		return s, nil
	}
	if err := l.tooLarge(); err != nil {
		return nil, err
	}
	node, returned, err := nodes(l)
	if err != nil {
		if s, ok := readPrepared(l); ok {
			return s, nil
		}
		if s, ok := readDiagnostics(l); ok {
			return s, nil
		}
		if s, ok := readOpening(l); ok {
			return s, nil
		}
		if s, ok := readExplained(l); ok {
			return s, nil
		}
		if s, ok := readInstanceLock(l); ok {
			return s, nil
		}
		if s, ok := readLocks(l); ok {
			return s, nil
		}
		return nil, err
	}
	r := newReader(l)
	r.survey(node)
	if returned != nil {
		r.out.Features |= Returning
		r.survey(returned)
	}
	r.statement(node)
	r.unvisited(node)
	r.note(node)
	r.out.Counter = counter(counterOf(node))
	r.link()
	r.unplaced()
	r.intoTargets()
	r.ownPlaces()
	if r.err != nil {
		return nil, r.err
	}
	r.out.Hints, r.out.Limited, r.out.Examined = l.Hints(), l.limitEnd > 0, len(l.examined()) > 0
	return r.out, nil
}

// tree runs the parser. If the parser panics, the text counts as unreadable, since the process also serves others.
func tree(l *Lexed, text string) (node ast.StmtNode, err error) {
	if err := l.tooLarge(); err != nil {
		return nil, err
	}
	p := parsers.Get().(*parser.Parser)
	defer func() {
		if panicked := recover(); panicked != nil {
			node, err = nil, &SyntaxError{fmt.Sprintf("the parser gave up: %v", panicked)}
			return
		}
		parsers.Put(p)
	}()
	p.SetSQLMode(parserMode(l.Mode))
	nodes, _, err := p.ParseSQL(text)
	if err != nil {
		return nil, &SyntaxError{strings.TrimSpace(err.Error())}
	}
	if len(nodes) != 1 {
		return nil, &SyntaxError{fmt.Sprintf("%d statements in one text", len(nodes))}
	}
	return nodes[0], nil
}

func parserMode(m Mode) mysql.SQLMode {
	var mode mysql.SQLMode
	if m&AnsiQuotes != 0 {
		mode |= mysql.ModeANSIQuotes
	}
	if m&NoBackslash != 0 {
		mode |= mysql.ModeNoBackslashEscapes
	}
	if m&PipesConcat != 0 {
		mode |= mysql.ModePipesAsConcat
	}
	if m&IgnoreSpace != 0 {
		mode |= mysql.ModeIgnoreSpace
	}
	if m&HighNot != 0 {
		mode |= mysql.ModeHighNotPrecedence
	}
	return mode
}

// reader converts one syntax tree to our statement.
type reader struct {
	l    *Lexed
	out  *Statement
	ctes []cte // visible ones, the innermost last
	// tables are all tables that the tree names. placed are those that belong to some block.
	tables []*ast.TableName
	placed map[*ast.TableName]bool
	// blocks are those made from a SELECT. links run once all blocks are made.
	blocks  map[*ast.SelectStmt]*Block
	links   []func()
	strings map[string]bool // the text's strings, once needed
	assigns map[string]bool // user variables, in lower case
	owned   int             // places that refer to the session
	// unqualified reports whether some of them are tables of the schema locus named without it.
	unqualified bool
	// hidden are the names among these tables that common table expressions hide.
	hidden []string
	// usesLock reports whether IS_USED_LOCK() occurs.
	usesLock bool
	// filtering are the MATCH … AGAINST that are only conditions. ranked reports whether a block has LIMIT without ORDER BY.
	filtering map[*ast.MatchAgainst]bool
	ranked    bool
	counted   int   // tables
	err       error // the first error

	// For FindPlaces only:
	places *Places
	refs   map[*ast.TableName]tableAt
	opened map[*int]int // number of reads of each common table expression
	// outermost is the WITH clause of the statement. commonReads are the places that read its expressions, by their numbers.
	// reopensOther reports whether another expression is read more than once.
	outermost    *ast.WithClause
	commonReads  map[*ast.TableName]int
	reopensOther bool
	conjuncts    []rawConjunct
}

// tableAt is one table of a block.
type tableAt struct {
	block *Block
	index int
}

func newReader(l *Lexed) *reader {
	return &reader{l: l, out: &Statement{}, placed: map[*ast.TableName]bool{}, blocks: map[*ast.SelectStmt]*Block{}}
}

// link connects conditions and derived tables with the blocks that they read.
func (r *reader) link() {
	for _, l := range r.links {
		l()
	}
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &SyntaxError{fmt.Sprintf(format, args...)}
	}
}

func (r *reader) statement(node ast.StmtNode) {
	switch n := node.(type) {
	case *ast.SelectStmt:
		r.out.Kind = Select
		r.selectBlock(n, nil)
	case *ast.SetOprStmt:
		r.out.Kind = Select
		r.union(n, nil)
	case *ast.InsertStmt:
		r.insert(n)
	case *ast.UpdateStmt:
		r.update(n)
	case *ast.DeleteStmt:
		r.delete(n)
	case *ast.SetStmt:
		r.out.Kind = Set
		r.set(n)
	case *ast.ExplainStmt:
		r.explain(n)
	case *ast.UseStmt:
		r.out.Kind, r.out.Schema = Use, n.DBName
		if !utf8.Valid(r.l.Text) { // the parser would change the name
			r.out.Schema = r.l.used()
		}
	case *ast.ShowStmt:
		r.show(n)
	default:
		r.simple(node)
	}
}

// used returns the name behind USE, as written.
func (l *Lexed) used() string {
	scan := tokens{l: l}
	verb, _ := scan.next()
	at := l.behindBlanks(verb.end)
	if at < len(l.Text) && l.Text[at] == '`' {
		if end := quotedEnd(l.Text, at, false); end > 0 {
			return strings.ReplaceAll(string(l.Text[at+1:end-1]), "``", "`")
		}
	}
	return string(l.Text[at:wordEnd(l.Text, at)])
}

// unplaced is a safety check: a query's table that belongs to no block would be invisible to routing.
func (r *reader) unplaced() {
	switch r.out.Kind {
	case Select, Insert, Replace, Update, Delete:
	default:
		return
	}
	for _, t := range r.tables {
		if !r.placed[t] {
			r.fail("table %s is named in an unexpected place", t.Name.O)
		}
	}
}

// simple handles the statements for which only the kind matters.
func (r *reader) simple(node ast.StmtNode) { //nolint:funlen // one line for each kind
	switch n := node.(type) {
	case *ast.BeginStmt:
		r.out.Kind = Begin
	case *ast.CommitStmt:
		r.out.Kind = Commit
		r.completion(n.CompletionType)
	case *ast.RollbackStmt:
		r.out.Kind = Rollback
		if n.SavepointName != "" {
			r.out.Kind = Savepoint
		}
		r.completion(n.CompletionType)
	case *ast.SavepointStmt, *ast.ReleaseSavepointStmt:
		r.out.Kind = Savepoint
	case *ast.CreateDatabaseStmt:
		r.out.Kind, r.out.Schema = CreateSchema, n.Name.O
	case *ast.AlterDatabaseStmt:
		r.out.Kind, r.out.Schema = CreateSchema, n.Name.O
	case *ast.DropDatabaseStmt:
		r.out.Kind, r.out.Schema = CreateSchema, n.Name.O
		r.out.Features |= DropsSchema
	case *ast.CreateTableStmt:
		r.out.Kind = DDL
		if n.TemporaryKeyword != ast.TemporaryNone {
			r.out.Features |= TemporaryTable
		} else {
			r.out.Features |= MakesTable
		}
	case *ast.DropTableStmt:
		r.out.Kind = DDL
		switch {
		case n.TemporaryKeyword != ast.TemporaryNone:
			r.out.Features |= TemporaryTable
		case !n.IsView:
			r.out.Features |= Redefines
		}
		r.out.View = n.IsView
	case *ast.KillStmt:
		r.out.Kind = Kill
	case *ast.CallStmt:
		r.call(n)
	case *ast.LockTablesStmt:
		r.lockTables(n)
	case *ast.UnlockTablesStmt:
		r.out.Kind = Unlock
	case *ast.PrepareStmt, *ast.ExecuteStmt, *ast.DeallocateStmt:
		r.textPrepare(n)
	case *ast.LoadDataStmt:
		r.loadData(n)
	case *ast.GrantProxyStmt, *ast.CreateUserStmt, *ast.AlterUserStmt,
		*ast.DropUserStmt, *ast.GrantStmt, *ast.RevokeStmt, *ast.GrantRoleStmt, *ast.RevokeRoleStmt, *ast.RenameUserStmt:
		r.out.Kind = Account
	case *ast.FlushStmt:
		r.out.Kind = Admin
		switch {
		case n.Tp == ast.FlushTables && n.ReadLock && len(n.Tables) == 0:
			r.out.Kind, r.out.ServerLock = LockServers, ReadLock
		case n.Tp == ast.FlushTables && !n.ReadLock, n.Tp == ast.FlushStatus: // these commit, and leave no state
			r.out.Kind = DDL
		}
		if n.Tp == ast.FlushStatus {
			r.out.Features |= ClearsStatus
		}
	case *ast.ProcedureInfo, *ast.DropProcedureStmt:
		r.out.Kind = DDL
		r.out.Features |= Program
	case *ast.TruncateTableStmt, *ast.CreateIndexStmt, *ast.DropIndexStmt:
		r.out.Kind = DDL
		r.out.Features |= Redefines
	case *ast.AlterTableStmt:
		r.out.Kind = DDL
		switch {
		case slices.ContainsFunc(n.Specs, func(s *ast.AlterTableSpec) bool {
			return s.Tp == ast.AlterTableImportTablespace || s.Tp == ast.AlterTableDiscardTablespace ||
				s.Tp == ast.AlterTableImportPartitionTablespace || s.Tp == ast.AlterTableDiscardPartitionTablespace
		}): // files of the server
			r.out.Kind = Admin
		case len(n.Specs) == 1 && (n.Specs[0].Tp == ast.AlterTableDisableKeys || n.Specs[0].Tp == ast.AlterTableEnableKeys):
			r.out.Features |= SwitchesKeys
		case !slices.ContainsFunc(n.Specs, func(s *ast.AlterTableSpec) bool { return s.Tp == ast.AlterTableRenameTable }):
			r.out.Features |= Redefines
		}
	case *ast.CreateViewStmt:
		r.out.Kind, r.out.View, r.out.Ordered = DDL, true, ordered(n.Select)
		r.out.Varies = bytes.ContainsFunc(r.l.Text, func(c rune) bool { return c == '\\' || c >= 0x80 })
	case *ast.RenameTableStmt, *ast.OptimizeTableStmt, *ast.CreateSequenceStmt, *ast.AlterSequenceStmt, *ast.DropSequenceStmt:
		r.out.Kind = DDL
	case *ast.DoStmt, *ast.AnalyzeTableStmt, *ast.HelpStmt:
		r.out.Kind = Other
	case *ast.SetRoleStmt, *ast.SetDefaultRoleStmt, *ast.SetPwdStmt:
		r.out.Kind = Account
	default: // it accesses the server, is for servers other than shards, or is new in the parser
		r.out.Kind = Admin
	}
}

func (r *reader) completion(t ast.CompletionType) {
	switch t {
	case ast.CompletionTypeChain:
		r.out.Features |= AndChain
	case ast.CompletionTypeRelease:
		r.out.Features |= Release
	case ast.CompletionTypeDefault:
	}
}

// explain records where the explained text begins. It is planned separately.
func (r *reader) explain(n *ast.ExplainStmt) {
	r.out.Kind, r.out.Analyzes, r.out.Formatted = Explain, n.Analyze, n.Format != "" && n.Format != "row"
	if show, ok := n.Stmt.(*ast.ShowStmt); ok { // DESCRIBE t
		r.out.Kind, r.out.Schema = Show, show.DBName
		if what, _ := r.ownSchema(show); what == "columns" {
			r.show(show)
			if at, ok := r.l.describedWild(); ok {
				r.out.Shown.Clause = "LIKE " + string(r.l.Text[at.start:at.end])
			}
		}
		return
	}
	r.out.Inner = r.l.clause(0, "select", "insert", "replace", "update", "delete", "with", "table", "values")
	if open := r.l.opening(0); open >= 0 && (open < r.out.Inner || r.out.Inner < 0) { // EXPLAIN (SELECT …)
		r.out.Inner = open
	}
	if r.out.Inner < 0 { // for example, it explains another connection's statement
		r.out.Kind = Admin
	}
}
