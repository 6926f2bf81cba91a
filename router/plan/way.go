package plan

import (
	"slices"

	"locus/router"
	"locus/router/stmt"
)

// Way is how one execution of a statement uses the shards.
type Way string

const (
	// OnProxy: the proxy answers it.
	OnProxy Way = "proxy"
	// OnOwner: it runs on the one shard that has its rows of sharded tables.
	OnOwner Way = "owner"
	// OnAny: it runs on any one shard, because all have the same rows.
	OnAny Way = "any"
	// OnSingle: it runs on the one shard that has its tables, which are not sharded.
	OnSingle Way = "single"
	// OnSome: its values name the several shards that it runs on.
	OnSome Way = "some"
	// OnAll: it asks all shards.
	OnAll Way = "all"
	// OnEvery: every shard makes the same change, of a global table or of a definition.
	OnEvery Way = "every"
	// ByKeys: rows are gathered, some of them by the keys of others.
	ByKeys Way = "keys"
	// ByGathering: rows of several shards are gathered on one.
	ByGathering Way = "gathered"
)

// WayOf returns how an execution with these values uses the shards. scatters is true for a change on several shards that the user
// must be allowed to make. The error is a *Refusal. WayOf overwrites r.
func WayOf(p Plan, m *router.Map, v *Values, r *Route) (way Way, scatters bool, err error) {
	switch p := p.(type) {
	case *Local, *Rewritten:
		return OnProxy, false, nil
	case *OneShard:
		return OnSingle, false, nil
	case *AnyShard:
		return OnAny, false, nil
	case *Read:
		way, err = p.way(m, v, r)
		return way, false, err
	case *Change:
		err := p.Route(m, v, r)
		switch {
		case p.Selects(r, err):
			var args stmt.Args
			args.Reset(p.Selection.Lex(v.Lexed), nil)
			n, err := p.Selection.Spread(m, &Values{Args: &args}, r)
			return p.Selection.Gather.way(m), n > 1, err
		case err != nil:
			return "", false, err
		}
		return r.way(), len(r.Shards) > 1 && !p.Finds(r) && !r.Whole(), nil
	case *Stamped:
		way, err = p.way(m, v, r)
		return way, false, err
	case *InsertQuery:
		return p.Gather.way(m), false, nil
	case *TemporaryCopy:
		return p.Gather.way(m), false, nil
	case *Global:
		if err := p.Alike(v); err != nil {
			return "", false, err
		}
	}
	return OnEvery, false, nil
}

// way returns how the shards of a route are used.
func (r *Route) way() Way {
	switch {
	case len(r.Shards) < 2:
		return OnOwner
	case r.Named():
		return OnSome
	}
	return OnAll
}

func (p *Read) way(m *router.Map, v *Values, r *Route) (Way, error) {
	err := p.Route(m, v, r)
	switch {
	case err == nil:
		return r.way(), nil
	case p.Gather != nil:
		return p.Gather.way(m), nil
	}
	return "", err
}

func (g *Gathering) way(m *router.Map) Way {
	if g.Groups(m) == nil && slices.ContainsFunc(g.Tables, func(t Gathered) bool { return t.ByKey != nil }) {
		return ByKeys
	}
	return ByGathering
}

// way returns where rows are inserted. Rows that the cluster numbers count as if they got the numbers from 1.
func (p *Stamped) way(m *router.Map, v *Values, r *Route) (Way, error) {
	in, numbered := p.Insert, *v
	if in.Numbered() != nil && v.Numbers == nil {
		for row := range in.Rows(v.Args) {
			n, asked, err := in.Number(v, row, false)
			if err != nil {
				return "", err
			}
			if asked {
				n = uint64(row) + 1
			}
			numbered.Numbers = append(numbered.Numbers, n)
		}
	}
	r.reset()
	genes, err := in.Genes(&numbered, r.Genes)
	if err != nil {
		return "", err
	}
	r.Genes = genes
	for _, g := range genes {
		r.Shards = insert(r.Shards, m.Lookup(g))
	}
	return r.way(), p.CheckReturning(len(r.Shards))
}
