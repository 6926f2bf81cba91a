package plan

// Definition makes, changes or drops sharded and global tables, on every shard at once. It may not run while genes are on the
// move.
type Definition struct {
	Facts
	// Declares is set if it also declares the table that it makes or comments on.
	Declares *Declaring
	// Added is spliced into the text for the shards.
	Added []Splice
}

func (*Definition) String() string { return "everywhere" }

func (*Definition) explain(e *explainer) { e.everywhere() }

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
