package plan

import (
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// planLock takes LOCK TABLES. Tables that live on one shard are locked there;
// with a sharded or global one among them the session locks each shard's.
func planLock(s *stmt.Statement, ctx Context) (*Plan, error) {
	p := &Plan{Place: Session, LockTables: map[router.ShardName][]stmt.LockTable{}}
	for _, l := range s.LockTables {
		t, err := ctx.find(l.TableName)
		if err != nil {
			return nil, err
		}
		switch {
		case t == nil:
			first := ctx.Catalog.First()
			p.LockTables[first] = append(p.LockTables[first], l)
		case t.Kind == catalog.Single:
			p.LockTables[t.Shard] = append(p.LockTables[t.Shard], l)
		default:
			for _, shard := range ctx.Catalog.Shards {
				p.LockTables[shard] = append(p.LockTables[shard], l)
			}
		}
	}
	return p, nil
}

// planTemporary takes CREATE and DROP TEMPORARY TABLE, on the first shard like
// undeclared tables. One by a declared table's name would hide that, which
// routing would not know.
func planTemporary(s *stmt.Statement, ctx Context) (*Plan, error) {
	for i, name := range s.Tables {
		t, err := ctx.find(name)
		switch {
		case err != nil:
			return nil, err
		case t == nil:
		case i == 0:
			return nil, refuse(Unsupported, "a temporary table by the name of the declared table %s: give it another name", t.TableName)
		case t.Kind != catalog.Single || t.Shard != ctx.Catalog.First():
			return nil, refuse(CrossShard, "a temporary table made from %s table %s: create it empty, read the rows, and insert them with VALUES", t.Kind, t.TableName)
		}
	}
	return &Plan{Place: Fixed, Shard: ctx.Catalog.First(), Writes: true, KeepsInsertID: true}, nil
}

// planLocked sends what asks for named locks to the first shard, where all who
// ask for one meet.
func (p *Plan) planLocked(s *stmt.Statement, ctx Context) error {
	first := ctx.Catalog.First()
	if p.Place == Any {
		p.Place, p.Shard = Fixed, first
	}
	if p.Place != Fixed || p.Shard != first {
		return refuse(CrossShard, "named locks (GET_LOCK and its kin) in a statement on tables of other shards than %s: ask for the lock by itself", first)
	}
	// A lock is no part of a transaction.
	p.Metadata = len(s.Tables) == 0
	return nil
}
