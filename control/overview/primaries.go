package overview

import (
	"maps"
	"slices"
	"time"

	"locus/control/failover"
	"locus/control/finding"
	"locus/router"
	"locus/router/cluster"
)

// primariesFound returns findings about primaries: switchovers that have not ended, problems that the watchers of the shards'
// servers report, and for each shard with failover what a failover would lack or lose now.
func primariesFound(seen Seen) (list []finding.Finding) {
	add := func(name router.ShardName, server string, f finding.Finding) {
		f.Shards, f.Server, f.Symptom = []router.ShardName{name}, server, true
		list = append(list, f)
	}
	for _, name := range slices.SortedFunc(maps.Keys(seen.Declared.Primaries), router.ShardName.Compare) {
		p, was := seen.Declared.Primaries[name], seen.earlier().Primaries[name]
		if p.Settled() || was.Settled() { // the switchover has only just begun
			continue
		}
		remedy := "locus switchover " + string(name) + " --to " + p.Target() + " ends it"
		if p.Former != "" {
			add(name, p.Former, finding.New(finding.AtRisk, "primaries", string(name), remedy, "%s is the primary, and it is unknown whether the former primary %s follows it", p.Server, p.Former))
			continue
		}
		add(name, "", finding.New(finding.AtRisk, "primaries", string(name), remedy, "a switchover to %s has not ended; %s is the primary, and may refuse writes", p.Next, p.Server))
	}
	for _, name := range slices.SortedFunc(maps.Keys(seen.Records), router.ShardName.Compare) {
		r, declared := seen.Records[name], seen.Declared.Shards[name]
		if r.Trouble != "" && declared.Leased() {
			add(name, "", finding.New(finding.AtRisk, "primaries", string(name), r.Remedy, "%s (since %s, as %s sees it)",
				r.Trouble, finding.Measure(r.At.Format(time.RFC3339)), finding.Measure(r.By)))
		}
		if declared.Failover == cluster.FailoverPromote {
			standby(name, r, seen.Declared.Primaries[name].Alone, add)
		}
	}
	return list
}

// standby adds what a failover of a shard would lack or lose now.
func standby(name router.ShardName, r failover.Record, alone bool, add func(router.ShardName, string, finding.Finding)) {
	if !r.Waits.IsZero() {
		add(name, "", finding.New(finding.Outage, "primaries", string(name),
			"start a replica, or let one follow; or locus switchover "+string(name)+" --without-replicas: writes continue, and may be lost with the primary",
			"writes wait for a replica: too few have answered its primary %s since %s", r.Primary, finding.Measure(r.Waits.Format(time.RFC3339))))
	}
	if r.MayLose != "" {
		remedy := "set up semi-synchronous replication on all of its servers (docs/how-to/failover.md)"
		if alone {
			remedy = "start a replica, or let one follow: writes wait for it again then"
		}
		add(name, "", finding.New(finding.AtRisk, "primaries", string(name), remedy, "transactions that its primary %s acknowledges may be lost with it: %s", r.Primary, r.MayLose))
	}
	for _, addr := range slices.Sorted(maps.Keys(r.Errant)) {
		add(name, addr, finding.New(finding.AtRisk, "primaries", string(name)+" at "+addr, "locus rejoin "+string(name)+" "+addr,
			"it has transactions of its own, which the primary %s never had, and is not promoted: %s", r.Primary, r.Errant[addr]))
	}
	for _, addr := range slices.Sorted(maps.Keys(r.Unready)) {
		if r.Errant[addr] == "" {
			add(name, addr, finding.New(finding.AtRisk, "primaries", string(name)+" at "+addr, "fix what the error says, or remove the server from servers: (locus apply)",
				"it can't take part in a failover: it %s", r.Unready[addr]))
		}
	}
}
