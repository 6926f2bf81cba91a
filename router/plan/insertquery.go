package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// InsertQuery is an INSERT of a query's rows that come from several shards, or are inserted on several. The query is answered
// from gathered rows. Its rows are inserted as if they had been written as VALUES.
type InsertQuery struct {
	Facts
	// Start and End enclose the query in the text. The text before Start begins each INSERT, and the text after End ends it.
	Start, End stmt.Anchor
	Gather     *Gathering
	Destination
	// raising is inserted into the text after End. It raises the version of a row that is updated.
	raising []Splice
}

func (p *InsertQuery) String() string {
	switch p.Into.Kind {
	case catalog.Sharded:
		return "stamped"
	case catalog.Global:
		return "everywhere"
	case catalog.Single, catalog.Outside:
	}
	return "fixed"
}

// Destination is the table that rows of a query are inserted into.
type Destination struct {
	Into *catalog.Table
	// Columns are the columns of a row's fields, by their positions in the table.
	Columns []int
	// Batch is the plan of each INSERT of a batch of rows as VALUES. Only the rows differ between these INSERTs. The plan inserts
	// nothing after the rows, where the place would depend on them.
	Batch Plan
}

// Rows contains the texts before and after the rows in each INSERT of a batch.
type Rows struct{ Head, Tail string }

// Around returns the text around the rows.
func (p *InsertQuery) Around(v *Values) Rows {
	tail := v.Offset(p.End)
	head := strings.TrimRight(string(v.Text[:v.Offset(p.Start)]), " \t") // a newline may end a comment
	return Rows{head, " " + string(stmt.AppendPiece(nil, v.Text, tail, len(v.Text), Edits(v, p.raising)))}
}

// planBatch plans the INSERTs of batches of rows for the columns of the destination.
func (d *Destination) planBatch(around Rows, mode stmt.Mode, ctx Context) error {
	row := strings.TrimSuffix(strings.Repeat("NULL, ", len(d.Columns)), ", ")
	l := new(stmt.Lexed)
	l.Lex([]byte(around.Head+" VALUES ("+row+")"+around.Tail), mode)
	var err error
	d.Batch, err = Make(l, ctx)
	return err
}

// planInsertQuery plans an INSERT from a query whose rows are on other shards than the table's, if the query can be answered in a
// separate statement.
func planInsertQuery(facts Facts, s *stmt.Statement, t *catalog.Table, columns []int, ctx Context) (Plan, error) {
	switch in := s.Insert; {
	case !in.FromSelect:
		return nil, refuse(Unsupported, "INSERT into %s table %s with a query among its values: read the values, then insert them", t.Kind, t.TableName)
	case s.Features&stmt.Returning != 0:
		return nil, refuse(Unsupported, "RETURNING in an INSERT into %s table %s from a query: read the rows in a statement of their own", t.Kind, t.TableName)
	case !in.Placed:
		return nil, refuse(Unsupported, "such an INSERT into %s table %s from a query: write INSERT INTO … (…) SELECT …", t.Kind, t.TableName)
	}
	p := &InsertQuery{Facts: facts, Start: s.Insert.Query, End: s.Insert.Tail, Destination: Destination{Into: t, Columns: columns}}
	var err error
	p.raising, err = updateTail(s, t, ctx)
	return p, err
}

// updateTail returns the insertion into ON DUPLICATE KEY UPDATE that raises the version. It refuses a clause that would change its
// meaning, or be invalid, after rows that are written as VALUES. The clause may compute with those columns of the table that no
// table of the query has.
func updateTail(s *stmt.Statement, t *catalog.Table, ctx Context) ([]Splice, error) {
	in := s.Insert
	if in.TailQueries {
		return nil, refuse(Unsupported, "a query in ON DUPLICATE KEY UPDATE of an INSERT into %s from a query: read the values first", t.TableName)
	}
	for _, c := range in.TailReads {
		_, own := t.Column(c.Name)
		named := c.Table == "" || strings.EqualFold(c.Table, in.Table.Name)
		if !own || !named || hasColumn(s.Blocks, c, ctx) {
			return nil, refuse(Unsupported, "column %s in ON DUPLICATE KEY UPDATE of an INSERT into %s from a query, which may be the query's: write VALUES(column)", c.Name, t.TableName)
		}
	}
	return onDuplicate(s, t)
}

// hasColumn reports whether the query may have such a column.
func hasColumn(blocks []*stmt.Block, c stmt.ColumnRef, ctx Context) bool {
	for _, b := range blocks {
		for _, ref := range b.Tables {
			if c.Table != "" && !strings.EqualFold(c.Table, ref.Alias) {
				continue
			}
			t, err := ctx.find(ref.TableName)
			if ref.Derived || err != nil || t == nil {
				return true
			}
			if _, has := t.Column(c.Name); has {
				return true
			}
		}
	}
	return false
}

// gather plans how the query is answered, and how its rows are inserted.
func (p *InsertQuery) gather(l *stmt.Lexed, ctx Context) error {
	read := p.Lex(l)
	inner, err := stmt.Parse(read)
	if err != nil || inner.Kind != stmt.Select {
		return refuse(Unsupported, "an INSERT into %s table %s from what is no SELECT: write INSERT INTO … (…) SELECT …", p.Into.Kind, p.Into.TableName)
	}
	if l.Params > read.Params {
		return refuse(Unsupported, "placeholders in ON DUPLICATE KEY UPDATE of an INSERT from a query over several shards: select the values, and write VALUES(column)")
	}
	g, reason := planGather(read, inner, ctx)
	if reason != nil {
		return reason
	}
	p.Gather = g
	values := &Values{Args: new(stmt.Args)}
	values.Reset(l, nil)
	return p.planBatch(p.Around(values), l.Mode, ctx)
}

// Lex returns the text of the query, scanned.
func (p *InsertQuery) Lex(l *stmt.Lexed) *stmt.Lexed {
	read := new(stmt.Lexed)
	read.Lex(slices.Clone(l.Text[l.Offset(p.Start):l.Offset(p.End)]), l.Mode)
	return read
}

// columnsOf returns the columns that an INSERT assigns, by their positions. Without a list of columns, these are all visible
// ones.
func columnsOf(n *stmt.Insertion, t *catalog.Table) ([]int, error) {
	var out []int
	if !n.HasList {
		for i := range t.Columns {
			if !t.Columns[i].Invisible {
				out = append(out, i)
			}
		}
		return out, nil
	}
	for _, name := range n.Columns {
		i, ok := t.Column(name)
		if !ok {
			return nil, refuse(UnknownColumn, "Unknown column '%s' in table %s", name, t.TableName)
		}
		out = append(out, i)
	}
	return out, nil
}
