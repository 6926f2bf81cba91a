// Package sqldb provides the connections of a pool as a database of database/sql, for packages that don't know
// the proxy's own interfaces.
//
// It owns the conversion of arguments into the text of a statement. The pool keeps the connections, and lends
// one for as long as database/sql uses it. The package never repeats a statement that a server may have
// received, and supports no transactions.
package sqldb
