// Package etcd reads, watches and writes keys of etcd, and holds keys that exist
// as long as their process does.
//
// It owns the connection, every deadline on it and what is known of a write that
// failed. It alone dials etcd, and it knows nothing of shards or maps: a value
// is bytes. It never repeats a write whose outcome is unknown, and it never
// writes without being told which revision the writer has seen.
package etcd
