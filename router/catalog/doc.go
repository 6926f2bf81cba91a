// Package catalog contains the declared tables, resolved against the columns that the shards really have.
//
// It owns all facts about a table: its kind, its columns that carry a gene, and how a value of each is converted to one. Every check of a
// declaration against a live schema is made here, once, so that no reader repeats it: a [Table] that exists fits its schema. The package never
// reads a schema itself, never decides where a statement is sent, and does no I/O.
package catalog
