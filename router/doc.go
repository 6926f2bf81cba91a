// Package router is the route map: which shard owns a gene.
//
// It owns the map's rules (an ordered list of upper bounds; a gene belongs to
// the entry at the smallest bound that is at least the gene), its look-up, its
// changes and its document. A map never changes after [New]: whoever has one may
// read it from any number of goroutines without a lock, and a change makes
// another. It never talks to etcd, looks at a clock or logs, and it doesn't know
// which shards exist beyond their names.
package router
