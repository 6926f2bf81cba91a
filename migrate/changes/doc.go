// Package changes reads one server's binary log as row changes of the watched tables.
//
// It owns the feed: the connection to the log and its renewal, the position in the log, which changes were already
// returned, undecided branches of XA transactions, and the detection of what can't be followed. Only this package uses
// go-mysql's replication. It never applies a change, never asks who owns a gene, and never filters rows: it returns all
// changes of a watched table except those that a move itself wrote.
//
// A [Position] is opaque; only this package interprets one. It lies between two groups of rows. Reading from it always
// returns the same changes, after a lost connection as well as in another process.
//
// A transaction that writes to the schema `locus` was written by a move. Its later writes are an echo and are dropped.
// See package checkpoint.
package changes
