//go:build !long

package e2e

import "locus/test/servers"

// awayRuns is how often each statement that doesn't need the shard runs while it is away.
const awayRuns = 8

// strikes has the first shard go on each engine, and another one; each way once.
func strikes(engine servers.Engine, _ []fault) []strike {
	if engine == servers.MariaDB {
		return []strike{{0, "stopped"}, {1, "swallowed"}}
	}
	return []strike{{0, "killed"}, {2, "cut off"}}
}
