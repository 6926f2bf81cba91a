// Package doctor looks at all that a cluster stands on: etcd, the proxies, the
// moves, and on each shard the clock, the account's privileges, the settings of the
// log, room for connections, the tables and what was left behind.
//
// It owns the checks, a plain list, and says of each finding what it is, where, and
// what mends it. It never changes anything: who asked decides.
package doctor
