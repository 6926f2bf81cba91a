// Package copies keeps what every shard must have equal to the first shard: the rows of global tables, and the
// views. It compares them and makes them equal.
//
// It owns the comparison of two servers' rows, and the statements that make them equal. It never decides which
// shard is the first. It never changes a row while clients can read it there. It never reports a row as
// different only because a client is writing it.
//
// Tables without a primary key, and tables with values that can't be transferred without loss, are not
// compared: see [UnreadableError].
package copies
