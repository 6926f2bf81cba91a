package backend

import (
	"slices"
	"testing"
)

// The state that a borrower's statements may have left decides whether the connection is reset before it is
// lent again.
func TestConnectionsAreLentClean(t *testing.T) {
	for name, one := range map[string]struct {
		borrower func(t *testing.T, c *Conn)
		reset    bool
		closed   bool
	}{
		"nothing was sent":             {borrower: func(*testing.T, *Conn) {}},
		"the proxy's own":              {borrower: func(t *testing.T, c *Conn) { exec(t, c, "COMMIT") }},
		"a statement leaving nothing":  {borrower: func(t *testing.T, c *Conn) { c.Note(Nothing) }},
		"variables that were told":     {borrower: func(t *testing.T, c *Conn) { c.Note(Variables); c.Adopt(Default) }},
		"variables that were not told": {borrower: func(t *testing.T, c *Conn) { c.Note(Variables) }, reset: true},
		"state beside told variables":  {borrower: func(t *testing.T, c *Conn) { c.Note(Variables); c.Note(State); c.Adopt(Default) }, reset: true},
		"state, and then nothing":      {borrower: func(t *testing.T, c *Conn) { c.Note(State); c.Note(Nothing) }, reset: true},
		"nobody said": {borrower: func(t *testing.T, c *Conn) {
			if _, err := c.Exec(t.Context(), "CREATE TABLE t (id INT)"); err != nil {
				t.Error(err)
			}
		}, reset: true},
		"dynamic SQL": {borrower: func(t *testing.T, c *Conn) { c.Note(Unknown) }, closed: true},
		"dynamic SQL, and a reset of the borrower's": {borrower: func(t *testing.T, c *Conn) {
			c.Note(Unknown)
			if err := c.Reset(t.Context()); err != nil {
				t.Error(err)
			}
		}, closed: true},
		"state, and a reset of the borrower's": {borrower: func(t *testing.T, c *Conn) {
			c.Note(State)
			if err := c.Reset(t.Context()); err != nil {
				t.Error(err)
			}
		}, reset: true}, // once
	} {
		t.Run(name, func(t *testing.T) {
			p, f, _ := fakePool(t, Limits{MaxOpen: 1})
			c := borrow(t, p, Default, 0)
			f.take()
			one.borrower(t, c)
			p.Return(c)
			next := borrow(t, p, Default, 0)
			defer p.Return(next)
			resets := len(slices.DeleteFunc(f.take(), func(s string) bool { return s != "COM_RESET_CONNECTION " }))
			if want := map[bool]int{true: 1}[one.reset]; resets != want && !one.closed {
				t.Errorf("%d resets, want %d", resets, want)
			}
			if closed := next.threadID != c.threadID; closed != one.closed {
				t.Errorf("closed: %v, want %v", closed, one.closed)
			}
			if got := p.Stats().Resets; got != uint64(resets) && !one.closed {
				t.Errorf("%d resets are counted, of %d", got, resets)
			}
		})
	}
}
