// Package copies holds what every shard is to have alike, the rows of global tables and the views, to what the first shard has:
// it compares, and makes the same.
//
// It owns which of two servers' rows differ, and the statements that make them equal. It never says which shard is the first,
// never makes a row equal where clients read it, and never takes a row for different that somebody is writing just then.
//
// A table without a primary key, or with values that are not carried without loss, is not compared: see [UnreadableError].
package copies
