// Package ddl runs definitions of tables, views, routines and databases that are on every shard. It owns the order in which
// the shards, the declarations and the other proxies get a definition, and the error that lists the shards where it took
// effect. It never plans a statement, and it never writes to the client.
package ddl
