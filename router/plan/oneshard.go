package plan

import (
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// OneShard runs on a shard that is known beforehand: the one that has its tables, or the first.
type OneShard struct {
	Facts
	Shard router.ShardName
	// Alike: each other shard would say the same of itself, and stands in while this one's server is not well.
	Alike bool
	// Named: the session has named the shard, and means what is there, wherever rows belong.
	Named bool
	// Hides: of a table that has the column for the gene, which is taken out of the answer.
	Hides bool
	// Totals: SHOW TABLE STATUS, in which the sizes of sharded tables are those of all shards.
	Totals bool
	// Summed are the places that read information_schema.TABLES, in which the sizes of sharded tables are those of all shards.
	Summed []Summed
	// Added is spliced into the text: what the user may see.
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
		e.say("shards", "%s, which the session has named: SET locus_shard = DEFAULT has statements run where their rows are", p.Shard)
		return
	}
	if p.Alike {
		e.say("shards", "%s, or another one while its server is not well: all of them would answer alike", p.Shard)
		return
	}
	e.say("shards", "%s", p.Shard)
}

// AnyShard is a read that each shard would answer alike: it runs on whichever is at hand.
type AnyShard struct{ Facts }

func (*AnyShard) String() string { return "any" }

func (*AnyShard) explain(e *explainer) {
	e.say("shards", "any one: all of them would answer alike")
}

// planTemporary takes CREATE and DROP TEMPORARY TABLE, on the first shard like
// undeclared tables. One by a declared table's name would hide that, which
// routing would not know.
func planTemporary(s *stmt.Statement, ctx Context) (Plan, error) {
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
	return &OneShard{Facts: Facts{Writes: true, KeepsInsertID: true}, Shard: ctx.Catalog.First()}, nil
}

// planLocked sends what asks for named locks to the first shard, where all who
// ask for one meet.
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
