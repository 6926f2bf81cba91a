package sysvars

import (
	"locus/proxy/backend"
	"locus/proxy/wire"
)

// Shard is the shard that answers questions to which the proxy doesn't know the answer. It is the first shard.
type Shard interface {
	// On calls f with a connection that has the settings. On this connection, f sees the effects of the session's transaction
	// on the shard.
	On(settings *backend.Settings, f func(Conn) error) error
	// Compute runs a query of which the client has written a part. The session keeps the state that it leaves on the connection. The session's
	// settings may have changed afterwards, because functions can assign user variables.
	Compute(settings *backend.Settings, query string) (*backend.Rows, error)
	// Reassign makes the connections on which stored code ran receive the named variables again with their next settings, because the code may have
	// set them. The name names represents what SET NAMES sets. undo reverts that, for a server that refused the values. It is nil if there are no
	// such connections.
	Reassign(names []string) (undo func())
}

// Conn is a connection to a shard, for the proxy's own texts.
type Conn interface {
	Query(text string) (*backend.Rows, error)
	Exec(text string) (wire.OK, error)
	// Carry applies other settings to the connection.
	Carry(*backend.Settings) error
	// Note declares the state that the next text may leave on the connection, if any.
	Note(backend.Leaves)
}
