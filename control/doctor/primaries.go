package doctor

import (
	"context"
	"maps"
	"slices"
	"time"

	"locus/control/failover"
	"locus/router"
	"locus/router/cluster"
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
		r := records[name]
		if r.Trouble != "" && e.Cluster.Shards[name].Leased() {
			e.find("primaries", string(name), r.Remedy, "%s (since %s, as %s sees it)", r.Trouble, r.At.Format(time.RFC3339), r.By)
		}
		if e.Cluster.Shards[name].Failover == cluster.FailoverPromote {
			e.failover(name, r)
		}
	}
}

// failover tells what a failover of a shard would come to now.
func (e *examination) failover(name router.ShardName, r failover.Record) {
	if !r.Waits.IsZero() {
		e.find("primaries", string(name), "start a replica, or have one follow; or locus switchover "+string(name)+" --without-replicas: it goes on, and what it acknowledges may be lost with it",
			"writes wait for a replica: too few have answered its primary %s since %s", r.Primary, r.Waits.Format(time.RFC3339))
	}
	if r.MayLose != "" {
		remedy := "set up semi-synchronous replication on all of its servers (docs/how-to/failover.md)"
		if e.Cluster.Primaries[name].Alone {
			remedy = "start a replica, or have one follow: writes wait for it again then"
		}
		e.find("primaries", string(name), remedy,
			"what its primary %s acknowledges may be lost with it: %s", r.Primary, r.MayLose)
	}
	for _, addr := range slices.Sorted(maps.Keys(r.Errant)) {
		e.find("primaries", string(name)+" at "+addr, "locus rejoin "+string(name)+" "+addr, "it has transactions of its own, which the primary %s never had, and is not promoted: %s", r.Primary, r.Errant[addr])
	}
	for _, addr := range slices.Sorted(maps.Keys(r.Unready)) {
		if r.Errant[addr] == "" {
			e.find("primaries", string(name)+" at "+addr, "fix what the error says, or remove the server from servers: (locus apply)", "it can't take its part in a failover: it %s", r.Unready[addr])
		}
	}
}

func (e *examination) unfinished() {
	for _, name := range slices.SortedFunc(maps.Keys(e.Cluster.Primaries), router.ShardName.Compare) {
		p := e.Cluster.Primaries[name]
		if p.Settled() {
			continue
		}
		remedy := "locus switchover " + string(name) + " --to " + p.Target() + " ends it"
		if p.Former != "" {
			e.find("primaries", string(name), remedy, "%s is the primary, and %s, which was, is not known to follow it", p.Server, p.Former)
			continue
		}
		e.find("primaries", string(name), remedy, "a switchover to %s has not ended; %s is the primary, and may refuse writes", p.Next, p.Server)
	}
}
