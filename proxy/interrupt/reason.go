package interrupt

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/flavor"
)

// Reason is why a command is cancelled.
type Reason uint8

const (
	// Killed: by KILL.
	Killed Reason = iota + 1
	// TimedOut: it exceeded the time limit of the user or session.
	TimedOut
	// ClientGone: the client disconnected.
	ClientGone
	// ShuttingDown: the proxy is stopping.
	ShuttingDown
	// Silent: the client has sent no command for too long. There is no command to cancel.
	Silent
	// Preempted: its rows' genes are moving to another shard.
	Preempted
)

const stateInterrupted = "70100"

// Error returns the error for the client.
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

// fallback determines how a command ends whose shard could not be asked to end it.
type fallback uint8

const (
	// leave it running. The caller of Cancel gets the error.
	leave fallback = iota
	// cutOff its connections. The command fails with an unknown effect, and the session continues.
	cutOff
	// endSession too. Neither a disconnected client nor one whose time is up waits for an unreachable shard.
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
