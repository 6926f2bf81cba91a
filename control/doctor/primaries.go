package doctor

import (
	"context"
	"maps"
	"slices"
	"time"

	"locus/control/failover"
	"locus/router"
)

// primaries looks for switchovers that have not come to their end, and for what keeps proxies
// from following a primary.
func (e *examination) primaries(ctx context.Context) {
	e.unfinished()
	if e.KV == nil {
		return
	}
	records, err := failover.Records(ctx, e.KV)
	if err != nil {
		return // which was said
	}
	for _, name := range slices.SortedFunc(maps.Keys(records), router.ShardName.Compare) {
		if r := records[name]; r.Trouble != "" && e.Cluster.Shards[name].Leased() {
			e.find("primaries", string(name), r.Remedy, "%s (since %s, as %s sees it)", r.Trouble, r.At.Format(time.RFC3339), r.By)
		}
	}
}

func (e *examination) unfinished() {
	for _, name := range slices.SortedFunc(maps.Keys(e.Cluster.Primaries), router.ShardName.Compare) {
		p := e.Cluster.Primaries[name]
		if p.Settled() {
			continue
		}
		remedy := "locus switchover " + string(name) + " --to " + p.Aim() + " ends it"
		if p.Former != "" {
			e.find("primaries", string(name), remedy, "%s is the primary, and %s, which was, is not known to follow it", p.Server, p.Former)
			continue
		}
		e.find("primaries", string(name), remedy, "a switchover to %s has not ended; %s is the primary, and may refuse writes", p.Next, p.Server)
	}
}
