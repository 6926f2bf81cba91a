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
func (x *Execution) markStale(l txn.Lease) {
	if len(x.Facts.Statement.Tables) == 0 || slices.Contains(x.stale, l.Shard) {
		return
	}
	x.stale = append(x.stale, l.Shard)
	x.Client.Added = len(x.stale)
	l.CountStale()
	x.Vars.WarnAs(Stale, fmt.Sprintf("the rows of shard %s may be stale, or lack what was written or moved meanwhile: etcd does not confirm that %s is still its primary (stale_reads)",
		l.Shard, l.Conn.Addr()))
}

// Settle clears the marks after the statement has ended.
func (e *Engine) Settle() {
	if len(e.stale) > 0 {
		e.stale, e.Client.Added = e.stale[:0], 0
	}
}
