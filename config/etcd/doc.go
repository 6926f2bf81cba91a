// Package etcd reads, watches and writes keys of etcd, and holds keys that exist as long as their process does.
//
// It owns the connection, all its deadlines and the knowledge about failed writes. Only this package dials etcd. It
// knows nothing of shards or maps; a value is bytes. It never repeats a write with an unknown outcome, and never writes
// without the revision that the writer has seen.
package etcd
