package txn

import (
	"iter"

	"locus/router"
	"locus/router/catalog"
)

// Moment is the route map and the declarations under which a branch joined: the genes that its shard owned, and the tables that were declared. In
// most isolation levels a branch sees its shard's rows as of that moment. It may see rows that the shard received later in part, or not at all.
type Moment struct {
	Map     *router.Map
	Catalog *catalog.Catalog
}

// SetMoment sets the moment under which the following statements run.
func (c *Connections) SetMoment(m Moment) { c.moment = m }

// Earlier returns the shards that joined at another moment than the current one, and their moments.
func (c *Connections) Earlier() iter.Seq2[router.ShardName, Moment] {
	return func(yield func(router.ShardName, Moment) bool) {
		for _, b := range c.branches {
			if b.joined != c.moment && !yield(b.Shard, b.joined) {
				return
			}
		}
	}
}

// Joined returns the shards that the transaction has joined.
func (c *Connections) Joined() (shards []router.ShardName) {
	for _, b := range c.branches {
		shards = append(shards, b.Shard)
	}
	return shards
}
