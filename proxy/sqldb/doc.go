// Package sqldb shows the connections to a shard as a database of database/sql,
// for packages that know nothing of the proxy's.
//
// It owns how arguments are written into a statement. The pool behind it keeps
// the connections: one is borrowed for as long as database/sql holds it. It never
// sends again what a server may have seen, and knows no transactions.
package sqldb
