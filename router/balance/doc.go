// Package balance says which genes should go to another shard, so that shards
// have about as much to bear as each other, or one of them has less.
//
// It owns the choice, and only that: it is pure. It never asks what a gene weighs
// (its caller does), never moves anything, and never looks at what else forbids a
// move.
package balance
