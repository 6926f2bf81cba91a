// Package switchover changes the primaries of a shard under load: real servers of both
// engines with real replication, etcd, and two proxies.
//
// The proxies run in the test's own process, because tests change what a running proxy sees and read its counters.
package switchover
