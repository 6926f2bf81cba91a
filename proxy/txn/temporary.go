package txn

import (
	"slices"

	"locus/router/catalog"
)

// unknownTable represents a temporary table whose name is not known. So the session never regards it as dropped.
var unknownTable catalog.TableName

// TemporaryTables returns the session's temporary tables as far as their names are known. A zero name represents an unknown one.
func (c *Connections) TemporaryTables() []catalog.TableName {
	if c.reserved == nil {
		return nil
	}
	return c.reserved.temporary
}

// CheckLimit returns an error if a reason allows no further name: a named lock, or a temporary table.
func (c *Connections) CheckLimit(reason Reason) error {
	switch {
	case c.reserved == nil:
	case reason == NamedLock:
		return checkRoom("named locks", len(c.reserved.locks))
	case reason == TemporaryTable:
		return checkRoom("temporary tables", len(c.reserved.temporary))
	}
	return nil
}

// MadeTemporary reserves the connection for new temporary tables. An empty list represents a table whose name is not known.
func (l Lease) MadeTemporary(names []catalog.TableName) {
	l.Reserve(TemporaryTable)
	r := l.of.reserved
	if len(names) == 0 {
		r.temporary = append(r.temporary, unknownTable)
	}
	for _, name := range names {
		if !slices.Contains(r.temporary, name) {
			r.temporary = append(r.temporary, name)
		}
	}
}

// LostTemporary forgets the temporary tables that a statement has dropped, and the names of those that it has renamed.
func (l Lease) LostTemporary(dropped, renamed []catalog.TableName) {
	if !l.of.Reserved(TemporaryTable) {
		return
	}
	r := l.of.reserved
	for _, name := range dropped {
		if i := slices.Index(r.temporary, name); i >= 0 {
			r.temporary = slices.Delete(r.temporary, i, i+1)
		}
	}
	for _, name := range renamed {
		if i := slices.Index(r.temporary, name); i >= 0 {
			r.temporary[i] = unknownTable
		}
	}
	if len(r.temporary) == 0 {
		l.Unreserve(TemporaryTable)
	}
}

// OpenedHandler reserves the connection for a HANDLER.
func (l Lease) OpenedHandler() {
	l.Reserve(Handler)
	l.of.reserved.handlers++
}

// ClosedHandler records that a HANDLER was closed. With the last one, the reservation ends.
func (l Lease) ClosedHandler() {
	if !l.of.Reserved(Handler) {
		return
	}
	if l.of.reserved.handlers--; l.of.reserved.handlers <= 0 {
		l.Unreserve(Handler)
	}
}
