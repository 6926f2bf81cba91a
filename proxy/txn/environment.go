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

// Spanning says what a transaction does when it touches a second shard.
type Spanning uint8

const (
	// XA commits in two phases, all or nothing (package twophase).
	XA Spanning = iota
	// Multi commits shard by shard, in order; a failure after the first commit
	// is reported as such.
	Multi
	// Single refuses.
	Single
)

// Pools gives the connections to a shard.
type Pools interface {
	Pool(router.ShardName) (*backend.Pool, bool)
	// Replica gives those to a server whose rows may be late.
	Replica(router.ShardName) (*backend.Pool, bool)
}

// Services are what the connections of all sessions share.
type Services struct {
	Pools    Pools
	Spanning Spanning
	// Coordinator names and recovers transactions over several shards; needed with XA.
	Coordinator Coordinator
	// Stop is called at named points of a commit over several shards, for tests
	// that end the process there. May be nil.
	Stop   func(point string)
	Counts *Counts
	Log    *slog.Logger
}

// Environment is what connections are told of the session that has them.
type Environment struct {
	ID      uint32          // the session's, for the log
	Context context.Context // ends with the session
	Client  Client
	Interrupts
	Observer
}

// Client is what its client has made of the session so far.
type Client interface {
	// Settings are what connections are to carry.
	Settings() *backend.Settings
	Profile() backend.Profile
	Autocommit() bool
	Flavor() flavor.Flavor
}

// Interrupts end what a session waits for.
type Interrupts interface {
	// Unwanted is why nothing more of the command under way is to be sent; nil: it is.
	Unwanted() error
	// Waits ends when the command under way is cancelled.
	Waits() context.Context
	// Await adds a connection to those that an interruption ends. After an error, which is
	// that of Unwanted, it was not added.
	Await(*backend.Pool, *backend.Conn) error
	// Remove takes it out, and tells whether a kill may still hit what runs on it next.
	Remove(*backend.Conn) (killed bool)
	// Shield keeps what runs next from being cut off, until Unshield.
	Shield()
	Unshield()
}

// Observer hears of what happens on the way.
type Observer interface {
	// Waited for a connection.
	Waited(time.Duration)
	// Asked records that a shard is asked on a connection apart from the session's.
	Asked(router.ShardName)
	// Trace is of the statement under way; nil: it is not traced.
	Trace() *trace.Statement
	// Reserves tells which reasons to reserve connections there are now, and gives the number of a shard's connection that is
	// reserved; 0: none is.
	Reserves(reasons string, thread func(router.ShardName) uint32)
}
