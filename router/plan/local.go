package plan

import (
	"locus/router"
	"locus/router/stmt"
)

// Local is what the session itself answers: SET, BEGIN, USE and their kin.
type Local struct {
	Facts
	// Locks has the tables that LOCK TABLES locks on each shard.
	Locks map[router.ShardName][]stmt.LockTable
}

func (*Local) String() string { return "session" }

func (*Local) explain(e *explainer) { e.say("place", "answered by the proxy itself") }

// Rewritten is what speaks of the session, which puts what it knows into the text and plans that;
// or what reads views of rows on several shards, or all columns of tables whose shards differ in them.
type Rewritten struct {
	Facts
	// Text is what stands for it, with the views' queries in the place of their names, or columns in the place of stars; empty:
	// the session knows it. What is "views" or "columns".
	Text, What string
}

func (*Rewritten) String() string { return "rewritten" }

func (*Rewritten) explain(*explainer) {} // of what it was rewritten into there is more to say
