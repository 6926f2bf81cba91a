package backend

import (
	"context"

	"locus/proxy/wire"
)

// Leaves is what a statement may leave behind on the connection that it was sent on. Whoever sends one says so; what nobody
// said is State.
type Leaves uint8

const (
	// State: anything that a connection can have and a reset takes away.
	State Leaves = iota
	// Nothing but what the session answers itself: LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS(), warnings.
	Nothing
	// Variables: values of user variables alone. Adopt tells them; until then it is State.
	Variables
	// Unknown: what no reset takes away with certainty, as a role on MariaDB.
	Unknown
)

// The marks of what was left, which add up over the statements of a borrower.
const (
	leftVariables = 1 << iota
	leftState
	leftUnknown
)

var marks = [...]uint8{State: leftState, Nothing: 0, Variables: leftVariables, Unknown: leftUnknown}

// Note adds to what the borrower's statements have left.
func (c *Conn) Note(l Leaves) { c.left |= marks[l] }

// Own sends the proxy's own statements: those of which it knows that they leave nothing, or that it takes away what they do.
type Own struct{ c *Conn }

// Own gives them. What a client wrote is never sent by it.
func (c *Conn) Own() Own { return Own{c} }

// Exec is Conn.Exec of a statement that leaves nothing.
func (o Own) Exec(ctx context.Context, sql string) (wire.OK, error) { return o.c.exec(ctx, sql) }

// Query is Conn.Query of a statement that leaves nothing.
func (o Own) Query(ctx context.Context, sql string) (*Rows, error) { return o.c.query(ctx, sql) }
