// Package kept is what a session keeps from command to command: prepared statements, values that came in pieces, the texts of
// PREPARE, and what SET, := and SELECT … INTO have set.
//
// It owns the bounds of it, for each session and for the whole process, and the numbers and names that clients know statements by.
// It never plans a statement, and never talks to a shard. Package txn bounds what is counted one by one: names of savepoints,
// named locks and temporary tables.
package kept
