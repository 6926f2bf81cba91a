// Package cluster contains the declaration of a cluster: its settings, shards, tables, users and route map. It exists as one readable file and
// as documents under keys.
//
// It owns the formats of both, the rules for the declaration itself and for changes of a declared cluster, and what a change writes. It never
// connects to etcd or a database server, never sees a secret (documents contain their names), and doesn't know which genes have rows.
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
// The declaration has a prefix of its own. So a watch of it gets no events for keys that change constantly, such as proxies/ and segments/,
// which other packages own. A build that knows more kinds of document, or more fields, increments [Schema].
package cluster
