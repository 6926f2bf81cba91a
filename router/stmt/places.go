package stmt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// Places describes a SELECT so that its tables can be replaced: the position of each table in the text, its columns
// that are used, and the conditions on it alone.
type Places struct {
	Statement *Statement
	// Tables are the tables of all blocks, without derived ones, by block and index.
	Tables []TablePlace
	// Conjuncts are conditions that must all hold, with a position in the text.
	Conjuncts []Conjunct
	// Names are all column names, in lower case.
	Names map[string]bool
	// Qualifiers maps such a name to the names before it, in lower case: names of tables, or "".
	Qualifiers map[string][]string
	// Star reports whether a field is * or t.*, or a statement is TABLE name.
	Star bool
	// Qualified reports whether a column is written with its database, as in db.t.c.
	Qualified bool
	// Obstacle is a part of the text that can't name another table, such as a partition's name. It is empty if there
	// is none.
	Obstacle string
	// Unnamed are the fields whose text is their column's name.
	Unnamed []UnnamedPlace
	// Plain are the columns that are fields without an alias.
	Plain []PlainField
	// Reopens reports whether a common table expression, and so the tables that it reads, is read more than once.
	Reopens bool
	// Common are the common table expressions of the outermost WITH clause. Nil means that their positions are not known, or that
	// others are read more than once too.
	Common []CommonTable
	// Summary is set for a SELECT of one block if all its places are known.
	Summary *Summary

	reader *reader
}

// PlainField is a column that is a field without an alias. Its column is called Name.
type PlainField struct {
	End  Anchor
	Name string
}

// TablePlace is the position of a table's name, including its schema. For the statement TABLE name it is the position
// of that statement.
type TablePlace struct {
	Block      *Block
	Index      int
	Start, End Anchor
	// Statement reports whether it is TABLE name.
	Statement bool
	// Hints name indexes that a replacing table would not have.
	Hints IndexHints
}

// UnnamedPlace is the position of a field without an alias.
type UnnamedPlace struct{ Start, End Anchor }

// Conjunct is a condition that rows of Tables[First:Last] of a block must satisfy to take part. It is part of WHERE or
// of an ON.
type Conjunct struct {
	Block       *Block
	First, Last int
	// Outer reports whether it belongs to an outer join. Rows of its other side take part without it.
	Outer      bool
	Start, End Anchor
	Columns    []ColumnRef
	// Condition is the condition on the columns; nil if it is not known.
	Condition *Condition
}

// FindPlaces reads a SELECT again to find its places. A second parse confirms every place: with another name there, or
// by itself, the text must parse as before.
func FindPlaces(l *Lexed) (*Places, error) {
	node, _, err := nodes(l)
	if err != nil {
		return nil, err
	}
	r := newReader(l)
	r.places, r.opened = &Places{Statement: r.out, Names: map[string]bool{}, Qualifiers: map[string][]string{}, reader: r}, map[*int]int{}
	r.outermost, r.commonReads = outermostWith(node), map[*ast.TableName]int{}
	r.survey(node)
	r.statement(node)
	r.link()
	r.unplaced()
	if r.places.Reopens && !r.reopensOther {
		r.places.Common, _ = r.commonTables(r.outermost)
	}
	if r.err == nil {
		r.err = r.placeTables(node)
	}
	if r.err != nil {
		return nil, r.err
	}
	p := r.places
	node.Accept(&placer{p})
	p.Summary = r.summary(node)
	slices.SortFunc(p.Tables, func(a, b TablePlace) int { return l.Offset(a.Start) - l.Offset(b.Start) })
	for i := range p.Common {
		slices.SortFunc(p.Common[i].Reads, func(a, b CommonRead) int { return l.Offset(a.Start) - l.Offset(b.Start) })
	}
	for _, u := range r.out.Unnamed {
		p.Unnamed = append(p.Unnamed, UnnamedPlace{l.Anchor(u.Start), l.Anchor(u.End)})
	}
	for _, c := range r.conjuncts {
		found, ok, sequenced := r.conjunct(c)
		if sequenced { // the rows that it sees, and so their numbers, depend on the conditions before it
			break
		}
		if ok {
			p.Conjuncts = append(p.Conjuncts, found)
		}
	}
	return p, nil
}

// name adds a column's name.
func (p *Places) name(column, qualifier string) {
	p.Names[column] = true
	p.Qualifiers[column] = append(p.Qualifiers[column], qualifier)
}

