package session

import (
	"errors"
	"slices"

	"locus/proxy/gather"
	"locus/proxy/txn"
	"locus/router/plan"
	"locus/router/stmt"
)

// read has every shard that may have rows of a table give them, and writes them.
func (g *gathering) read(text string, into *gather.Table) error {
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(text), g.vars.Mode)
	p, err := plan.Make(lexed, plan.Context{Catalog: g.r.snapshot.Catalog, Schema: g.Session.vars.Settings.Database()})
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
	leases, err := g.sendAll(r, nil, nil)
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
	m := r.snapshot.Map
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
		if r.plan.Place == plan.Any {
			shard = g.home(g.at.Shard)
		}
		g.route = plan.Route{Shards: []int{slices.Index(m.Shards(), shard)}}
		return nil
	case plan.Session, plan.Everywhere, plan.Stamped, plan.Rewritten:
	}
	return plan.Unowned()
}

// collect writes the rows of all answers. What is left of the others after an
// error is read or given up.
func (g *gathering) collect(leases []txn.Lease, into *gather.Table, drain int) error {
	var failure error
	for _, l := range leases {
		var answer gather.Answer
		var err error
		before := into.Left.Rows
		if failure == nil {
			answer, err = into.Fill(g.ctx, l.Conn, drain)
		} else {
			none := *into
			none.Left = &gather.Limits{}
			answer, _ = none.Fill(g.ctx, l.Conn, drain)
		}
		g.timing.trace.Answered(string(l.Shard), uint64(before-into.Left.Rows), codeOf(err))
		if failure == nil {
			failure = err
		}
		if g.groups && answer.Clean && answer.Warnings > 0 { // of rows, the statement warns itself
			g.keepWarnings(l)
		}
		switch {
		case !answer.Clean:
			l.Lost()
		case answer.Status != 0:
			l.Done(answer.Status)
		default:
			l.Refused(0)
		}
	}
	return failure
}

var errUnread = errors.New("its answer was not read to the end")
