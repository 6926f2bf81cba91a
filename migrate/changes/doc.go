// Package changes reads the binary log of one server, as changes of rows of the
// tables that are watched.
//
// It owns the feed: the connection to the log and its renewal, where in the log
// it is, which changes were given out before, branches of XA transactions until
// they are decided, and what in the log can't be followed. It alone speaks
// go-mysql's replication. It never applies a change, never asks whose a gene is,
// and never filters rows: all changes of a watched table are given out, but those
// that a move wrote itself.
//
// A [Position] is opaque: only this package reads one. It stands between two
// groups of rows; what is given out after it is the same whenever the log is read
// from there, be it after a lost connection or by another process.
//
// A transaction that writes to the schema `locus` was written by a move; what it
// writes after that is an echo and is dropped. See package checkpoint.
package changes
