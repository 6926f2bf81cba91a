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

// flavor is that of the shards.
func (s *Session) flavor() flavor.Flavor { return s.Snapshot().Flavor }

// Services are what all sessions of a process share. The fields don't change
// once the first session runs.
type Services struct {
	txn.Services
	Snapshot func() *snapshot.Snapshot
	// Health is what is known of the servers now; it gives nil where nothing is. May be nil.
	Health func() *health.Snapshot
	// Versions are those of all servers, replicas too.
	Versions func() []string
	Sessions Sessions
	IDs      stamp.IDs
	// Generators are for NEXT VALUE FOR; nil: there are none.
	Generators Generators
	// Numbers are for AUTO_INCREMENT columns of sharded tables; nil: they can't be numbered.
	Numbers stamp.Numbers
	// Ring is the keys of the moment; it gives nil where there are none.
	Ring func() *cipher.Ring
	// MaxStatement bounds a command's payload in bytes, as max_allowed_packet does.
	MaxStatement int
	// Timeouts bound the waits for a client, as long as the session sets no others.
	Timeouts sysvars.Timeouts
	// Memory bounds what all sessions keep from command to command.
	Memory  *kept.Memory
	Fencing fence.Config
	Counts  *Counts
	// Meter counts statements by gene, and how those on moving genes fare.
	Meter *meter.Meter
	// Tracer decides which statements are traced; nil: none is.
	Tracer *trace.Tracer
	// Mirror is offered reads of moving genes; nil: nobody wants them.
	Mirror *mirror.Mirror
	// Began is when the process began to serve, and Clients counts those it has
	// now: for COM_STATISTICS.
	Began   time.Time
	Clients func() int
	// Version is what the proxy calls itself, at login and after; Hostname is the
	// machine's.
	Version  func() string
	Hostname string
	// Processes describes all of the proxy's.
	Processes func() []sysvars.Process
	// Definitions are the parts of the process that definitions use.
	Definitions ddl.Services
	// Unlisted has the shards looked at again since a name is unknown, and tells whether
	// they have something else than before: then another snapshot is in force. They are not
	// asked too often: unless it waits until they may be, nothing is done then. Nil: they
	// are looked at now and then.
	Unlisted func(ctx context.Context, waits bool) bool
	// Virtual is the tables of the schema locus; nil: there are none.
	Virtual sysvars.Virtual
	// Procedures are those of the schema locus; nil: there are none.
	Procedures Procedures
}
