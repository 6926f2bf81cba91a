package changes

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// heldLimit bounds the memory of prepared branches' rows, in bytes.
const heldLimit = 64 << 20

// branches are the prepared branches of XA transactions. The log has their rows at the prepare, and they may still be
// rolled back.
type branches struct {
	open  map[string]branch
	bytes int
	// resume is where reading began, until everything prepared before has been read again; then it is nil.
	resume mysql.GTIDSet
}

type branch struct {
	rows   []Event
	bytes  int
	before mysql.GTIDSet // where its rows can be read again
}

// hold keeps a branch until it is decided. A branch without rows of watched tables isn't kept.
func (b *branches) hold(tx transaction) error {
	if len(tx.rows) == 0 {
		return nil
	}
	if b.open == nil {
		b.open = map[string]branch{}
	}
	b.bytes += tx.bytes
	if b.bytes > heldLimit {
		return fmt.Errorf("prepared XA transactions have changed more than %d MiB of rows: commit or roll back the oldest (XA RECOVER lists them), then resume", heldLimit>>20)
	}
	b.open[tx.branch] = branch{rows: tx.rows, bytes: tx.bytes, before: tx.before}
	return nil
}

// decide removes a branch that was committed or rolled back.
func (b *branches) decide(xid string) {
	b.bytes -= b.open[xid].bytes
	delete(b.open, xid)
}

// oldest returns where to read the log from in order to get everything held, or nil.
func (b *branches) oldest() mysql.GTIDSet {
	if b.resume != nil {
		return b.resume
	}
	var oldest mysql.GTIDSet
	for _, h := range b.open {
		if oldest == nil || contains(oldest, h.before) {
			oldest = h.before
		}
	}
	return oldest
}
