package session

import (
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/gather"
	"locus/router/plan"
	"locus/router/stmt"
)

// begin has all rows that a shard gives be of one moment: they are read in a
// transaction, the client's or one of the statement's own.
func (g *gathering) begin() (end func(error) error, err error) {
	if g.txn.running() || !g.vars.Autocommit {
		return func(err error) error { return err }, nil
	}
	g.own = true
	g.txn.open(stmt.Opening{Access: stmt.ReadOnly})
	return func(err error) error {
		g.rollback(g.txn.branches)
		next := g.txn.next
		g.txn.end()
		g.txn.next, g.txn.lost = next, false
		return err
	}, nil
}

// read has every shard that may have rows of a table give them, and writes them.
func (g *gathering) read(text string, into *gather.Table) error {
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(text), g.vars.Mode)
	p, err := plan.Make(lexed, plan.Context{Catalog: g.r.world.Catalog, Schema: g.Session.vars.Settings.Database()})
	if err != nil {
		return err
	}
	args := new(stmt.Args)
	args.Foreign = g.vars.Foreign
	args.Reset(lexed, nil)
	r := g.onBehalf(g.r, p, args, []byte(text))
	if err := g.narrow(r); err != nil {
		return err
	}
	leases, err := g.sendAllOf(r)
	if err != nil {
		return err
	}
	drain := 64 << 10
	if !g.own {
		drain = 1 << 62
	}
	return g.collect(leases, into, drain)
}

// narrow finds the shards of a table's rows.
func (g *gathering) narrow(r *request) error {
	m := r.world.Map
	switch r.plan.Place {
	case plan.Keyed:
		if err := r.plan.Locate(m, r.values, &g.route); err != nil {
			return err
		}
		for _, shard := range g.route.Shards {
			if _, err := g.foreignAt(r, shard); err != nil {
				return err
			}
		}
		return nil
	case plan.Fixed, plan.Any:
		shard := r.plan.Shard
		switch {
		case r.plan.Place == plan.Fixed:
		case len(g.txn.branches) > 0:
			shard = g.txn.branches[0].shard
		default:
			shard = g.at.shard
		}
		g.route = plan.Route{Shards: []int{slices.Index(m.Shards(), shard)}}
		return nil
	case plan.Session, plan.Everywhere, plan.Stamped, plan.Rewritten:
	}
	return plan.Unowned()
}

// sendAllOf is sendAll for a read of one table.
func (g *gathering) sendAllOf(r *request) ([]lease, error) {
	if !g.own {
		return g.sendAll(r, nil, nil)
	}
	leases := make([]lease, 0, len(g.route.Shards))
	for _, i := range g.route.Shards {
		l, err := g.lendSpanning(r.world.Map.Shard(i), false, Multi)
		if err != nil {
			return nil, err
		}
		leases = append(leases, l)
	}
	for i, l := range leases {
		edits, err := g.ownEdits(r, g.route.Shards[i], nil)
		if err == nil {
			err = g.send(l, r, g.edited(r.values.Text, edits), nil)
		}
		if err != nil {
			for _, sent := range leases[:i+1] {
				_ = sent.conn.Lost(true, err)
			}
			return nil, err
		}
	}
	return leases, nil
}

// collect writes the rows of all answers. What is left of the others after an
// error is read or given up.
func (g *gathering) collect(leases []lease, into *gather.Table, drain int) error {
	var failure error
	for _, l := range leases {
		var answer gather.Answer
		var err error
		before := into.Left.Rows
		if failure == nil {
			answer, err = into.Fill(g.ctx, l.conn, drain)
		} else {
			none := *into
			none.Left = &gather.Limits{}
			answer, _ = none.Fill(g.ctx, l.conn, drain)
		}
		g.timing.trace.Answered(string(l.shard), uint64(before-into.Left.Rows), codeOf(err))
		if failure == nil {
			failure = err
		}
		if g.groups && answer.Clean && answer.Warnings > 0 { // of rows, the statement warns itself
			g.keepWarnings(l)
		}
		switch {
		case !answer.Clean && g.own: // the transaction is the statement's, and ends with it
			_ = l.conn.Lost(true, errUnread)
		case !answer.Clean:
			g.lose(l)
		case g.own && l.joined:
			l.conn.SetStatus(answer.Status | mysql.SERVER_STATUS_IN_TRANS)
		case answer.Status != 0:
			g.done(l, answer.Status)
		default:
			g.doneUntold(l, 0, true)
		}
	}
	return failure
}

var errUnread = errors.New("its answer was not read to the end")
