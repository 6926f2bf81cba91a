package sysvars

import (
	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/wire"
)

// Shard is the shard whose server is asked about what the proxy doesn't know: the first one.
type Shard interface {
	// Flavor is that of all shards.
	Flavor() flavor.Flavor
	// On has f talk over one connection that carries the settings. It sees what the session's transaction has done there.
	On(settings *backend.Settings, f func(Conn) error) error
	// Compute answers a query that the client has written a part of. What that leaves on its connection stays with the session,
	// whose settings may be others afterwards: functions assign user variables.
	Compute(settings *backend.Settings, query string) (*backend.Rows, error)
	// Anew has connections on which stored code ran be given variables anew when they carry settings next: it may have set them. The
	// name names stands for what SET NAMES sets. undo ends that, if a server has refused the values; it is nil if there is none.
	Anew(names []string) (undo func())
}

// Conn is a connection to a shard, for texts of the proxy's own.
type Conn interface {
	Query(text string) (*backend.Rows, error)
	Exec(text string) (wire.OK, error)
	// Carry brings the connection to other settings.
	Carry(*backend.Settings) error
	// Note says what a text may leave, if it isn't nothing.
	Note(backend.Leaves)
}
