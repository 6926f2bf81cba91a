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
	"locus/proxy/interrupt"
	"locus/proxy/kept"
	"locus/proxy/mirror"
	"locus/proxy/observe"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/stamp"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

// Config contains the parts of its session and of the process that an engine uses.
type Config struct {
	ID      uint32
	Context context.Context // ends with the session
	// Current returns the current snapshot.
	Current func() *snapshot.Snapshot
	// Health returns the current state of the servers, or nil if it is unknown.
	Health func() *health.Snapshot
	Tally  *Tally
	Log    *slog.Logger

	Conns    *txn.Connections
	Vars     *sysvars.State
	Share    *kept.Share // memory for the session's settings
	Client   *reply.Client
	Gate     *fence.Gate
	Observer *observe.Session
	// Interrupts ends the statements of the session.
	Interrupts *interrupt.Handle
	// Mirror is offered reads of moving genes; nil: no reads are mirrored.
	Mirror *mirror.Mirror
	// Unlisted polls the shards because a name is unknown; see the field of the session's services. It may be nil.
	Unlisted func(ctx context.Context, waits bool) bool
	Issuers
}

// Engine runs the statements of one session. It belongs to the session's goroutine.
type Engine struct {
	Config
	Account *snapshot.Account // the user's account in the snapshot of the running statement; never nil
	// Unreadable is the reason why variables that the last statement assigned could not be read from its connection. The session
	// ends then.
	Unreadable error
	*Buffers

	// insertEnding is endInsert as a func value, allocated once.
	insertEnding reply.Ending
	// unsent makes sending to a shard fail, in tests; nil: it doesn't.
	unsent func(router.ShardName) error
	// stale contains the shards whose last known primaries have answered the running statement without a confirmation by etcd.
	stale []router.ShardName
}

// New returns the engine of a session.
func New(c Config) *Engine {
	e := &Engine{Config: c}
	e.insertEnding = e.endInsert
	return e
}

// Buffers contains the memory of the running command. It is nil between commands.
type Buffers struct {
	route    plan.Route
	text     []byte             // a changed text
	executed *backend.Statement // the statement of the requested cursor, on its connection
	stamper  stamp.Stamper
	insert   inserting // the stamped INSERT in progress
	// generated contains the parameters of a spliced statement. integers contains the bytes of those that were generated.
	generated []wire.Param
	integers  []byte
	// binding is the binding of the last execution of a prepared statement.
	binding []byte
}

// Long reports whether a buffer has a capacity of more than so many bytes, or parameters.
func (b *Buffers) Long(bytes, params int) bool {
	return cap(b.text) > bytes || cap(b.integers) > bytes || cap(b.generated) > params
}

// Release clears the buffers after a command.
func (b *Buffers) Release() {
	b.stamper.Release()
	b.executed, b.insert = nil, inserting{}
	clear(b.generated[:cap(b.generated)])
}

// Tally counts the statements that the sessions of a process have run, for metrics.
type Tally struct {
	OneShard  atomic.Uint64 // statements on one shard
	Scattered atomic.Uint64 // statements on several shards
	Stamped   atomic.Uint64 // rows that got a generated ID
	Gathered  atomic.Uint64 // statements whose rows were gathered
	Carried   atomic.Uint64 // the gathered statements whose rows were sent in their text
	Retried   atomic.Uint64 // reads that were sent again because the connection was lost before any answer
}

// NoteError records an error that the client was sent.
func (e *Engine) NoteError(told *mysql.MyError) {
	e.Observer.ErrorSent(told.Code)
	e.Vars.Fail(told)
}

// Flavor returns the flavor of the shards.
func (e *Engine) Flavor() flavor.Flavor { return e.Current().Flavor }

// Carry sets the session's settings.
func (e *Engine) Carry(settings *backend.Settings) {
	if e.Vars.Settings == nil || e.Vars.Settings.Database() != settings.Database() {
		e.Observer.SetDatabase(settings.Database())
	}
	e.Vars.Carry(settings)
	e.Share.Carry(settings)
}

// Carriable returns the reason why the session can't have the settings, or nil if it can.
func (e *Engine) Carriable(next *backend.Settings) error {
	if next == e.Vars.Settings {
		return nil
	}
	return e.Share.Carriable(next)
}
