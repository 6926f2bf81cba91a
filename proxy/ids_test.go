package proxy

import (
	"testing"

	"locus/router"
	"locus/router/catalog"
	"locus/router/endpoint"
)

// TestIssuersAreKept: a table with an equal declaration keeps its segments.
func TestIssuersAreKept(t *testing.T) {
	on := func(shard router.ShardName, redis ...string) issuerKey {
		d := catalog.Declaration{Kind: catalog.Sharded, Owner: "buyer", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}}
		if shard != "" {
			d.ID.Segments.Store = &catalog.SegmentStore{MySQL: &catalog.ShardStore{Shard: shard}}
		}
		if len(redis) > 0 {
			d.ID.Segments.Redis = &endpoint.Redis{Servers: endpoint.Servers{Several: redis}}
		}
		return keyOf(&catalog.Table{TableName: catalog.TableName{Schema: "shop", Name: "parcel"}, Declaration: d})
	}
	for _, shard := range []router.ShardName{"", "s0"} {
		if before, now := on(shard), on(shard); before != now {
			t.Errorf("shard %q: declared again it has another issuer", shard)
		}
	}
	if on("s0") == on("s1") || on("s0") == on("") {
		t.Error("another shard has the same issuer")
	}
	if before, now := on("", "r1:6379", "r2:6379"), on("", "r1:6379", "r2:6379"); before != now {
		t.Error("declared again with its Redis it has another issuer")
	}
	if on("", "r1:6379", "r2:6379") == on("", "r1:6379") || on("", "r1:6379") == on("") {
		t.Error("another Redis has the same issuer")
	}
}
