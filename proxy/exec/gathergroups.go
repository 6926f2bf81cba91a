package exec

import (
	"errors"
	"strings"

	"locus/proxy/gather"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/router/plan"
	"locus/router/stmt"
)

// sumUp gathers the groups that each shard computes from its own rows, if the statement can run over groups.
// There are far fewer groups than rows. If a type or a value might change in this way, it sets nothing, and the
// rows are gathered.
func (g *gathering) sumUp(p *plan.Partial) error {
	piece := g.edit(p.Start, p.End, "")
	edits, ok, err := g.literally(piece, p.Filters)
	if err != nil || !ok || g.x.Vars.Foreign {
		return err
	}
	keys, err := g.keys(p)
	if err != nil {
		return err
	}
	sums, types, err := g.sums(p, string(stmt.AppendPiece(nil, g.x.Values.Text, piece.From, piece.To, edits)))
	if _, unknown := errors.AsType[*gather.TypeError](err); unknown {
		return nil
	}
	if err != nil {
		return err
	}
	defer g.x.Observer.Trace().Enter(trace.Table, p.Alias)()
	if err := g.on.create(p.Temporary(), groupsTable(p, types)); err != nil {
		return err
	}
	g.groups = true
	into := &gather.Table{Conn: g.on.lease.Conn, Name: p.Temporary(), Columns: append(sums, keys...), Left: &g.left}
	var route plan.Route
	queries, err := p.Queries(g.x.Snapshot.Map, g.x.Values, &route, g.groupFields(p, into.Columns), edits)
	if err != nil {
		return err
	}
	conditions := len(g.x.Vars.Conditions)
	err = g.read(queries, into)
	if txn.CodeOf(err) == erOutOfRange { // perhaps a group's sum: the error would show locus' own SQL, so the statement is run over the rows
		g.groups, g.warned, g.x.Vars.Conditions = false, 0, g.x.Vars.Conditions[:conditions]
		return g.on.dropLast()
	}
	return err
}

// erOutOfRange is ER_DATA_OUT_OF_RANGE, which shards return and locus never does.
const erOutOfRange = 1690

// keys returns the types of the group's keys, which are columns.
func (g *gathering) keys(p *plan.Partial) ([]gather.Column, error) {
	if len(p.Keys) == 0 {
		return nil, nil
	}
	rows, err := g.on.lease.Conn.Own().Query(g.x.Context, "SELECT "+strings.Join(p.KeyColumns(), ", ")+noRows(p))
	if err != nil {
		return nil, err
	}
	return gather.OfAll(rows.Columns)
}

// noRows returns a FROM clause with the tables' columns, all of which may be NULL, and no rows.
func noRows(p *plan.Partial) string {
	text := " FROM (SELECT 1) AS `locus_one`"
	for _, t := range p.Tables {
		text += " LEFT JOIN " + t.Name + " AS " + t.Alias + " ON FALSE"
	}
	return text + " LIMIT 0"
}

// sums returns the types of the sums, and the definitions of columns for them. The type of an expression depends on the session's
// variables.
func (g *gathering) sums(p *plan.Partial, from string) (columns []gather.Column, types []string, err error) {
	if len(p.Sums) == 0 {
		return nil, nil, nil
	}
	fields := make([]string, len(p.Sums))
	for i := range p.Sums {
		fields[i] = g.summed(&p.Sums[i])
	}
	// With binary results, texts would look like byte strings.
	if err := g.on.lease.Conn.Carry(g.x.Context, g.x.under().With("character_set_results", "utf8mb4")); err != nil {
		return nil, nil, err
	}
	rows, err := g.on.lease.Conn.Own().Query(g.x.Context, "SELECT "+strings.Join(fields, ", ")+" "+from+"\nLIMIT 0")
	if err != nil {
		return nil, nil, err
	}
	if err := g.on.lease.Conn.Carry(g.x.Context, g.on.plain()); err != nil {
		return nil, nil, err
	}
	for i, d := range rows.Columns {
		if p.Sums[i].Column != "" {
			continue // the key has the type of a table's column
		}
		defined, err := gather.Defined(d)
		if err != nil {
			return nil, nil, err
		}
		types = append(types, defined)
	}
	columns, err = gather.OfAll(rows.Columns)
	return columns, types, err
}

// summed returns the expression of a sum, in the text of the session's statement.
func (g *gathering) summed(s *plan.PartialSum) string {
	return s.Function + "(" + string(g.x.Values.Text[g.x.Values.Offset(s.Start):g.x.Values.Offset(s.End)]) + "\n)"
}

// groupsTable returns the statement that creates the table of the groups. Sums of the given types come first. Columns with exactly
// the type of a table's column follow, such as the keys.
func groupsTable(p *plan.Partial, types []string) string {
	var defined, copied []string
	for i, s := range p.Sums {
		if s.Column == "" {
			defined = append(defined, plan.Quote(s.Name)+" "+types[i]+" NULL")
		} else {
			copied = append(copied, s.Column+" AS "+plan.Quote(s.Name))
		}
	}
	for _, k := range p.Keys {
		copied = append(copied, k.Column+" AS "+plan.Quote(k.Name))
	}
	text := "CREATE TEMPORARY TABLE " + p.Temporary()
	if defined != nil {
		text += " (" + strings.Join(defined, ", ") + ")"
	}
	text += " ENGINE = InnoDB"
	if copied != nil {
		text += " AS SELECT " + strings.Join(copied, ", ") + noRows(p)
	}
	return text
}

// groupFields returns the fields of the query for the groups of a shard.
func (g *gathering) groupFields(p *plan.Partial, columns []gather.Column) []string {
	keys := p.KeyColumns()
	fields := make([]string, len(columns))
	for i, c := range columns {
		if i < len(p.Sums) {
			fields[i] = c.Read(g.summed(&p.Sums[i]))
		} else {
			fields[i] = c.Read(keys[i-len(p.Sums)])
		}
	}
	return fields
}

// overGroups returns the edits that make the statement read the groups.
func (g *gathering) overGroups(p *plan.Partial) []stmt.Edit {
	edits := []stmt.Edit{g.edit(p.Start, p.End, p.Replacement())}
	for _, e := range p.Edits {
		edits = append(edits, g.edit(e.Start, e.End, e.Text))
	}
	return edits
}

// summedUp reports whether a placeholder is in the part of the statement that the groups replace.
func (g *gathering) summedUp(literal stmt.Literal) bool {
	return g.groups && g.edit(g.plan.Partial.Start, g.plan.Partial.End, "").Covers(literal)
}
