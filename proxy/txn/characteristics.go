package txn

import (
	"slices"
	"strings"

	"locus/router/stmt"
)

// Next is SET TRANSACTION … for the transaction to come; empty: nothing was said.
func (c *Connections) Next() string { return c.next }

// SetNext says so.
func (c *Connections) SetNext(text string) { c.next = text }

// Access is how the transaction that runs was said to be begun, or, without one, the next one: AnyAccess is as the session's are.
func (c *Connections) Access() stmt.Access {
	said := c.next
	if c.Running() {
		if c.how.Access != stmt.AnyAccess {
			return c.how.Access
		}
		said = c.scope
	}
	switch {
	case strings.Contains(said, stmt.ReadOnly.String()):
		return stmt.ReadOnly
	case strings.Contains(said, stmt.ReadWrite.String()):
		return stmt.ReadWrite
	}
	return stmt.AnyAccess
}

// Untell has a reserved connection forget a SET TRANSACTION that its statement had no
// use for: whoever needs it next is told, which may be another one.
func (c *Connections) Untell() {
	conn := c.toldNext
	c.toldNext = nil
	if conn == nil || c.next == "" {
		return
	}
	r := c.reserved.of(conn)
	if r == nil || conn.InTransaction() { // one that was given back is not looked at: it may be another session's
		return
	}
	if _, err := conn.Own().Exec(c.awaiting, "ROLLBACK"); err != nil {
		c.discard(r.branch)
	}
}

// Characterize takes one, and gives the SET TRANSACTION of the next one from what it was
// so far. What is set for all is for the next one too.
func (c *Connections) Characterize(next string, one stmt.Characteristic) string {
	if one.Next {
		return with(next, one)
	}
	c.fix(one)
	if !c.Active() {
		return without(next, one.What)
	}
	return next
}

// fix has shards that join be told a characteristic that they had by themselves so
// far, unless they are told one already: the transaction that is under way stays on them
// what it was begun as, whatever the session sets for the ones to come.
func (t *transaction) fix(c stmt.Characteristic) {
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

// with adds to SET TRANSACTION, which has an isolation level, an access mode or both.
func with(have string, c stmt.Characteristic) string {
	text := beginsNext + c.Clause
	if rest := without(have, c.What); rest != "" {
		text += ", " + strings.TrimPrefix(rest, beginsNext)
	}
	return text
}

// without takes a characteristic out of a SET TRANSACTION; it is empty if none is left.
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
