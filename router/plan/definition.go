package plan

// Definition changes sharded and global tables, on every shard, one after the other. It may not run while genes are on the
// move.
type Definition struct{ Facts }

func (*Definition) String() string { return "everywhere" }

func (*Definition) explain(e *explainer) { e.everywhere() }

// Schema makes, changes or drops a database on every shard.
type Schema struct{ Facts }

func (*Schema) String() string { return "everywhere" }

func (*Schema) explain(e *explainer) { e.everywhere() }