// Refers reports whether a column of a table with an alias may be named.
func (p *Places) Refers(alias, column string) bool {
	return slices.ContainsFunc(p.Qualifiers[lower(column)], func(of string) bool { return of == "" || of == lower(alias) })
}

// placer collects column names and obstacles.
type placer struct{ p *Places }

func (v *placer) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.ColumnName:
		v.p.name(lower(n.Name.O), lower(n.Table.O))
		v.p.Qualified = v.p.Qualified || n.Schema.O != ""
	case *ast.TableName:
		switch {
		case len(n.PartitionNames) > 0:
			v.p.Obstacle = "PARTITION (…)"
		case n.TableSample != nil || n.AsOf != nil:
			v.p.Obstacle = "what stands behind a table's name"
		}
	case *ast.SelectField:
		if n.WildCard != nil {
			v.p.Star, v.p.Qualified = true, v.p.Qualified || n.WildCard.Schema.O != ""
		}
	case *ast.MatchAgainst:
		v.p.Obstacle = "MATCH … AGAINST"
	case *ast.Join:
		for _, c := range n.Using {
			v.p.name(lower(c.Name.O), "")
		}
	}
	return n, false
}

func (v *placer) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// placeMark is the prefix of the names that replace tables in the second parse.
const placeMark = "locus_place_"

// placeTables finds the tables' names in the text.
func (r *reader) placeTables(node ast.StmtNode) error {
	found := r.l.tableNames()
	hints := make([]IndexHints, len(found))
	text := r.l.readable()
	var with strings.Builder
	from := 0
	for i, f := range found {
		with.WriteString(text[from:f.start])
		with.WriteString(" `" + placeMark + strconv.Itoa(i) + "` ")
		from = f.end
		if at, said := r.l.indexHints(f.end); said != "" {
			with.WriteString(text[from:at.start])
			from = at.end
			hints[i] = IndexHints{r.l.Anchor(at.start), r.l.Anchor(at.end), said}
		}
	}
	with.WriteString(text[from:])
	other, err := tree(r.l, with.String())
	if err != nil {
		return &SyntaxError{"a table's name has no known place"}
	}
	names := tableNames(other)
	if len(names) != len(r.tables) {
		return &SyntaxError{"a table's name has no known place"}
	}
	for i, n := range names {
		at := markOf(n.Name.O, len(found))
		here := r.tables[i]
		n.Name, n.Schema = here.Name, here.Schema
		if at >= 0 && (len(here.IndexHints) > 0) != (hints[at].Text != "") || len(n.IndexHints) > 0 {
			return &SyntaxError{"an index hint has no known place"}
		}
		n.IndexHints = here.IndexHints
		ref, ok := r.refs[here]
		common, reads := r.commonReads[here]
		switch {
		case reads && common < len(r.places.Common):
			if at < 0 {
				return &SyntaxError{"a table's name has no known place"}
			}
			start, statement := r.l.tableStatement(found[at].start)
			t := &r.places.Common[common]
			t.Reads = append(t.Reads, CommonRead{r.l.Anchor(start), r.l.Anchor(found[at].end), statement})
		case !ok:
		case at < 0:
			return &SyntaxError{"a table's name has no known place"}
		default:
			start, statement := r.l.tableStatement(found[at].start)
			r.places.Star = r.places.Star || statement
			r.places.Tables = append(r.places.Tables, TablePlace{ref.block, ref.index, r.l.Anchor(start), r.l.Anchor(found[at].end), statement, hints[at]})
		}
	}
	if !alike(node, other) {
		return &SyntaxError{"a table's name has no known place"}
	}
	return nil
}

// tableStatement returns the position of TABLE directly before a name, or else the position of the name.
func (l *Lexed) tableStatement(name int) (start int, is bool) {
	list := l.pieces()
	i, ok := slices.BinarySearchFunc(list, name, func(p piece, at int) int { return p.start - at })
	if !ok || i == 0 || list[i-1].kind != 'w' || !isWord(l.Text[list[i-1].start:list[i-1].end], "table") {
		return name, false
	}
	return list[i-1].start, true
}

// markOf returns the number in a mark's name, below most, or -1 if it isn't a mark.
func markOf(name string, most int) int {
	number, ok := strings.CutPrefix(name, placeMark)
	if i, err := strconv.Atoi(number); ok && err == nil && 0 <= i && i < most && strconv.Itoa(i) == number {
		return i
	}
	return -1
}

