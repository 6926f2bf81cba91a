package exec

import (
	"fmt"
	"slices"

	"locus/proxy/txn"
)

// Stale is the code of the warning that an answer may be stale. It begins the text.
const Stale = "locus-1401"

// markStale warns the client that rows come from the last known primary of a shard, which etcd does not confirm. A statement without
// tables reads no rows.
func (e *Environment) markStale(w *Work, l txn.Lease) {
	if len(w.Facts.Statement.Tables) == 0 || slices.Contains(e.stale, l.Shard) {
		return
	}
	e.stale = append(e.stale, l.Shard)
	e.Client.Added = len(e.stale)
	l.CountStale()
	e.Vars.WarnAs(Stale, fmt.Sprintf("the rows of shard %s may be stale, or lack what was written or moved meanwhile: etcd does not confirm that %s is still its primary (stale_reads)",
		l.Shard, l.Conn.Addr()))
}

// Settle clears the marks after the statement has ended.
func (e *Environment) Settle() {
	if len(e.stale) > 0 {
		e.stale, e.Client.Added = e.stale[:0], 0
	}
}
