package plan

import (
	"locus/router"
	"locus/router/stmt"
)

// Read is a SELECT of sharded tables, or of tables that no single shard has all of. The genes of its keys decide where it runs.
type Read struct {
	Facts
	Keyed
	// Merge describes how the answers of several shards are combined. It is nil if they can't be combined. The reason is then
	// NoMerge.
	Merge   *Merge
	NoMerge *Refusal
	// Gather describes how the rows of several shards are gathered if there is no Merge, or if they must be joined with each
	// other. It is nil if they can't be gathered.
	Gather *Gathering
}

func (*Read) String() string { return "keyed" }

func (p *Read) explain(e *explainer) {
	err := p.Route(e.m, e.v, e.r)
	e.rows(&p.Keyed, err == nil)
	if p.Sought != nil {
		p.Sought.explain(e)
	}
	switch {
	case err != nil && p.Gather != nil:
		e.gathered(p.Gather)
	case err != nil:
		e.refusal(err)
	case len(e.r.Shards) > 1:
		e.addLine("merge", "%s", p.Merge)
		if _, edits, ok := p.Merge.Edits(e.v); ok {
			e.texts(&p.Keyed, edits)
		}
	default:
		e.texts(&p.Keyed, nil)
	}
}

// Route finds the shards. Concurrent calls with different routes are safe. The error is a *Refusal.
func (p *Read) Route(m *router.Map, v *Values, out *Route) error {
	if err := p.Locate(m, v, out); err != nil {
		return err
	}
	return p.Check(m, out)
}

// Check checks whether the statement can run on the shards of a route. The error is a *Refusal.
func (p *Read) Check(m *router.Map, out *Route) error {
	switch {
	case len(out.Shards) < 2:
	case p.Merge == nil:
		return p.NoMerge
	case p.Merge.DisjointGroups && !m.Divided().Empty() && out.Meets(m.Divided()):
		return refuse(ScatterShape, "GROUP BY over rows of genes %s, which are on two shards, by their sequences: %s", m.Divided(), narrowIt)
	}
	return nil
}

// merge decides how the answers of several shards are combined, and sets Merge or NoMerge.
func (p *Read) merge(s *stmt.Statement, sc *scope) {
	switch {
	case p.noShard != nil:
	case s.Features&stmt.SetsUserVariable != 0:
		p.NoMerge = refuse(ScatterShape, "user variables are assigned in a read of several shards: name one owner, ID or order number in WHERE")
	case s.Features&stmt.CalcFoundRows != 0:
		p.NoMerge = refuse(ScatterShape, "SQL_CALC_FOUND_ROWS in a read of several shards: run SELECT COUNT(*) beside it")
	case p.arms != nil:
		p.Merge = mergeArms(s)
	default:
		p.Merge, p.NoMerge = planMerge(s, sc)
	}
}

// gather plans how rows are gathered, if merging the shards' answers may not be enough. It refuses a read that can't run at all.
func (p *Read) gather(l *stmt.Lexed, ctx Context) error {
	if p.Merge != nil && p.Merge.Kind == Concat && !p.Merge.DisjointGroups && p.sided && len(p.classes) < 2 && p.pinned == "" {
		return nil
	}
	var reason *Refusal
	p.Gather, reason = planGather(l, p.Statement, ctx)
	switch {
	case reason == nil:
	case p.noShard != nil:
		return p.noShard
	case p.Merge == nil:
		p.NoMerge = reason
	}
	return nil
}
