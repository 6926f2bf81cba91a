// Package backend keeps pools of logged-in connections to the shards.
//
// It owns the connections: login, lending, the queue of borrowers, the session state (database, character set, variables) that
// a connection carries while lent, its prepared statements, and the state of servers that can't be reached. It never chooses
// the shard of a statement, never reads a statement, and never sends one twice. An error says whether the statement was sent,
// and the session decides what to do.
//
// # Lending
//
// [Pool.Borrow] returns a connection that carries the wanted [Settings]. It tries in this order: an idle connection that
// already carries them; an idle one that can be brought to them; a new one, if the limit allows; the next one that is returned.
//
// While a server is away, borrowers wait for it until [Limits.RestartWait] has passed since it went away. So a restart fails
// only the statements that were running there. Later borrowers are refused at once until a probe succeeds.
//
// # A connection is lent clean
//
// No borrower sees state that another one left on a connection. Everything sent declares what it may leave ([Leaves]). The
// worst of these decides in one place, [Pool.Return]. After Nothing the connection is lent on as it is. After State it is reset
// (COM_RESET_CONNECTION) before the next borrower gets it. After Unknown it is closed, since a reset doesn't clear everything.
// Statements that nobody has classified count as State. Settings that the pool itself has set are known and don't count as
// state: those that the next borrower doesn't name are reset when the connection is lent.
//
// A reset discards the statements prepared on the connection. [Stats] counts resets.
//
// # Duties of the borrower
//
// Only the borrower reads and writes the connection until it calls [Pool.Return] or [Pool.Discard], exactly once. It returns a
// connection only after it has read the whole answer, and outside a transaction. It reports settings that it changed itself
// ([Conn.Adopt], [Conn.SetStatus]). LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS() and the warnings belong to the connection, so
// the borrower reads them before it returns it.
package backend
