package plan

import (
	"fmt"
	"slices"

	"locus/router/catalog"
	"locus/router/stmt"
)

// explain adds where each row is inserted, and the text for each shard. A value that is generated at execution is a question
// mark.
func (p *Stamped) explain(e *explainer) {
	in := p.Insert
	genes, err := in.Genes(e.v, nil)
	if err != nil {
		e.refusal(err)
		return
	}
	var shards []int
	of := make([][]int, len(genes)) // the shards of each row; two if the sequence that it is issued decides
	for row, g := range genes {
		if _, _, divided := e.m.Sides(g); divided {
			if reason := in.CheckSide(e.v, row, g); reason != nil {
				e.refusal(reason)
				return
			}
		}
		of[row] = e.shardsOfRow(in, row, g)
		shards = union(shards, of[row])
	}
	root := in.Table.Root()
	e.addLine("shards", "%s", e.shards(shards))
	for row, g := range genes {
		e.addLine("why", "row %d: %s = %s, the %s of %s: gene %s on %s", row+1, root.Column.Name, in.root(e.v, row),
			root.Role, in.Table.TableName, g.Format(e.m.Width()), e.rowShard(of[row]))
	}
	if in.Indexing != nil {
		e.addLine("entries", "of the rows are inserted into %s, in the same transaction", in.Indexing)
		if d := in.Indexing.Duplicates; d != nil {
			e.addLine("duplicates", "are looked for on all shards, for one row after the other: %s", d)
		}
	}
	if err := p.CheckReturning(len(shards)); err != nil {
		e.refusal(err)
		return
	}
	for _, shard := range shards {
		text := p.explainSet(e)
		if !in.Set {
			text = p.explainRows(e, func(row int) bool { return slices.Contains(of[row], shard) })
		}
		if len(shards) > 1 {
			text = string(e.m.Shard(shard)) + ": " + text
		}
		e.addLine("text", "%s", text)
	}
}

// rowShard returns the name of the shard that a row is inserted into.
func (e *explainer) rowShard(shards []int) string {
	if len(shards) == 1 {
		return string(e.m.Shard(shards[0]))
	}
	return fmt.Sprintf("%s or %s, by the sequence that it gets", e.m.Shard(shards[0]), e.m.Shard(shards[1]))
}

func (p *Stamped) explainRows(e *explainer, here func(row int) bool) string {
	in := p.Insert
	w := writer{text: e.v.Text}
	if in.Names() {
		w.upTo(e.v.Offset(in.List))
		for i, s := range in.Added {
			if i > 0 || len(in.Columns) > 0 {
				w.WriteString(", ")
			}
			w.WriteString(in.Table.Columns[in.Column(s)].Name)
		}
	}
	rows := e.v.Args.Rows
	added := p.Added
	for len(added) > 0 && e.v.Offset(added[0].At) <= int(rows[0].Open) {
		w.upTo(e.v.Offset(added[0].At))
		w.WriteString(added[0].Text)
		added = added[1:]
	}
	w.upTo(int(rows[0].Open))
	first := true
	for i, row := range rows {
		if !here(i) {
			continue
		}
		if !first {
			w.WriteString(", ")
		}
		first = false
		w.from = int(row.Open)
		p.explainRow(e, &w, i)
	}
	w.from = int(rows[len(rows)-1].Close) + 1
	for _, s := range added {
		w.upTo(e.v.Offset(s.At))
		w.WriteString(s.Text)
	}
	return w.rest()
}

func (p *Stamped) explainRow(e *explainer, w *writer, i int) {
	in, row := p.Insert, e.v.Args.Rows[i]
	for at, c := range e.v.Cells[row.First : row.First+row.Count] {
		if in.stamps(at) && AsksForValue(in.Value(e.v, i, at)) {
			w.upTo(int(c.Start))
			if at > 0 {
				w.WriteByte(' ')
			}
			w.WriteByte('?')
			w.from = int(c.End)
		}
	}
	w.upTo(int(row.Close))
	for n := range in.Added {
		if n > 0 || row.Count > 0 {
			w.WriteString(", ")
		}
		w.WriteByte('?')
	}
	w.upTo(int(row.Close) + 1)
}

// stamps reports whether the value at a position of a row may be generated.
func (in *Insertion) stamps(at int) bool {
	return at == in.ID || at == in.OrderNumber || at == in.Gene || at == in.Version || at == in.numbered && in.number >= 0
}

func (p *Stamped) explainSet(e *explainer) string {
	in := p.Insert
	w := writer{text: e.v.Text}
	if len(in.Added) > 0 {
		w.upTo(e.v.Offset(in.List))
		for _, s := range in.Added {
			w.WriteString(" " + in.Table.Columns[in.Column(s)].Name + " = ?,")
		}
	}
	for _, s := range p.Added {
		w.upTo(e.v.Offset(s.At))
		w.WriteString(s.Text)
	}
	return w.rest()
}

// bounds returns the bounds of a range. An open end is NULL.
func (v *Values) bounds(c *condition) (low, high stmt.Value) {
	low, high = stmt.Value{Kind: stmt.Null}, stmt.Value{Kind: stmt.Null}
	if c.low != nil {
		low = v.operand(c.low)
	}
	if c.high != nil {
		high = v.operand(c.high)
	}
	return low, high
}

// explain adds how the rows are found, and where they are inserted.
func (p *InsertQuery) explain(e *explainer) {
	var args stmt.Args
	args.Reset(p.Lex(e.v.Lexed), nil)
	inner := &explainer{m: e.m, v: &Values{Args: &args}, r: e.r}
	inner.gathered(p.Gather)
	e.lines = append(e.lines, inner.lines...)
	switch p.Into.Kind {
	case catalog.Sharded:
		root := p.Into.Root()
		e.addLine("inserts", "its rows into %s, each by its %s, the %s, in one transaction", p.Into.TableName, root.Column.Name, root.Role)
	case catalog.Global:
		e.addLine("inserts", "its rows into %s, on all registered shards, in one transaction", p.Into.TableName)
	case catalog.Single:
		e.addLine("inserts", "its rows into %s, on %s", p.Into.TableName, p.Into.Shard)
	case catalog.Outside: // it is refused
	}
}
