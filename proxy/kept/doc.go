// Package kept holds what a session keeps between commands: prepared statements, parameter values sent in pieces, the texts of
// PREPARE, and the values set by SET, := and SELECT … INTO.
//
// It owns their bounds, per session and per process, and the numbers and names by which clients refer to statements. It never
// plans a statement and never contacts a shard. Package txn bounds what is counted one by one: savepoints, named locks and
// temporary tables.
package kept
