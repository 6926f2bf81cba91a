// Package moves tests the parts of a move together, between real servers of each
// engine: copy, stream, verification, crashes, conflicts. It has no code that
// ships.
//
// It does not use test/cluster: it has neither etcd nor proxies, and its tests share their servers.
package moves
