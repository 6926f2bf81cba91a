// Package checkpoint is what a move writes down at the server that its rows go
// to: how far the stream is applied, how far each table is copied and verified,
// and the rows that were refused.
//
// It owns the tables of the schema `locus` and every statement on them. It never
// decides what is written when: that a position is in one transaction with its
// rows is for the caller to see to.
//
// A write to a table of this schema also marks its transaction, for the stream
// that goes the other way: rows beside it came from a move, and are not carried
// back. So it is the first write of its transaction.
package checkpoint
