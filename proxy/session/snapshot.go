package session

import (
	"context"
	"time"

	"locus/idgen/cipher"
	"locus/proxy/ddl"
	"locus/proxy/fence"
	"locus/proxy/flavor"
	"locus/proxy/health"
	"locus/proxy/kept"
	"locus/proxy/meter"
	"locus/proxy/mirror"
	"locus/proxy/snapshot"
	"locus/proxy/stamp"
	"locus/proxy/sysvars"
	"locus/proxy/trace"
	"locus/proxy/txn"
)

// flavor returns the flavor of the shards' servers.
func (s *Session) flavor() flavor.Flavor { return s.Snapshot().Flavor }

// health returns the known states of the servers, or nil if none are known.
func (s *Session) health() *health.Snapshot {
	if s.Health == nil {
		return nil
	}
	return s.Health()
}

// Services contains everything that all sessions of a process share. The fields don't change after the first session has
// started.
type Services struct {
	txn.Services
	Snapshot func() *snapshot.Snapshot
	// Health returns the known states of the servers, or nil if none are known. The field may be nil.
	Health func() *health.Snapshot
	// Versions returns the versions of all servers, replicas included.
	Versions func() []string
	Sessions Sessions
	IDs      stamp.IDs
	// Generators serves NEXT VALUE FOR. Nil means that there are no generators.
	Generators Generators
	// Numbers serves AUTO_INCREMENT columns of sharded tables. Nil means that such columns can't be numbered.
	Numbers stamp.Numbers
	// Ring returns the current keys, or nil if there are none.
	Ring func() *cipher.Ring
	// MaxStatement is the largest payload of a command in bytes, like max_allowed_packet.
	MaxStatement int
	// Timeouts are the time limits of waits for a client, unless the session sets its own.
	Timeouts sysvars.Timeouts
	// Memory limits the memory that all sessions together keep between commands.
	Memory  *kept.Memory
	Fencing fence.Config
	Counts  *Counts
	// Meter counts statements by gene, and the outcomes of those on moving genes.
	Meter *meter.Meter
	// Tracer decides which statements are traced. Nil means none.
	Tracer *trace.Tracer
	// Mirror is offered reads of moving genes. Nil means that no reads are mirrored.
	Mirror *mirror.Mirror
	// Began is the time when the process started to serve. Clients returns the number of its clients, for COM_STATISTICS.
	Began   time.Time
	Clients func() int
	// Version returns the version that the proxy reports at login and later. Hostname is the name of the machine.
	Version  func() string
	Hostname string
	// Processes describes all sessions of the proxy.
	Processes func() []sysvars.Process
	// Definitions are the parts of the process that definitions use.
	Definitions ddl.Services
	// Unlisted polls the shards because a name is unknown. It reports whether the shards differ from before, so that another
	// snapshot is in force. Polls have a minimum interval. With waits set, Unlisted waits for it. Otherwise it returns false if
	// it may not poll at once. If the field is nil, the shards are only polled periodically.
	Unlisted func(ctx context.Context, waits bool) bool
	// Virtual contains the tables of the schema locus. Nil means none.
	Virtual sysvars.Virtual
	// Procedures runs the procedures of the schema locus. Nil means that there are none.
	Procedures Procedures
}
