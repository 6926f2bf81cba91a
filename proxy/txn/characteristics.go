package txn

import (
	"slices"
	"strings"

	"locus/router/stmt"
)

// Next returns the SET TRANSACTION statement for the next transaction, or "" if there is none.
func (c *Connections) Next() string { return c.next }

// SetNext sets the SET TRANSACTION statement for the next transaction.
func (c *Connections) SetNext(text string) { c.next = text }

// Access returns the access mode that was set for the running transaction, or, if none runs, for the next one. AnyAccess means that the session's
// access mode applies.
func (c *Connections) Access() stmt.Access {
	clause := c.next
	if c.Running() {
		if c.how.Access != stmt.AnyAccess {
			return c.how.Access
		}
		clause = c.scope
	}
	switch {
	case strings.Contains(clause, stmt.ReadOnly.String()):
		return stmt.ReadOnly
	case strings.Contains(clause, stmt.ReadWrite.String()):
		return stmt.ReadWrite
	}
	return stmt.AnyAccess
}

// DropCharacteristics removes a SET TRANSACTION from a reserved connection whose statement did not use it. The next statement that needs it sends it again,
// perhaps on another connection.
func (c *Connections) DropCharacteristics() {
	conn := c.sentNext
	c.sentNext = nil
	if conn == nil || c.next == "" {
		return
	}
	r := c.reserved.of(conn)
	if r == nil || conn.InTransaction() { // a connection that was given back is not used: it may be another session's
		return
	}
	if _, err := conn.Own().Exec(c.awaiting, "ROLLBACK"); err != nil {
		c.discard(r.branch)
	}
}

// Characterize applies one SET of a transaction characteristic. next is the SET TRANSACTION statement for the next transaction so far.
// Characterize returns the new one. A characteristic that is set for the session applies to the next transaction too.
func (c *Connections) Characterize(next string, one stmt.Characteristic) string {
	if one.Next {
		return with(next, one)
	}
	c.pin(one)
	if !c.Active() {
		return without(next, one.What)
	}
	return next
}

// pin makes shards that join later use a characteristic that so far came from the session's settings. It does nothing if the opening already sets
// that characteristic. So the running transaction keeps the characteristics that it began with, whatever the session sets for later ones.
func (t *transaction) pin(c stmt.Characteristic) {
	if c.Clause == "" || c.What == "read_only" && t.how.Access != stmt.AnyAccess || without(t.scope, c.What) != t.scope {
		return
	}
	scope := with(t.scope, c)
	if t.scope != "" {
		t.opening[0] = scope
	} else {
		t.opening = slices.Insert(t.opening, 0, scope)
	}
	t.scope = scope
}

// with returns a SET TRANSACTION statement with a characteristic added or replaced. Such a statement has an isolation level,
// an access mode, or both.
func with(have string, c stmt.Characteristic) string {
	text := beginsNext + c.Clause
	if rest := without(have, c.What); rest != "" {
		text += ", " + strings.TrimPrefix(rest, beginsNext)
	}
	return text
}

// without returns a SET TRANSACTION statement without a characteristic, or "" if none is left.
func without(have, what string) string {
	var rest []string
	for old := range strings.SplitSeq(strings.TrimPrefix(have, beginsNext), ", ") {
		if old != "" && strings.HasPrefix(old, "READ") != (what == "read_only") {
			rest = append(rest, old)
		}
	}
	if len(rest) == 0 {
		return ""
	}
	return beginsNext + strings.Join(rest, ", ")
}

const beginsNext = "SET TRANSACTION "