type tableCollector struct{ names []*ast.TableName }

func (v *tableCollector) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableName); ok {
		v.names = append(v.names, t)
	}
	return n, false
}

func (v *tableCollector) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func tableNames(n ast.Node) []*ast.TableName {
	var v tableCollector
	n.Accept(&v)
	return v.names
}

// alike reports whether two trees are equal. It compares their printed forms, which are never run.
func alike(a, b ast.Node) bool {
	var x, y strings.Builder
	if a.Restore(format.NewRestoreCtx(format.DefaultRestoreFlags, &x)) != nil || b.Restore(format.NewRestoreCtx(format.DefaultRestoreFlags, &y)) != nil {
		return false
	}
	return x.String() == y.String()
}

// Terms returns all conditions that must hold and whose text is known, also those that depend on more than their row's values.
func (p *Places) Terms() (terms []Conjunct) {
	for _, c := range p.reader.conjuncts {
		if found, ok := p.reader.term(c); ok {
			terms = append(terms, found)
		}
	}
	return terms
}

// conjunct finds the text of a condition if it depends only on its row's values. sequenced reports whether it depends on
// the row's number.
func (r *reader) conjunct(c rawConjunct) (found Conjunct, ok, sequenced bool) {
	var pure purity
	c.expression.Accept(&pure)
	if pure.impure {
		return Conjunct{}, false, pure.sequenced
	}
	found, ok = r.term(c)
	found.Columns, found.Condition = pure.columns, r.condition(c.expression)
	return found, ok, false
}

// term finds the text of a condition.
func (r *reader) term(c rawConjunct) (found Conjunct, ok bool) {
	start := c.expression.OriginTextPosition()
	if start <= 0 {
		return Conjunct{}, false
	}
	end := r.l.conditionEnd(start)
	if end <= start {
		return Conjunct{}, false
	}
	text := r.l.readable()
	again, err := tree(r.l, "SELECT 1 FROM a WHERE "+text[start:end])
	if err != nil {
		return Conjunct{}, false
	}
	if s, ok := again.(*ast.SelectStmt); !ok || s.Where == nil || s.GroupBy != nil || s.OrderBy != nil || s.Limit != nil || !alike(s.Where, c.expression) {
		return Conjunct{}, false
	}
	return Conjunct{
		Block: c.block, First: c.first, Last: c.last, Outer: c.outer,
		Start: r.l.Anchor(start), End: r.l.Anchor(end),
	}, true
}

// rawConjunct is a condition of the syntax tree.
type rawConjunct struct {
	block       *Block
	expression  ast.ExprNode
	first, last int // last -1: all tables of the block
	outer       bool
}

// noteConjuncts records the parts of a condition that must all hold.
func (r *reader) noteConjuncts(b *Block, e ast.ExprNode, first, last int, outer bool) {
	if r.places == nil || e == nil {
		return
	}
	if p, ok := e.(*ast.ParenthesesExpr); ok {
		if inner, ok := unwrap(p).(*ast.BinaryOperationExpr); ok && isAnd(inner) {
			e = inner
		}
	}
	if and, ok := e.(*ast.BinaryOperationExpr); ok && isAnd(and) {
		r.noteConjuncts(b, and.L, first, last, outer)
		r.noteConjuncts(b, and.R, first, last, outer)
		return
	}
	r.conjuncts = append(r.conjuncts, rawConjunct{b, e, first, last, outer})
}

// purity finds parts of a condition that depend on more than one row's values.
type purity struct {
	impure    bool
	sequenced bool
	columns   []ColumnRef
}

func (v *purity) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SubqueryExpr, *ast.VariableExpr, *ast.AggregateFuncExpr, *ast.WindowFuncExpr, *ast.DefaultExpr, *ast.ValuesExpr, *ast.MatchAgainst:
		v.impure = true
	case *ast.FuncCallExpr:
		v.impure = v.impure || !scalar(n) || volatiles[n.FnName.L] || clocks[n.FnName.L] || n.FnName.L == "any_value" || n.FnName.L == "database" || n.FnName.L == "schema"
		v.sequenced = v.sequenced || oneServer(n)
	case *ast.ColumnName:
		v.columns = append(v.columns, columnRef(n))
	}
	return n, false
}

func (v *purity) Leave(n ast.Node) (ast.Node, bool) { return n, true }
