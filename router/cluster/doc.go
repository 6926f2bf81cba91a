// Package cluster is what a cluster declares: its settings, shards, tables,
// users and route map, as one readable file and as documents under keys.
//
// It owns the formats of both, every rule that the declaration must keep by
// itself, which changes of a declared cluster can't be made, and what a change
// writes. It never talks to etcd or a database server, never sees a secret
// (documents hold their names), and doesn't know which genes have rows.
//
// # Keys
//
// Relative to the cluster's prefix:
//
//	declared/settings                gene bits, hash, counter groups, default shard
//	declared/shards/<name>           where a shard's server is and how to log in
//	declared/primaries/<name>        which of a shard's servers is written to
//	declared/tables/<schema>.<table> how a table is routed
//	declared/users/<name>            who may log in to the proxy
//	declared/map                     the route map in force, by package router's codec
//	history/<version>                every route map, ten digits, the one in force too
//
// What is declared has a prefix of its own, so that a watch of it hears nothing
// of keys that change without end, such as proxies/ and segments/, which are
// their owners'. A build that knows more kinds of document, or more fields,
// raises [Schema].
package cluster
