package interrupt

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/flavor"
)

// Reason is why a command is cancelled.
type Reason uint8

const (
	// Killed by KILL.
	Killed Reason = iota + 1
	// TimedOut: it ran for longer than the user or the session may.
	TimedOut
	// ClientGone: nobody waits for its answer.
	ClientGone
	// ShuttingDown: the proxy ends.
	ShuttingDown
	// Silent: the client has sent no command for too long. There is none to be cancelled.
	Silent
	// Preempted: its rows' genes are handed to another shard.
	Preempted
)

const stateInterrupted = "70100"

// Error is what the client is told.
func (r Reason) Error(f flavor.Flavor) *mysql.MyError {
	switch r {
	case TimedOut:
		return f.TimedOut()
	case ShuttingDown:
		return &mysql.MyError{Code: mysql.ER_SERVER_SHUTDOWN, State: "08S01", Message: "locus is shutting down; the statement was interrupted"}
	case Preempted:
		return &mysql.MyError{
			Code: mysql.ER_LOCK_DEADLOCK, State: "40001",
			Message: "the rows of this transaction changed hands before it ended; it was rolled back; try restarting transaction",
		}
	case Killed, ClientGone, Silent:
	}
	return &mysql.MyError{Code: mysql.ER_QUERY_INTERRUPTED, State: stateInterrupted, Message: "Query execution was interrupted"}
}

// fallback is what is done about a command whose shard could not be asked to end it.
type fallback uint8

const (
	// leave it: whoever cancelled it is told.
	leave fallback = iota
	// cutOff its connections: it fails, its client is told that the effect is unknown, and the session goes on.
	cutOff
	// endSession with it: neither a client that is gone nor one whose statement's time is up waits for what a shard does that
	// can't be reached.
	endSession
)

func (r Reason) fallback() fallback {
	switch r {
	case TimedOut, ClientGone:
		return endSession
	case Preempted:
		return cutOff
	case Killed, ShuttingDown, Silent:
	}
	return leave
}
