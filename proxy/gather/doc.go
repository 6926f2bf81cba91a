// Package gather carries rows of shards' answers into temporary tables, byte for
// byte what they were: so that one server can run a statement over the rows of
// several.
//
// It owns how a value of each type is read and written so that it comes out the
// same whatever the session's variables are, the limits of rows and bytes, and as
// which literal a column takes a query's value as it would take it from the query. It
// never decides what is gathered nor where, and never makes or drops a table.
package gather
