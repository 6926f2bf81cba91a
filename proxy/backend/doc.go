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
// already; an idle one that is brought over; a new one, if the limit leaves room; the next one that is given back.
//
// While a server is away, borrowers wait for it until [Limits.RestartWait] has passed since it went, so that its restart fails
// nothing but what was under way there; those that come later are refused at once, until a probe finds it back.
//
// # A connection is lent clean
//
// Nobody finds on a connection what somebody else has left there. Whatever is sent on it says what it may leave ([Leaves]), and
// the worst of that decides in one place, [Pool.Return]: after Nothing the connection is lent on as it is; after State it is
// reset (COM_RESET_CONNECTION) before anybody else has it; after Unknown it is closed, as a reset does not take all away. What
// nobody has classified is State. Settings that the pool itself has brought a connection to are known, and no state in this
// sense: whatever the next borrower's don't name is reset as it is lent.
//
// A reset costs the statements that were prepared on the connection; [Stats] counts them.
//
// # What the borrower owes
//
// The borrower alone reads and writes the connection until [Pool.Return] or [Pool.Discard], one of which it calls exactly
// once. It returns a connection only after it has read the whole answer and outside a transaction; it tells the connection
// about settings that it changed itself ([Conn.Adopt], [Conn.SetStatus]). LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS() and the
// warnings belong to the connection, so the borrower reads them before it returns it.
package backend
