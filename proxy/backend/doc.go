// Package backend keeps pools of logged-in connections to the shards.
//
// It owns the connections: logging in, lending, the queue of those that wait for one, the session state (database,
// character set, variables) that a connection carries while it is lent, the statements prepared on it, and what is known
// about a server that can't be reached. It never decides which shard a statement goes to, never looks into one, and never
// sends one a second time: an error says whether the statement left, and the session decides.
//
// # Lending
//
// [Pool.Borrow] gives a connection that carries the wanted [Settings], in this order: an idle one that carries them
// already; an idle one that is brought over; a new one, if the limit leaves room; the next one that is given back. A
// connection given back carries nobody's state on to the next: before it is lent again under other settings, whatever they
// don't name is reset (COM_RESET_CONNECTION).
//
// While a server is away, borrowers wait for it until [Limits.RestartWait] has passed since it went, so that its restart fails
// nothing but what was under way there; those that come later are refused at once, until a probe finds it back.
//
// # What the borrower owes
//
// The borrower alone reads and writes the connection until [Pool.Return] or [Pool.Discard], one of which it calls exactly
// once. It returns a connection only after it has read the whole answer and outside a transaction; it tells the connection
// about state that it changed itself ([Conn.Adopt], [Conn.Forget], [Conn.SetStatus]). Session state that Settings can't
// describe, such as temporary tables, LOCK TABLES or GET_LOCK, ends with [Conn.Reset] or Discard. LAST_INSERT_ID(),
// ROW_COUNT(), FOUND_ROWS() and the warnings belong to the connection, so the borrower reads them before it returns it.
package backend
