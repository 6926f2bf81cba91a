// Package kept contains what a session keeps between commands. These are prepared statements, parameter values that are sent in pieces, the texts
// of PREPARE, and the variables that SET, := and SELECT … INTO set.
//
// It owns their limits, per session and per process, and the numbers and names by which clients refer to statements. It never plans a statement
// and never contacts a shard. Package txn limits what is counted one by one: savepoints, named locks and temporary tables.
package kept
