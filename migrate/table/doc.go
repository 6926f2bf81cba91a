// Package table describes a moving table: its columns and how to read and write their values without loss, its primary
// key, how to find a row's gene, and which ranges of the primary key belong to a set of genes.
//
// It owns the queries of information_schema, the canonical form in which all parts of a move see a value ([Row]), and
// the SQL of values, keys and genes. It never reads or writes a row and never decides which rows move.
//
// # Values
//
// A value is the bytes of one text, which is the same from a query and from a binary log. NULL is nil. Numbers are
// decimal. FLOAT and DOUBLE are the shortest text of the same double, with an exponent. BIT, ENUM and SET are numbers.
// Times are spelled as by the server, TIMESTAMP in UTC. Text and bytes are the bytes that the column stores, BINARY(n)
// with its trailing zeros. GEOMETRY is the server's own form, SRID and WKB. JSON is MySQL's text.
package table
