package plan

import (
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// OneShard is a statement that runs on a shard that is known beforehand: the one that has its tables, or the first.
type OneShard struct {
	Facts
	Shard router.ShardName
	// Alike is true if every shard would return the same. Another shard then answers while this one's server is unhealthy.
	Alike bool
	// Named is true if the session has chosen the shard. The statement then applies to that shard's rows, including those that
	// belong to other shards.
	Named bool
	// Hides is true if the answer describes a table with the gene column made by locus. That column is removed from the answer.
	Hides bool
	// Totals is true for SHOW TABLE STATUS. The sizes of sharded tables are then the totals of all shards.
	Totals bool
	// Summed are the places that read information_schema.TABLES. The sizes of sharded tables are then the totals of all
	// shards.
	Summed []Summed
	// Added is inserted into the text. It limits the rows to the objects that the user may see.
	Added []Splice
}

func (p *OneShard) String() string {
	if p.Named {
		return "named"
	}
	return "fixed"
}

func (p *OneShard) explain(e *explainer) {
	if p.Named {
		e.addLine("shards", "%s, which the session has named: SET locus_shard = DEFAULT has statements run where their rows are", p.Shard)
		return
	}
	if p.Alike {
		e.addLine("shards", "%s, or another one while its server is not well: all of them would answer alike", p.Shard)
		return
	}
	e.addLine("shards", "%s", p.Shard)
}

// AnyShard is a read for which every shard would return the same. It runs on any available shard.
type AnyShard struct{ Facts }

func (*AnyShard) String() string { return "any" }

func (*AnyShard) explain(e *explainer) {
	e.addLine("shards", "any one: all of them would answer alike")
}

// planTemporary plans CREATE and DROP TEMPORARY TABLE on the first shard, where undeclared tables are. It refuses a temporary
// table with the name of a declared one: it would hide that table, and routing would not know. Rows of sharded tables are gathered.
func planTemporary(s *stmt.Statement, ctx Context) (Plan, error) {
	facts := Facts{Writes: true, KeepsInsertID: true, ReadsInsertID: s.Features&stmt.ReadsInsertID != 0}
	gathers := false
	for i, name := range s.Tables {
		t, err := ctx.find(name)
		switch {
		case err != nil:
			return nil, err
		case t == nil:
		case i == 0:
			return nil, refuse(Unsupported, "a temporary table by the name of the declared table %s: give it another name", t.TableName)
		case t.Kind == catalog.Single && t.Shard != ctx.Catalog.First():
			return nil, refuse(CrossShard, "a temporary table made from table %s of shard %s: create it empty, read the rows, and insert them with VALUES", t.TableName, t.Shard)
		case s.Like != nil && t.MakesGene():
			return nil, refuse(Unsupported, "a temporary table like %s, which has the hidden column %s: write its columns out", t.TableName, catalog.OwnGene)
		case t.Kind != catalog.Sharded || s.Like != nil: // the first shard has all of it
		case s.Filling == nil:
			return nil, refuse(CrossShard, "such a temporary table made from %s table %s: write CREATE TEMPORARY TABLE … SELECT …, or insert the rows with VALUES", t.Kind, t.TableName)
		default:
			gathers = true
		}
	}
	if gathers {
		return newTemporaryCopy(facts, s, ctx), nil
	}
	return &OneShard{Facts: facts, Shard: ctx.Catalog.First()}, nil
}

// planLocked plans a statement that uses named locks on the first shard, where all named locks are.
func planLocked(p Plan, s *stmt.Statement, ctx Context) (Plan, error) {
	first := ctx.Catalog.First()
	one, ok := p.(*OneShard)
	if _, anywhere := p.(*AnyShard); anywhere {
		one, ok = &OneShard{Facts: *p.About(), Shard: first}, true
	}
	if !ok || one.Shard != first {
		return nil, refuse(CrossShard, "named locks (GET_LOCK and its kin) in a statement on tables of other shards than %s: ask for the lock by itself", first)
	}
	one.Metadata = len(s.Tables) == 0 // a lock is no part of a transaction
	return one, nil
}
