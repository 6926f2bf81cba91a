// Package newshard adds a shard to a cluster in use, and moves genes to it. Clients read and write correctly at every
// moment. It has no code that ships.
package newshard
