package plan

import (
	"locus/router"
	"locus/router/stmt"
)

// Local is a statement that the session itself answers: SET, BEGIN, USE and similar.
type Local struct {
	Facts
	// Locks are the tables that LOCK TABLES locks on each shard.
	Locks map[router.ShardName][]stmt.LockTable
}

func (*Local) String() string { return "session" }

func (*Local) explain(e *explainer) { e.addLine("place", "answered by the proxy itself") }

// Rewritten is a statement that the session rewrites and plans again. It refers to the session, whose values are put into the
// text. Or it reads views of rows on several shards, or all columns of tables whose shards differ in them.
type Rewritten struct {
	Facts
	// Text is the rewritten text, with the queries of views in place of their names, or columns in place of stars. It is empty if
	// the session rewrites the text. What is "views" or "columns".
	Text, What string
}

func (*Rewritten) String() string { return "rewritten" }

func (*Rewritten) explain(*explainer) {} // the rewritten statement explains more
