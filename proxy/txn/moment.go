package txn

import (
	"iter"

	"locus/router"
	"locus/router/catalog"
)

// Moment is which rows each shard had when a branch joined: the genes that it owned, and the tables that were declared. In most isolation
// levels a branch sees its shard's rows as they were then. What has come to the shard since, it may see in part, or not at all.
type Moment struct {
	Map     *router.Map
	Catalog *catalog.Catalog
}

// At tells by which moment statements run from now on.
func (c *Connections) At(m Moment) { c.moment = m }

// Earlier are the shards that have joined by another moment than statements run by now.
func (c *Connections) Earlier() iter.Seq2[router.ShardName, Moment] {
	return func(yield func(router.ShardName, Moment) bool) {
		for _, b := range c.branches {
			if b.joined != c.moment && !yield(b.Shard, b.joined) {
				return
			}
		}
	}
}
