// Package interrupt ends what a session does when somebody else wants it: KILL, a time limit, a client that is gone, a proxy
// that is to stop, a fence that waits for its transaction.
//
// It owns, for each session, one [Handle]: which command is under way and whether it may be cut off, which connections it waits
// for, why it is cancelled, how long it may go on, and whether the session ends. One mutex guards all of that. The word that
// each statement looks at is atomic. It never sends a statement, never decides what becomes of a transaction, and knows
// connections only as something that can be interrupted and killed.
package interrupt
