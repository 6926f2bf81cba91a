// Package audit looks whether each shard has what it should: of tables whose rows
// have genes only rows of its own, and of global tables the same rows as every
// other shard.
//
// It owns the questions and what follows from the answers. It never changes a row,
// and never says which of two shards is right.
//
// # What it can't see
//
//   - A row that is missing: nobody knows what should be there. A move's own
//     comparison finds those that it should have carried.
//   - Of global tables what package checksum can't see of rows; and a difference
//     that passes while it looks again.
package audit
