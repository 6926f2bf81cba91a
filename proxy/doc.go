// Package proxy is one proxy process: it listens, lets clients log in, keeps
// the sessions and ends them in good order.
//
// It owns the listener, the registry of sessions, the accounts, and the making
// of the snapshot that sessions plan against: it turns the declared cluster and
// the shards' live schemas into one immutable [snapshot.Snapshot]. It never reads a
// statement, and never writes what is declared.
package proxy
