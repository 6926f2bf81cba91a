// Package interrupt ends what a session does, on behalf of others: KILL, a time limit, a client that disconnected, a proxy that
// stops, a fence that waits for its transaction.
//
// It owns one [Handle] per session. The Handle tracks the current command and whether it may be cut off, the connections that
// it waits for, the reason of its cancellation, its time limits, and whether the session must end. One mutex guards all of
// that, except for an atomic word that each statement checks. The package never sends a statement and never decides what
// becomes of a transaction. It only interrupts and kills connections.
package interrupt
