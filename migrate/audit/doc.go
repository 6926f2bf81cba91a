// Package audit checks that each shard has the rows that it should: of sharded tables only its own rows, and of global
// tables the same rows as every other shard.
//
// It owns the checks and their interpretation. It never changes a row and never decides which of two shards is right.
//
// # What it can't detect
//
//   - A missing row, because it is unknown what should be there. A move's own comparison finds rows that it failed to
//     move.
//   - In global tables, differences that package checksum can't detect, and differences that vanish before the repeated
//     check.
package audit
