package fakeshard

import (
	"context"
	"fmt"

	"locus/proxy/twophase"
	"locus/router"
)

// Coordinator names transactions t1, t2, … It records its calls, and tests set its results.
type Coordinator struct {
	Unready map[router.ShardName]error
	Verdict twophase.Verdict
	Settled error
	// Half holds the results of successive calls of Halves: the transactions that are committed on some shards
	// only.
	Half  [][]twophase.Name
	Calls []string

	names int
}

func (c *Coordinator) Ready(_ context.Context, shard router.ShardName) error { return c.Unready[shard] }

func (c *Coordinator) Name(home router.ShardName) twophase.Name {
	c.names++
	return twophase.Name{Transaction: fmt.Sprintf("t%d", c.names), Home: home}
}

func (c *Coordinator) Decide(_ twophase.Name, branches []router.ShardName) string {
	return fmt.Sprintf("INSERT decision %v", branches)
}

func (c *Coordinator) Doubt(shard router.ShardName) {
	c.Calls = append(c.Calls, "doubt "+string(shard))
}

func (c *Coordinator) Settle(context.Context, twophase.Name) (twophase.Verdict, error) {
	c.Calls = append(c.Calls, "settle")
	return c.Verdict, c.Settled
}

func (c *Coordinator) Halves(context.Context, []router.ShardName) (half []twophase.Name, err error) {
	c.Calls = append(c.Calls, "halves")
	if len(c.Half) > 0 {
		half, c.Half = c.Half[0], c.Half[1:]
	}
	return half, nil
}

func (c *Coordinator) Forget(n twophase.Name) { c.Calls = append(c.Calls, "forget "+n.Transaction) }

func (c *Coordinator) Leave(n twophase.Name) { c.Calls = append(c.Calls, "leave "+n.Transaction) }
