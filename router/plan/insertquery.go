package plan

import (
	"slices"

	"locus/router/catalog"
	"locus/router/stmt"
)

// Query is an INSERT's query whose rows come from several shards, or go to them:
// it is answered over gathered rows, and its rows are inserted as if they had been
// written as VALUES.
type Query struct {
	// Start is where it begins. What stands before is the head of each INSERT.
	Start  stmt.Anchor
	Gather *Gathering
	Destination
}

// Destination is where rows from elsewhere go.
type Destination struct {
	Into *catalog.Table
	// Columns gives for each field of a row the column, by its position.
	Columns []int
}

// query notes that an INSERT's rows come from a query whose rows are not where they
// go, if it is one that can be answered apart.
func (p *Plan) query(s *stmt.Statement, t *catalog.Table, columns []int) error {
	switch in := s.Insert; {
	case !in.FromSelect:
		return refuse(Unsupported, "INSERT into %s table %s with a query among its values: read the values, then insert them", t.Kind, t.TableName)
	case len(in.Update) > 0:
		return refuse(Unsupported, "ON DUPLICATE KEY UPDATE in an INSERT into %s table %s from a query: read the rows, then insert them", t.Kind, t.TableName)
	case s.Features&stmt.Returning != 0:
		return refuse(Unsupported, "RETURNING in an INSERT into %s table %s from a query: read the rows in a statement of their own", t.Kind, t.TableName)
	case !in.Placed:
		return refuse(Unsupported, "such an INSERT into %s table %s from a query: write INSERT INTO … (…) SELECT …", t.Kind, t.TableName)
	}
	p.Query = &Query{Start: s.Insert.Query, Destination: Destination{t, columns}}
	return nil
}

// gatherQuery says how the query of an INSERT is answered.
func (p *Plan) gatherQuery(l *stmt.Lexed, ctx Context) error {
	if p.Query == nil {
		return nil
	}
	read := p.Query.Lex(l)
	inner, err := stmt.Parse(read)
	if l.Executable {
		return refuse(Unsupported, "executable comments (/*! … */) in an INSERT from a query over several shards: write the text without them")
	}
	if err != nil || inner.Kind != stmt.Select {
		t := p.Query.Into
		return refuse(Unsupported, "an INSERT into %s table %s from what is no SELECT: write INSERT INTO … (…) SELECT …", t.Kind, t.TableName)
	}
	g, reason := planGather(read, inner, ctx)
	if reason != nil {
		return reason
	}
	p.Query.Gather = g
	return nil
}

// Lex reads the query's own text.
func (q *Query) Lex(l *stmt.Lexed) *stmt.Lexed {
	read := new(stmt.Lexed)
	read.Lex(slices.Clone(l.Text[l.Offset(q.Start):]), l.Mode)
	return read
}

// columnsOf gives the columns that an INSERT names, by their positions; of none,
// those that it gives values for.
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
