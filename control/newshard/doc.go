// Package newshard gives a shard that owns no genes what every shard has: databases, tables, views, and the rows of global tables.
//
// It owns what such a shard lacks, the statements that make it, and how its global tables become equal to the first shard's while
// clients write them. It never changes a shard that owns genes, nor rows there that it can't tell to be copies, never declares a
// shard, and never moves a gene.
//
// # How rows become equal while they are written
//
// Rows are copied while nobody knows of the shard. Then its global tables are locked, by the one connection that makes them equal, and it
// is declared. From then on proxies write global tables on it too, and wait there; what was begun without it ends elsewhere. Once every
// proxy has said that nothing of that is under way, all that the first shard has committed is all that the new one lacks: what
// comes later waits at the lock. Both are compared, made equal, and the lock is given back.
//
// A transaction that stays open would have all writers wait for it. So the lock is given back after a while, and taken again once all
// proxies have said so. Until then the shard has some rows, and nobody reads it: it owns no genes.
package newshard
