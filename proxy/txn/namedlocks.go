package txn

import (
	"slices"
	"strings"

	"locus/proxy/backend"
)

// NamedLocks describes how a statement uses GET_LOCK() and related functions.
type NamedLocks struct {
	Names       []string // the names that it locks or releases
	Unnamed     bool     // the statement also uses other names, which are not known
	ReleasesAll bool
}

// KeepLocks reserves the connection while it has a named lock. Only the server knows which locks a statement got or released. So KeepLocks asks
// it about all names that were requested so far.
func (l Lease) KeepLocks(n NamedLocks) {
	c := l.of
	if n.ReleasesAll {
		if c.reserved != nil {
			c.reserved.unnamed = false
		}
		_ = l.Conn.Remark(c.ctx) // if this breaks the connection, it is not lent again
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

// heldLocks returns those names that the connection has locked. If the server does not answer, it returns all of them.
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
