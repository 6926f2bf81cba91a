package plan

import (
	"locus/router/catalog"
	"locus/router/stmt"
)

// Definition makes, changes or drops sharded and global tables, on every shard at once. It may not run while genes are on the
// move.
type Definition struct {
	Facts
	// Declares is set if it also declares the table that it makes or comments on.
	Declares *Declaring
	// Added is spliced into the text for the shards.
	Added []Splice
	// Renames is set if it renames tables, and does nothing else: to what the statement comes to, in an order in which each new name
	// is free.
	Renames []catalog.Rename
	// Adds are the columns that it adds, if that is all and statements may go on meanwhile.
	Adds []stmt.AddedColumn
	// Course is how the shards do it otherwise.
	Course Course
}

// Course is how shards do a definition, of which each does a part.
type Course uint8

const (
	// AtOnce: all are told at once, and each waits for its own lock.
	AtOnce Course = iota
	// Locked: the table is locked on all of them before any does it. For what statements can't be planned over once some have done it.
	Locked
	// Severally: each does it when nobody holds the table there.
	Severally
)

func (*Definition) String() string { return "everywhere" }

func (p *Definition) explain(e *explainer) {
	e.everywhere()
	switch {
	case p.Adds != nil:
		e.say("meanwhile", "statements go on: each shard adds the columns when nobody holds the table there, and shows them once all have them")
	case p.Course == Locked:
		e.say("meanwhile", "statements wait: the table is locked on all shards, once nobody holds it on any, then they do it")
	case p.Course == Severally:
		e.say("meanwhile", "statements go on as each server lets them: a shard does it when nobody holds the table there")
	}
}

// Maintenance is ANALYZE TABLE and its kin of sharded and global tables, which every shard answers with rows.
type Maintenance struct {
	Facts
	// Stays: it may not run while genes are on the move.
	Stays bool
}

func (*Maintenance) String() string { return "everywhere" }

func (*Maintenance) explain(e *explainer) { e.everywhere() }

// Schema makes, changes or drops a database on every shard.
type Schema struct{ Facts }

func (*Schema) String() string { return "everywhere" }

func (*Schema) explain(e *explainer) { e.everywhere() }
