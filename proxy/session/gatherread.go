package session

import (
	"errors"
	"slices"

	"locus/proxy/exec"
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
	parts, err := g.partsOf(r, k, nil, nil)
	if err != nil {
		return err
	}
	g.conns.Imply()
	of := &execution{s: g.Session, r: *r, silent: !g.groups} // of rows, the statement warns itself
	all := exec.Several{Of: of, Conns: g.conns, Mode: g.purpose(r) &^ txn.Outside}
	leases, err := all.Send(parts)
	if err != nil {
		return err
	}
	drain := 64 << 10
	if !g.own {
		drain = 1 << 62
	}
	return all.Collect(g.ctx, leases, into, drain)
}

// narrow finds the shards of a table's rows, and what tells which rows there are the shard's own.
func (g *gathering) narrow(r *request) (*plan.Keyed, error) {
	m, shard := r.snapshot.Map, router.ShardName("")
	switch p := r.plan.(type) {
	case *plan.Read:
		return &p.Keyed, p.Locate(m, r.values, &g.route)
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

var errUnread = errors.New("its answer was not read to the end")
