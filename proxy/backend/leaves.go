package backend

import (
	"context"

	"locus/proxy/wire"
)

// Leaves is the state that a statement may leave on its connection. The sender declares it. The default is State.
type Leaves uint8

const (
	// State: anything that a reset clears.
	State Leaves = iota
	// Nothing: only state that the session itself replaces: LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS() and
	// warnings.
	Nothing
	// Variables: values of user variables only. It counts as State until Adopt reports the values.
	Variables
	// Unknown: state that no reset is sure to clear, such as a role on MariaDB.
	Unknown
)

// Bits for the state that was left. They accumulate over a borrower's statements.
const (
	leftVariables = 1 << iota
	leftState
	leftUnknown
)

var marks = [...]uint8{State: leftState, Nothing: 0, Variables: leftVariables, Unknown: leftUnknown}

// Note adds to what the borrower's statements may have left.
func (c *Conn) Note(l Leaves) { c.left |= marks[l] }

// Own sends the proxy's own statements. They leave no state, or the proxy removes it.
type Own struct{ c *Conn }

// Own returns a sender for the proxy's own statements. A client's statement is never sent through it.
func (c *Conn) Own() Own { return Own{c} }

// Exec is Conn.Exec of a statement that leaves nothing.
func (o Own) Exec(ctx context.Context, sql string) (wire.OK, error) { return o.c.exec(ctx, sql) }

// Query is Conn.Query of a statement that leaves nothing.
func (o Own) Query(ctx context.Context, sql string) (*Rows, error) { return o.c.query(ctx, sql) }

// QueryEach is Query for several statements, which are sent together and answered one after the other. After an error there are no
// rows; if it is a server's refusal, the answers of the others were read, and the connection can be used.
func (o Own) QueryEach(ctx context.Context, statements []string) ([]*Rows, error) {
	return o.c.queryEach(ctx, statements)
}
