package exec

import (
	"slices"
	"strconv"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// repeats reports whether common table expressions are computed before the statement, because the server can't read a temporary table
// twice.
func (g *gathering) repeats() bool {
	return g.plan.Reopens && !g.x.Snapshot.Flavor.ReopensTemporary()
}

// computeRepeated writes the rows of the common table expressions that are read more than once into a temporary table for each read.
func (g *gathering) computeRepeated() error {
	settings, err := g.queryingSettings()
	if err != nil {
		return err
	}
	for n := range g.plan.Repeated {
		r := &g.plan.Repeated[n]
		if err := g.on.lease.Conn.Carry(g.x.Context, settings); err != nil {
			return err
		}
		if err := g.compute(n, r); err != nil {
			return err
		}
		if err := g.on.lease.Conn.Carry(g.x.Context, g.on.plain()); err != nil {
			return err
		}
		if err := g.checkTexts(n, r); err != nil {
			return err
		}
		for read := 1; read < len(r.Reads); read++ {
			sql := "CREATE TEMPORARY TABLE " + r.Temporary(n, read) + " ENGINE = InnoDB AS SELECT * FROM " + r.Temporary(n, 0)
			if err := g.on.create(r.Temporary(n, read), sql); err != nil {
				return err
			}
		}
	}
	return nil
}

// queryingSettings returns the settings under which a query has its meaning, and its rows can be written without an error that reading
// them would not give.
func (g *gathering) queryingSettings() (*backend.Settings, error) {
	if err := g.on.lease.Conn.Carry(g.x.Context, g.x.under()); err != nil {
		return nil, err
	}
	rows, err := g.on.lease.Conn.Own().Query(g.x.Context, "SELECT @@sql_mode")
	if err != nil {
		return nil, err
	}
	modes := slices.DeleteFunc(strings.Split(string(rows.Rows[0][0]), ","), func(mode string) bool {
		return mode == "" || strings.HasPrefix(mode, "STRICT_") || mode == "TRADITIONAL"
	})
	return g.x.under().With("sql_mode", "'"+strings.Join(modes, ",")+"'").
		Without("transaction_read_only").Without("sql_select_limit").Without("max_execution_time"), nil
}

// compute creates the temporary table for the first read of an expression, with its rows.
func (g *gathering) compute(n int, r *plan.Repeated) error {
	conn, name := g.on.lease.Conn, r.Temporary(n, 0)
	if g.x.Facts.ReadsInsertID {
		if _, err := conn.Own().Exec(g.x.Context, "SET last_insert_id = "+strconv.FormatUint(g.x.Vars.InsertID, 10)); err != nil {
			return err
		}
	}
	end := g.x.Values.Offset(r.End)
	edits := slices.DeleteFunc(g.edits(), func(e stmt.Edit) bool { return e.From >= end })
	edits = slices.DeleteFunc(edits, func(e stmt.Edit) bool { return e.From <= g.x.Values.Offset(r.NameEnd) && e.To == end })
	edits = stmt.SortEdits(append(edits, g.withinDefinition(r)...))
	text := "CREATE TEMPORARY TABLE " + name + " ENGINE = InnoDB AS " + string(stmt.AppendPiece(nil, g.x.Values.Text, 0, end, edits)) + " SELECT * FROM " + r.Name
	g.on.made = append(g.on.made, name)
	var err error
	if params := g.paramsBefore(end, edits); len(params) > 0 {
		err = g.executeBound(text, params)
	} else {
		_, err = conn.Own().Exec(g.x.Context, text)
	}
	if err != nil {
		return err
	}
	warned, err := conn.Own().Query(g.x.Context, sysvars.AskWarnings)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(warned.Rows, func(row [][]byte) bool { return string(row[1]) != deprecatedType }) {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a common table expression that is read more than once and gives warnings, over rows of several shards of MySQL: " +
			"write it so that it gives none, or name one owner, ID or order number in WHERE; a SELECT of its query shows them"}
	}
	return nil
}

// deprecatedType is the code of the warning that MySQL gives for a column of a type such as FLOAT(7, 4).
const deprecatedType = "1681"

// executeBound executes a text with values for its placeholders.
func (g *gathering) executeBound(text string, params []wire.Param) error {
	conn, binding := g.on.lease.Conn, backend.AppendBinding(nil, params, nil)
	there, ok := conn.Prepared(text, binding)
	if !ok {
		var err error
		if there, err = conn.PrepareFor(g.x.Context, text, binding); err != nil {
			return err
		}
	}
	out, _ := wire.AppendExecute(nil, wire.Execute{Statement: there.ID, Params: params})
	there.Types = nil
	if err := conn.Send(out, txn.Effects(g.x.Facts)); err != nil {
		return err
	}
	_, err := conn.Outcome()
	return err
}

// checkTexts refuses an expression with a text that is no column, because the server may compare it by other rules than a column.
func (g *gathering) checkTexts(n int, r *plan.Repeated) error {
	rows, err := g.on.lease.Conn.Own().Query(g.x.Context, "SELECT * FROM "+r.Temporary(n, 0)+" LIMIT 0")
	if err != nil {
		return err
	}
	for i, c := range rows.Columns {
		if c.Charset != binaryCharset && !r.Exact(i) {
			return &plan.Refusal{Code: plan.ScatterShape, Message: "a common table expression that is read more than once and computes text, over rows of several shards of MySQL: " +
				"compute it where the expression is read, or name one owner, ID or order number in WHERE"}
		}
	}
	return nil
}

// overRepeated changes edits so that the statement reads the tables of the repeated expressions, and no longer defines these.
func (g *gathering) overRepeated(edits []stmt.Edit) []stmt.Edit {
	for n := range g.plan.Repeated {
		r := &g.plan.Repeated[n]
		edits = append(edits, g.readsOf(n, r)...)
	}
	for n := range g.plan.Repeated {
		r := &g.plan.Repeated[n]
		definition := g.edit(r.NameEnd, r.End, r.Definition())
		edits = slices.DeleteFunc(edits, func(e stmt.Edit) bool { return definition.From <= e.From && e.To <= definition.To })
		edits = append(edits, definition)
	}
	return edits
}

// readsOf returns the edits that make the statement read the tables of the n-th repeated expression.
func (g *gathering) readsOf(n int, r *plan.Repeated) (edits []stmt.Edit) {
	for i := range r.Reads {
		edits = append(edits, g.edit(r.Reads[i].Start, r.Reads[i].End, r.Replacement(n, i)))
	}
	return edits
}

// withinDefinition returns the edits of the definition of a repeated expression, which reads temporary tables of gathered tables and of
// other repeated expressions.
func (g *gathering) withinDefinition(of *plan.Repeated) []stmt.Edit {
	edits := g.named(g.overRows(), g.plan.Unnamed)
	for n := range g.plan.Repeated {
		edits = append(edits, g.readsOf(n, &g.plan.Repeated[n])...)
	}
	from, to := g.x.Values.Offset(of.NameEnd), g.x.Values.Offset(of.End)
	return slices.DeleteFunc(edits, func(e stmt.Edit) bool { return e.From < from || to < e.To })
}
