// Package gather copies rows of shards' answers into temporary tables, so that one server can run a statement over the
// rows of several. The copies are identical byte for byte.
//
// It owns how values of each type are read and written so that they are unchanged regardless of session variables. It
// owns the limits of rows and bytes. It also chooses the literal by which a column takes a query's value as it would
// from the query itself. It never decides what is gathered or where, and never creates or drops a table.
package gather
