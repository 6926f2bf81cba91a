// Package newshard gives a shard that owns no genes everything that each shard must have: databases, tables,
// views, and the rows of global tables.
//
// It owns the list of what such a shard lacks, the statements that create it, and the procedure by which its
// global tables become equal to the first shard's while clients write them. It never changes a shard that owns
// genes, nor rows that it can't identify as copies. It never declares a shard, and never moves a gene.
//
// # How rows become equal while clients write them
//
//  1. Before any proxy knows of the shard, most rows are copied.
//  2. The connection that copies locks the shard's global tables, and the shard is declared. From then on,
//     proxies write global tables on the new shard too, and wait there for the lock. Statements that began
//     before end on the other shards.
//  3. Every proxy reports that no such statement is running. Now the new shard lacks exactly what the first
//     shard has committed. Later writes wait for the lock.
//  4. The rows are compared and made equal, and the lock is released.
//
// A transaction that stays open would make all writers wait for the lock. So the lock is released after a
// while, and taken again once all proxies have reported. Until then the shard has some of the rows. No
// statement reads them there, because the shard owns no genes.
package newshard
