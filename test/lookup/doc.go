// Package lookup tests look-up indexes with real servers: that they keep a column unique over all shards, that every row has its entry and every
// entry its row, and that statements have the same results as on one server with the same unique key.
package lookup
