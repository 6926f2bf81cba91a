//go:build long

package e2e

import "locus/test/servers"

// awayRuns is how often each statement that doesn't need the shard runs while it is away.
const awayRuns = 150

// awayRounds is how often each shard goes in each way.
const awayRounds = 2

func strikes(_ servers.Engine, faults []fault) (list []strike) {
	for range awayRounds {
		for shard := range 3 {
			for _, f := range faults {
				list = append(list, strike{shard, f.name})
			}
		}
	}
	return list
}
