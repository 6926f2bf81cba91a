// Package table is what a moving table looks like: its columns and how their
// values are read and written without loss, its primary key, how the gene of a
// row is found, and which ranges of the primary key a set of genes is.
//
// It owns the questions to information_schema, the one form in which all parts
// of a move see a value ([Row]), and the SQL text of values, keys and genes. It
// never reads or writes a row, and never decides which rows move.
//
// # Values
//
// A value is the bytes of one text, the same whether a query or a binary log
// told it: NULL is nil; numbers are decimal; FLOAT and DOUBLE are the shortest
// text that gives the same double, with an exponent; BIT, ENUM and SET are
// numbers; times are as the server spells them, TIMESTAMP in UTC; text and bytes
// are the bytes that the column stores, BINARY(n) with its trailing zeros;
// GEOMETRY is the server's own form, SRID and WKB; JSON is MySQL's text of it.
package table
