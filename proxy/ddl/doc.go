// Package ddl makes definitions of tables, views, routines and databases that are on every shard. It owns the order in which the shards,
// the declarations and the other proxies learn of a definition, and the error that says on which shards it was made. It never plans a
// statement, and it never writes to the client.
package ddl
