// Package proxy runs one proxy process. It listens, accepts logins, runs the sessions, and ends them when the process stops.
//
// It owns the listener, the registry of sessions, and the accounts. It builds the snapshot that sessions plan against: it combines
// the declared cluster and the shards' live schemas into one immutable [snapshot.Snapshot]. It never reads the text of a statement,
// and never writes a declaration.
package proxy
