// Package balance chooses genes to move to another shard, in order to balance the shards' load or to relieve one shard.
//
// It owns only that choice and is pure. Its caller provides the weights of genes. It never moves anything and never
// checks for other obstacles to a move.
package balance
