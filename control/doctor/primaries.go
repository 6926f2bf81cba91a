package doctor

import (
	"maps"
	"slices"

	"locus/router"
)

// primaries looks for switchovers that have not come to their end.
func (e *examination) primaries() {
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
