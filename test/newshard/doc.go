// Package newshard adds a shard to a cluster that is used, and gives it genes: what clients read and write meanwhile is right at every
// moment. It has no code that ships.
package newshard
