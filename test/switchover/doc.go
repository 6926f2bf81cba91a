// Package switchover changes the primaries of a shard under load: real servers of both
// engines with real replication, etcd, and two proxies.
package switchover
