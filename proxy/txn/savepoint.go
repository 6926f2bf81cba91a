package txn

import (
	"fmt"
	"slices"
	"strings"

	"locus/router/plan"
	"locus/router/stmt"
)

// Savepoint runs SAVEPOINT, ROLLBACK TO or RELEASE on every branch, and records it for shards that join later.
func (c *Connections) Savepoint(m stmt.Mark) error {
	sets := m.Verb == "savepoint"
	switch {
	case c.Running():
	case !sets:
		return noSavepoint(m.Name)
	case c.client.Autocommit():
		return nil // in MySQL the savepoint ends with the statement's own transaction
	default: // the first statement of a transaction without BEGIN
		c.imply(c.Reserved(LockedTables))
	}
	if sets {
		if err := c.checkMark(m.Name); err != nil {
			return err
		}
	}
	for _, b := range c.branches {
		if _, err := b.Conn.Own().Exec(c.ctx, m.String()); err != nil {
			if !IsRefusal(err) {
				c.loseTransaction(b.Shard)
			}
			return err
		}
	}
	return c.mark(m, len(c.branches) > 0)
}

// checkMark returns an error if one more savepoint cannot be recorded.
func (t *transaction) checkMark(name string) error {
	if len(name) > longestMark {
		return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf("a savepoint's name of %d bytes, of at most %d: give it a shorter one", len(name), longestMark)}
	}
	return checkRoom("savepoints", len(t.marks))
}

// mark records a statement on savepoints. asked is set if shards have run it.
func (t *transaction) mark(m stmt.Mark, asked bool) error {
	at := slices.IndexFunc(t.marks, func(name string) bool { return strings.EqualFold(name, m.Name) })
	first := len(t.opening) - len(t.marks)
	switch {
	case m.Verb == "savepoint":
		if at >= 0 {
			t.unmark(at)
		}
		t.marks, t.opening = append(t.marks, m.Name), append(t.opening, m.String())
	case at < 0 && !asked:
		return noSavepoint(m.Name)
	case at >= 0 && m.Verb == "release":
		t.marks, t.opening = t.marks[:at], t.opening[:first+at]
	case at >= 0:
		t.marks, t.opening = t.marks[:at+1], t.opening[:first+at+1]
	}
	return nil
}

// forget removes a recorded savepoint.
func (t *transaction) forget(name string) {
	if at := slices.Index(t.marks, name); at >= 0 {
		t.unmark(at)
	}
}

// unmark removes a savepoint by its index in marks.
func (t *transaction) unmark(at int) {
	first := len(t.opening) - len(t.marks)
	t.marks, t.opening = slices.Delete(t.marks, at, at+1), slices.Delete(t.opening, first+at, first+at+1)
}
