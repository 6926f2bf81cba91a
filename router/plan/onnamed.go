package plan

import (
	"slices"

	"locus/router/stmt"
)

// planNamed plans a statement on the shard that the session has chosen, whatever the declarations of its tables are and wherever
// its rows belong. It returns nil, nil for statements that the session itself answers.
func (c Context) planNamed(s *stmt.Statement) (Plan, error) {
	if !slices.Contains(c.Catalog.Shards, c.Shard) {
		return nil, refuse(ShardNamed, "the session has named shard %s (locus_shard), which is not registered any more: SET locus_shard = DEFAULT", c.Shard)
	}
	switch s.Kind {
	case stmt.Select, stmt.Update, stmt.Delete:
		p := &OneShard{Facts: queryFacts(s), Shard: c.Shard, Named: true}
		if s.Features&(stmt.NamedLock|stmt.ReadsNamedLock) != 0 {
			return planLocked(p, s, c)
		}
		return p, nil
	case stmt.Show:
		p, err := planShow(s, c)
		one, is := p.(*OneShard)
		if !is {
			return p, err
		}
		one.Shard, one.Alike, one.Named = c.Shard, false, true
		return one, err
	case stmt.Begin, stmt.Commit, stmt.Rollback, stmt.Savepoint, stmt.ShowWarnings, stmt.Unlock,
		stmt.Set, stmt.Use, stmt.Explain, stmt.Kill, stmt.TextPrepare, stmt.Diagnose, stmt.Procedure:
		return nil, nil
	default:
		return nil, refuse(ShardNamed, "%s", beyondNamed)
	}
}

const beyondNamed = "the session has named a shard (locus_shard), to which SELECT, SHOW, DESCRIBE, EXPLAIN, UPDATE and DELETE are sent, and nothing else: SET locus_shard = DEFAULT first"
