package plan

import (
	"slices"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// TemporaryCopy is a CREATE TEMPORARY TABLE with the rows of a query over several shards. The shard of the session's temporary tables
// creates another temporary table by the client's query, which returns no rows there: so its columns are those that one server would
// make. The query is answered from gathered rows, which are inserted into that table. The server then runs the client's statement with
// that table in place of the query.
type TemporaryCopy struct {
	Facts
	Shard router.ShardName
	*stmt.Filling
	Gather *Gathering
	// Batch is the plan of the INSERTs of the rows.
	Batch Plan
	// Staging is the other table, and Staged its name in SQL.
	Staging catalog.TableName
	Staged  string
}

// newTemporaryCopy returns the plan without its query's.
func newTemporaryCopy(facts Facts, s *stmt.Statement, ctx Context) *TemporaryCopy {
	name := catalog.TableName{Schema: ctx.schemaOf(s.Tables[0]), Name: "locus_staged"}
	return &TemporaryCopy{Facts: facts, Shard: ctx.Catalog.First(), Filling: s.Filling, Staging: name, Staged: quote(name.Schema) + "." + quote(name.Name)}
}

func (*TemporaryCopy) String() string { return "fixed" }

func (p *TemporaryCopy) explain(e *explainer) {
	var args stmt.Args
	args.Reset(p.Lex(e.v.Lexed), nil)
	inner := &explainer{m: e.m, v: &Values{Args: &args}, r: e.r}
	inner.gathered(p.Gather)
	e.lines = append(e.lines, inner.lines...)
	e.addLine("inserts", "its rows into temporary table %s, on %s", p.Staged, p.Shard)
	e.addLine("text", "%s: %s", p.Shard, p.Filled(e.v.Lexed))
}

// Lex returns the text of the query, scanned.
func (p *TemporaryCopy) Lex(l *stmt.Lexed) *stmt.Lexed {
	read := new(stmt.Lexed)
	read.Lex(slices.Clone(l.Text[l.Offset(p.Query.Start):l.Offset(p.Query.End)]), l.Mode)
	return read
}

// Head is the text before the rows of an INSERT into the other table.
func (p *TemporaryCopy) Head() string { return "INSERT INTO " + p.Staged }

// Filled returns the text of the statement with the other table's rows in place of the query.
func (p *TemporaryCopy) Filled(l *stmt.Lexed) []byte {
	return append(slices.Clone(l.Text[:l.Offset(p.Query.Start)]), " SELECT * FROM "+p.Staged...)
}

// Empty returns the edit that makes the query return no rows. It extends to the end of the text.
func (p *TemporaryCopy) Empty(l *stmt.Lexed) stmt.Edit {
	end := l.Offset(p.Query.End)
	from := end
	if p.Limit != nil {
		from = l.Offset(*p.Limit)
	}
	return stmt.Edit{From: from, To: end, Text: "\nLIMIT 0"}
}

// gather plans how the query is answered, and how its rows are inserted. The query is checked as if the client had sent it by itself.
func (p *TemporaryCopy) gather(l *stmt.Lexed, ctx Context) error {
	read := p.Lex(l)
	if read.Params != l.Params {
		return refuse(Unsupported, "placeholders before the query of a temporary table made from rows of several shards: write the values")
	}
	alone, err := Make(read, ctx)
	if err != nil {
		return err
	}
	if _, is := alone.(*Read); !is {
		return refuse(Unsupported, "a temporary table made from such a query over rows of several shards (views, values of the session): write tables and values in their place")
	}
	inner := alone.About().Statement
	if err := ctx.checkTemporary(inner); err != nil {
		return err
	}
	g, reason := planGather(read, inner, ctx)
	if reason != nil {
		return reason
	}
	p.Gather = g
	with := ctx
	with.Temporary = append(slices.Clone(ctx.Temporary), p.Staging)
	batch := new(stmt.Lexed)
	batch.Lex([]byte(p.Head()+" VALUES (NULL)"), 0)
	p.Batch, err = Make(batch, with)
	return err
}

// checkTemporary refuses a query that reads a temporary table of the session, or that may do so, because its rows are read on other
// connections.
func (c Context) checkTemporary(s *stmt.Statement) error {
	for _, name := range TablesOf(s) {
		if full := c.fullName(name); c.isTemporary(full) || slices.Contains(c.Temporary, catalog.TableName{}) {
			return refuse(ScatterShape, "a read of rows of several shards together with temporary table %s, which one connection has: CREATE TEMPORARY TABLE … SELECT its rows of the shards, and join the two there", full)
		}
	}
	return nil
}
