package exec

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/fence"
	"locus/proxy/flavor"
	"locus/proxy/health"
	"locus/proxy/kept"
	"locus/proxy/observe"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/stamp"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
)

// Environment is what the statements of one session are carried out in. It belongs to the session's goroutine.
type Environment struct {
	ID       uint32
	Context  context.Context // ends with the session
	Snapshot func() *snapshot.Snapshot
	// Health is what is known of the servers now; it gives nil where nothing is.
	Health func() *health.Snapshot
	Tally  *Tally
	Log    *slog.Logger

	Conns    *txn.Connections
	Vars     *sysvars.State
	Share    *kept.Share // of memory, for what the session has set
	Client   *reply.Client
	Gate     *fence.Gate
	Observer *observe.Session
	// ClientProfile is what the client's choices ask of connections.
	ClientProfile backend.Profile

	Account *snapshot.Account // the user's, by the snapshot of the statement under way; never nil
	Issuers
	// insertEnding is endInsert, made once.
	insertEnding reply.Ending
	// unsent has the sending to a shard fail, for tests; nil: it does not.
	unsent func(router.ShardName) error

	// stale are the shards whose last known primaries have answered the statement under way without a confirmation by etcd.
	stale []router.ShardName

	// Unreadable is why what the last statement has assigned could not be read from its connection: the session ends.
	Unreadable error

	*Buffers
}

// Init makes it that of a session.
func (e *Environment) Init(of Environment) {
	*e = of
	e.insertEnding = e.endInsert
}

// Buffers are the memory of the command under way. They are nil between commands.
type Buffers struct {
	text     []byte             // a changed one
	executed *backend.Statement // what a cursor was asked for, on its connection
	stamper  stamp.Stamper
	insert   inserting // the stamped INSERT under way
	// generated are parameters of a spliced statement, integers the bytes of
	// those that were generated.
	generated []wire.Param
	integers  []byte
	// binding is that of the last execution of a prepared statement.
	binding []byte
}

// Long tells buffers of which one has more than so many bytes, or parameters.
func (b *Buffers) Long(bytes, params int) bool {
	return cap(b.text) > bytes || cap(b.integers) > bytes || cap(b.generated) > params
}

// Release forgets what the command has left in them.
func (b *Buffers) Release() {
	b.stamper.Release()
	b.executed, b.insert = nil, inserting{}
	clear(b.generated[:cap(b.generated)])
}

// Tally is what the sessions of a process add up, for metrics.
type Tally struct {
	OneShard  atomic.Uint64 // statements on one shard
	Scattered atomic.Uint64 // on several
	Stamped   atomic.Uint64 // rows that got a generated ID
	Gathered  atomic.Uint64 // statements whose rows were gathered
	Retried   atomic.Uint64 // reads that were sent again, since the connection was lost before any answer
}

// NoteError keeps what the client is told.
func (e *Environment) NoteError(told *mysql.MyError) {
	e.Observer.Told(told.Code)
	e.Vars.Fail(told)
}

// Settings implements txn.Client.
func (e *Environment) Settings() *backend.Settings { return e.Vars.Settings }

// Profile implements txn.Client.
func (e *Environment) Profile() backend.Profile { return e.ClientProfile }

// Autocommit implements txn.Client.
func (e *Environment) Autocommit() bool { return e.Vars.Autocommit }

// Flavor implements txn.Client: that of the shards.
func (e *Environment) Flavor() flavor.Flavor { return e.Snapshot().Flavor }

// Carry makes settings the session's.
func (e *Environment) Carry(settings *backend.Settings) {
	if e.Vars.Settings == nil || e.Vars.Settings.Database() != settings.Database() {
		e.Observer.Uses(settings.Database())
	}
	e.Vars.Carry(settings)
	e.Share.Carry(settings)
}

// Carriable tells why the session can't have the settings; nil: it can.
func (e *Environment) Carriable(next *backend.Settings) error {
	if next == e.Vars.Settings {
		return nil
	}
	return e.Share.Carriable(next)
}
