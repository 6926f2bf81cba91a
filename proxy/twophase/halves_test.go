package twophase

import (
	"slices"
	"testing"

	"locus/router"
)

// A transaction is half committed if its home shard has decided to commit it and a branch is still prepared. An
// undecided transaction, or one that was decided against, is visible on no shard.
func TestHalves(t *testing.T) {
	shards := []router.ShardName{"s0", "s1"}
	f := newFakeServers(shards...)
	c := New(Options{Cluster: "test", Servers: f})
	decided, undecided, forbidden, whole := c.Name("s0"), c.Name("s0"), c.Name("s1"), c.Name("s1")
	f.shards["s1"].prepared[decided.Transaction] = decided
	f.shards["s0"].rows[decided.Transaction] = row{true, "s1"}
	f.shards["s1"].prepared[undecided.Transaction] = undecided
	f.shards["s0"].prepared[forbidden.Transaction] = forbidden
	f.shards["s1"].rows[forbidden.Transaction] = row{false, ""}
	f.shards["s1"].rows[whole.Transaction] = row{true, "s0"}
	halves, err := c.Halves(t.Context(), shards)
	if want := []Name{decided}; err != nil || !slices.Equal(halves, want) {
		t.Errorf("%v, %v, want %v", halves, err, want)
	}
}
