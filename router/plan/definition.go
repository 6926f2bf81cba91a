package plan

import (
	"locus/router/catalog"
	"locus/router/stmt"
)

// Definition creates, changes or drops sharded and global tables, on all shards. It may not run while genes are being moved.
type Definition struct {
	Facts
	// Declares is set if the statement also declares the table that it creates or comments on.
	Declares *Declaring
	// Added is inserted into the text for the shards.
	Added []Splice
	// Renames is set if the statement renames tables and does nothing else. It contains the net renames, in an order in which
	// each new name is free.
	Renames []catalog.Rename
	// Adds are the columns that the statement adds, if it does nothing else and other statements may run during the change.
	Adds []stmt.AddedColumn
	// Dropping is set for a DROP TABLE that names tables which only one shard has, next to those that all shards have. Each shard drops
	// the tables that it has.
	Dropping *Dropping
	// Course is how the shards run the definition if Adds and Renames are nil.
	Course Course
}

// Course is how the shards run a definition. Each shard runs a part of it.
type Course uint8

const (
	// AtOnce sends the definition to all shards at once. Each server waits for its own lock.
	AtOnce Course = iota
	// Locked locks the table on all shards before the first one runs the definition. It is for changes after which other
	// statements can't be planned while only some shards have made them.
	Locked
	// Severally runs the definition on each shard when no session holds the table there.
	Severally
)

func (*Definition) String() string { return "everywhere" }

func (p *Definition) explain(e *explainer) {
	e.everywhere()
	if p.Dropping != nil {
		for _, t := range p.Dropping.Tables {
			if t.Shard != "" {
				e.addLine("drops", "%s on %s alone", t.TableName, t.Shard)
			}
		}
	}
	switch {
	case p.Adds != nil:
		e.addLine("meanwhile", "statements go on: each shard adds the columns when nobody holds the table there, and shows them once all have them")
	case p.Course == Locked:
		e.addLine("meanwhile", "statements wait: the table is locked on all shards, once nobody holds it on any, then they do it")
	case p.Course == Severally:
		e.addLine("meanwhile", "statements go on as each server lets them: a shard does it when nobody holds the table there")
	}
}

// Maintenance is ANALYZE TABLE or a similar statement on sharded and global tables. Every shard returns rows.
type Maintenance struct {
	Facts
	// Stays is true if it may not run while genes are being moved.
	Stays bool
}

func (*Maintenance) String() string { return "everywhere" }

func (*Maintenance) explain(e *explainer) { e.everywhere() }

// Schema creates, changes or drops a database on every shard.
type Schema struct{ Facts }

func (*Schema) String() string { return "everywhere" }

func (*Schema) explain(e *explainer) { e.everywhere() }
