package session

import (
	"errors"
	"slices"

	"locus/proxy/gather"
	"locus/proxy/txn"
	"locus/router"
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
	k, err := g.narrow(r)
	if err != nil {
		return err
	}
	leases, err := g.sendAll(r, k, nil, nil)
	if err != nil {
		return err
	}
	drain := 64 << 10
	if !g.own {
		drain = 1 << 62
	}
	return g.collect(leases, into, drain)
}

// narrow finds the shards of a table's rows, and what tells which rows there are the shard's own.
func (g *gathering) narrow(r *request) (*plan.Keyed, error) {
	m, shard := r.snapshot.Map, router.ShardName("")
	switch p := r.plan.(type) {
	case *plan.Read:
		if err := p.Locate(m, r.values, &g.route); err != nil {
			return nil, err
		}
		for _, at := range g.route.Shards {
			if _, err := g.foreignAt(r, &p.Keyed, at); err != nil {
				return nil, err
			}
		}
		return &p.Keyed, nil
	case *plan.OneShard:
		shard = p.Shard
	case *plan.AnyShard:
		shard = g.home(g.at.Shard)
	default:
		return nil, plan.Unowned()
	}
	g.route = plan.Route{Shards: []int{slices.Index(m.Shards(), shard)}}
	return &plan.Keyed{}, nil
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
