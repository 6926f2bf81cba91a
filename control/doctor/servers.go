package doctor

import (
	"context"

	"locus/control/fleet"
	"locus/proxy/health"
)

// mends is what to do about a server that is not well, by its state.
var mends = map[health.State]string{
	health.Frozen:   "look at its machine, its disks and the network between; statements go there by themselves once it answers",
	health.Away:     "start it, or fix what the error says; if the address has changed, correct it in cluster.yaml (locus apply)",
	health.Slow:     "look at its load and at the network between",
	health.ReadOnly: "SET GLOBAL read_only = OFF there, or name the primary in cluster.yaml (locus apply)",
}

// servers tells how the proxies see the shards' servers, each on its own way to them. Replicas are to be read-only.
func (e *examination) servers(ctx context.Context) {
	seen, err := fleet.Ask[[]health.Status](ctx, e.KV, fleet.Servers, patience)
	if err != nil {
		return // which was said
	}
	for proxy, servers := range seen.By {
		for _, s := range servers {
			if !s.Unwell() {
				continue
			}
			why := s.Why
			if why != "" {
				why = ": " + why
			}
			e.find("servers", string(s.Shard)+" at "+s.Addr, mends[s.State], "the %s is %s, as proxy %s sees it%s", s.Role(), s.State, proxy, why)
		}
	}
}
