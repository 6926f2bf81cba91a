package txn

import (
	"slices"
	"strings"

	"locus/proxy/backend"
)

// NamedLocks are what a statement does with GET_LOCK() and its kin.
type NamedLocks struct {
	Names       []string // that it asks for or lets go
	Unnamed     bool     // and others, whose names aren't known
	ReleasesAll bool
}

// KeepLocks reserves the connection while it holds a named lock. Which locks a
// statement got or let go only the server knows: it is asked for all names that
// were asked for so far.
func (l Lease) KeepLocks(n NamedLocks) {
	c := l.of
	if n.ReleasesAll {
		if c.reserved != nil {
			c.reserved.unnamed = false
		}
		_ = l.Conn.Remark(c.ctx) // a connection that this breaks isn't lent again
	}
	var names []string
	if c.reserved != nil {
		names, n.Unnamed = c.reserved.locks, n.Unnamed || c.reserved.unnamed
	}
	for _, name := range n.Names {
		if !slices.Contains(names, name) {
			names = append(slices.Clip(names), name)
		}
	}
	held := l.heldLocks(names)
	if len(held) == 0 && !n.Unnamed {
		l.Unreserve(NamedLock)
		return
	}
	l.Reserve(NamedLock)
	c.reserved.locks, c.reserved.unnamed = held, n.Unnamed
}

// heldLocks gives those of the names that the connection has locked; if the
// server doesn't say, all of them may be.
func (l Lease) heldLocks(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	asked := make([]string, len(names))
	for i, name := range names {
		asked[i] = "IS_USED_LOCK(" + backend.Quote(name) + ") <=> CONNECTION_ID()"
	}
	rows, err := l.Conn.Own().Query(l.of.ctx, "SELECT "+strings.Join(asked, ", "))
	if err != nil || len(rows.Rows) != 1 {
		return names
	}
	var held []string
	for i, name := range names {
		if string(rows.Rows[0][i]) == "1" {
			held = append(held, name)
		}
	}
	return held
}
