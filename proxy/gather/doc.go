// Package gather copies rows of shards' answers into temporary tables, so that one server can run a statement on the rows of several shards. The
// copies are identical byte for byte.
//
// It owns how values of each type are read and written, so that no session variable changes them. It owns the limits of rows and bytes. It also
// chooses the literal for a query's value, so that a column converts the literal as it would convert the value in the query itself. It never
// decides what is gathered or where, and never creates or drops a table.
package gather
