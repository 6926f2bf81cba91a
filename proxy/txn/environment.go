package txn

import (
	"context"
	"log/slog"
	"time"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/trace"
	"locus/router"
)

// Spanning determines how a transaction may use a second shard.
type Spanning uint8

const (
	// XA commits in two phases, all or nothing (package twophase).
	XA Spanning = iota
	// Multi commits shard by shard, in order. A failure after the first commit is reported as such.
	Multi
	// Single refuses the statement.
	Single
)

// Pools returns the connection pools of a shard.
type Pools interface {
	Pool(router.ShardName) (*backend.Pool, bool)
	// Replica returns the pool of a replica, whose rows may be late.
	Replica(router.ShardName) (*backend.Pool, bool)
}

// Services are shared by the connections of all sessions.
type Services struct {
	Pools    Pools
	Spanning Spanning
	// Coordinator names and recovers transactions on several shards. It is required with XA.
	Coordinator Coordinator
	// Stop is called at named points of a commit on several shards, for tests that end the process there. It may be nil.
	Stop   func(point string)
	Counts *Counts
	Log    *slog.Logger
}

// Environment describes the session to its connections.
type Environment struct {
	ID      uint32          // the session's ID, for the log
	Context context.Context // is cancelled when the session ends
	Client  Client
	Interrupts
	Observer
}

// Client is the state that a client has set in its session.
type Client interface {
	// Settings returns the settings that connections must have.
	Settings() *backend.Settings
	Profile() backend.Profile
	Autocommit() bool
	Flavor() flavor.Flavor
}

// Interrupts ends the waits of a session.
type Interrupts interface {
	// Unwanted returns why nothing more of the current command may be sent, or nil if it may.
	Unwanted() error
	// Waits returns a context that ends when the current command is cancelled.
	Waits() context.Context
	// Await registers a connection, so that an interruption ends the statement on it. If it returns an error, which is the
	// error of Unwanted, the connection was not registered.
	Await(*backend.Pool, *backend.Conn) error
	// Remove unregisters a connection. It reports whether a kill may still hit the statement that runs on it next.
	Remove(*backend.Conn) (killed bool)
	// Shield protects the following statements from interruption, until Unshield.
	Shield()
	Unshield()
}

// Observer is notified of events.
type Observer interface {
	// Waited records the wait for a connection.
	Waited(time.Duration)
	// Queried records that a shard is queried on a connection other than the session's.
	Queried(router.ShardName)
	// Trace returns the trace of the current statement, or nil if it is not traced.
	Trace() *trace.Statement
	// Reserves records the current reasons for reserved connections. thread returns the server's ID of the connection that is reserved on a
	// shard, or 0 if none is.
	Reserves(reasons string, thread func(router.ShardName) uint32)
}
