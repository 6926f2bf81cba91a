package exec

import (
	"context"
	"slices"
	"strings"

	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// runTemporaryCopy runs a CREATE TEMPORARY TABLE with rows of several shards. The rows of its query are first inserted into another
// temporary table on the session's own connection. From there, the server makes the client's table.
func (x *Execution) runTemporaryCopy(p *plan.TemporaryCopy) error {
	if err := x.guardAll(); err != nil {
		return err
	}
	if err := x.requireUTF8(); err != nil {
		return err
	}
	if err := x.checkRoom(x.Facts.Statement); err != nil {
		return err
	}
	args := new(stmt.Args)
	args.Foreign = x.Vars.Foreign
	args.Reset(p.Lex(x.Values.Lexed), x.Values.Bound)
	own := *x
	own.Values = &plan.Values{Args: args, InsertID: x.Vars.InsertID, UserVariable: x.Values.UserVariable}
	if err := own.beginGathering(p.Gather); err != nil { // before there is a table: the statement may be run again under another map
		return err
	}
	x.Admission = own.Admission
	if slices.Contains(x.Conns.TemporaryTables(), x.FullName(x.Facts.Statement.Tables[0])) {
		return x.createAgain(p)
	}
	var ok wire.OK
	x.Observer.Gathers()
	err := own.gatherAdmitted(p.Gather, func(g *gathering) error {
		text, err := x.emptied(p, p.Query.Start)
		if err != nil {
			return err
		}
		quiet := x.clone()
		quiet.silent = true // the statement itself warns
		if _, err := quiet.createTemporary(p.Shard, slices.Concat([]byte("CREATE TEMPORARY TABLE "+p.Staged+" ENGINE = InnoDB AS "), text), p.Staging); err != nil {
			return err
		}
		defer x.dropTemporary(p)
		if err := g.stage(p); err != nil {
			return err
		}
		ok, err = x.createTemporary(p.Shard, p.Filled(x.Values.Lexed), x.FullName(x.Facts.Statement.Created[0]))
		return err
	})
	if err != nil {
		return err
	}
	return x.Done(ok)
}

// createAgain runs the statement while the session has a temporary table by its name. Servers return an error or, with IF NOT EXISTS, a
// note, and insert nothing.
func (x *Execution) createAgain(p *plan.TemporaryCopy) error {
	text, err := x.emptied(p, p.Text)
	if err != nil {
		return err
	}
	ok, err := x.createTemporary(p.Shard, text, x.FullName(x.Facts.Statement.Created[0]))
	if err != nil {
		return err
	}
	return x.Done(ok)
}

// emptied returns the text of the statement from a position on, with a query that returns no rows.
func (x *Execution) emptied(p *plan.TemporaryCopy, from stmt.Anchor) ([]byte, error) {
	at, empty := x.Values.Offset(from), p.Empty(x.Values.Lexed)
	text, err := x.between(at, empty.From)
	return append(text, empty.Text...), err
}

// createTemporary runs a text that creates a temporary table, and reserves its connection.
func (x *Execution) createTemporary(shard router.ShardName, text []byte, name catalog.TableName) (ok wire.OK, err error) {
	part := x.part(x.Plan, x.Values)
	l, err := x.Conns.AcquireAs(shard, txn.Writes|txn.Temporary, x.under())
	if err != nil {
		return ok, err
	}
	if err := part.send(l, text, nil); err != nil {
		l.Unsent(err)
		return ok, err
	}
	ok, err = l.Conn.Outcome()
	if err != nil {
		l.Fail(err)
		return ok, err
	}
	if ok.Warnings > 0 {
		x.takeWarnings(l)
	}
	if ok.LastInsertID != 0 {
		x.keepInsertID(l, answer{inserted: true, insertID: ok.LastInsertID})
	}
	l.MadeTemporary([]catalog.TableName{name})
	l.Done(l.Conn.Status())
	return ok, nil
}

// stage inserts the rows of the query into the other table, whose columns have the types of its fields. So no value changes.
func (g *gathering) stage(p *plan.TemporaryCopy) error {
	described, err := g.x.query([]Part{{Shard: p.Shard, Text: []byte("SHOW COLUMNS FROM " + p.Staged)}}, txn.Temporary)
	if err != nil {
		return err
	}
	into := plan.Destination{Into: &catalog.Table{TableName: p.Staging}, Batch: p.Batch}
	for i, row := range described[0].Rows {
		kind, _, _ := strings.Cut(string(row[1]), "(")
		kind, _, _ = strings.Cut(kind, " ")
		into.Into.Columns = append(into.Into.Columns, catalog.Column{Name: string(row[0]), DataType: strings.ToLower(kind)})
		into.Columns = append(into.Columns, i)
	}
	if err := g.on.lease.Conn.Carry(g.x.Context, g.x.under()); err != nil {
		return err
	}
	lenient, strict, err := g.on.lenient()
	if err != nil {
		return err
	}
	rows, err := g.on.open(string(g.x.Edited(g.x.Values.Text, g.edits())), g.params())
	if err != nil {
		return err
	}
	writer := *g.x
	writer.settings, writer.Prepared = lenient, nil
	begun := false
	in, err := writer.insertRows(insertion{Rows: plan.Rows{Head: p.Head()}, Plan: p.Batch}, func(add rowAdder) error {
		begun = true
		return g.on.copyOpened(rows, into, add)
	})
	switch {
	case err != nil && !begun:
		return g.on.giveUp(err)
	case err != nil:
		return err
	case in.Warnings > 0, rows.Warnings > 0 && strict:
		return &plan.Refusal{Code: plan.ScatterShape, Message: "the query of a temporary table gives warnings on rows of several shards, for which one server may refuse it: nothing was created; a SELECT shows them, so compare and convert values of the same type"}
	case rows.Warnings > 0:
		g.x.keepWarnings(g.on.lease)
	}
	return nil
}

// dropTemporary drops the other table. If the server doesn't confirm that, the connection is given up.
func (x *Execution) dropTemporary(p *plan.TemporaryCopy) {
	x.Conns.Shield()
	defer x.Conns.Unshield()
	l, err := x.Conns.AcquireAs(p.Shard, txn.Outside|txn.Temporary, x.under())
	if err != nil {
		return // the connection was lost, and the table with it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.Context), txn.UndoTime)
	defer cancel()
	if _, err := l.Conn.Own().Exec(ctx, "DROP TEMPORARY TABLE IF EXISTS "+p.Staged); err != nil {
		l.Lost()
		return
	}
	l.LostTemporary([]catalog.TableName{p.Staging}, nil)
	l.Done(l.Conn.Status())
}
