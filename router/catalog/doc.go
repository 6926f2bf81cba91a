// Package catalog holds the declared tables, resolved against the columns that
// the shards really have.
//
// It owns what is known of a table: its kind, which of its columns carry a
// gene and how a value of each becomes one. Every check of a declaration
// against a live schema is made here, once, so that no reader checks again: a
// [Table] that exists fits its table. It never reads a schema itself, never
// decides where a statement goes, and does no I/O.
package catalog
