//go:build !long

package e2e

import "locus/test/servers"

// awayRuns is how often each statement that doesn't need the shard runs while it is away.
const awayRuns = 15

// strikes has each shard go on each engine, and each way twice or once.
func strikes(engine servers.Engine, _ []fault) []strike {
	if engine == servers.MariaDB {
		return []strike{{0, "stopped"}, {1, "swallowed"}, {2, "killed"}}
	}
	return []strike{{0, "killed"}, {1, "cut off"}, {2, "stopped"}}
}
