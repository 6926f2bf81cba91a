package overview

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locus/control/finding"
	"locus/control/fleet"
	"locus/proxy/health"
	"locus/router"
)

// Shard is a shard as the proxies see it.
type Shard struct {
	Name    string  `json:"name"`
	Address string  `json:"address"`
	Genes   float64 `json:"genes_percent"`
	fleet.Rates
	InUse   int    `json:"connections_in_use"`
	Limit   int    `json:"connections_limit"`
	Waiting int    `json:"waiting"`
	State   string `json:"state"` // the worst state of its servers as the proxies see them; unknown if none reports
	// Since is when the first proxy saw this state.
	Since    time.Time `json:"since,omitzero"`
	Replicas []Replica `json:"replicas,omitempty"`
	// UnconfirmedSince is the time since which some proxy has no confirmation of the primary from etcd, so that
	// it refuses statements. StaleReads reports that plain reads still work there, and may be stale.
	UnconfirmedSince time.Time `json:"unconfirmed_since,omitzero"`
	StaleReads       bool      `json:"stale_reads,omitempty"`
	Problem          string    `json:"problem,omitempty"`
	// Severity is the highest of all findings that concern the shard.
	Severity finding.Severity `json:"severity"`
}

// Replica is a replica of a shard's primary, as seen by the proxy that reports the largest lag.
type Replica struct {
	Address string `json:"address"`
	LagMs   int64  `json:"lag_ms"`
	Usable  bool   `json:"usable"` // by every proxy
}

// unknown is the state of shards that no proxy reports on.
const unknown = "unknown"

func shards(seen Seen) []Shard {
	list := []Shard{}
	all := float64(int(seen.Declared.Settings.GeneBits.Last()) + 1)
	for _, name := range seen.Declared.ShardNames() {
		s := Shard{
			Name: string(name), Address: seen.Declared.Shards[name].Address, Genes: 100 * float64(seen.Declared.Routes.GenesOf(name).Len()) / all,
			Rates: fleet.Between(seen.Before.By, seen.of(seen.Now), string(name)),
		}
		s.look(name, seen)
		list = append(list, s)
	}
	return list
}

// look combines the proxies' reports of a shard. The figures are those of the chosen proxies, but the state
// considers all.
func (s *Shard) look(name router.ShardName, seen Seen) {
	for _, b := range seen.of(seen.Now) {
		p := b.Pools[string(name)]
		s.InUse, s.Limit, s.Waiting = s.InUse+p.InUse, s.Limit+p.Limit, s.Waiting+p.Waiting
		for _, r := range p.Replicas {
			s.follow(r)
		}
	}
	all, worst := seen.Now.By, health.Status{}
	for _, one := range reported(all, name) {
		if severity(one.Status) > severity(worst) {
			worst = one.Status
		}
	}
	pools := poolsOf(all, name)
	s.UnconfirmedSince, s.StaleReads = pools.unconfirmed, pools.staleReads
	s.State, s.Since = worst.State.String(), worst.Since
	switch {
	case len(all) == 0:
		s.State = unknown
	case worst.Unwell():
		s.Problem = fmt.Sprintf("the %s at %s is %s: %s", worst.Role(), worst.Addr, worst.State, why(worst))
	case !s.UnconfirmedSince.IsZero():
		s.Problem = pools.cutOff()
	case pools.blocked > 0:
		s.Problem = fmt.Sprintf("logins fail; the next one is tried in %v", pools.blocked.Round(100*time.Millisecond))
	case s.Waiting > 0:
		s.Problem = quantity(s.Waiting, "session") + " waiting for a connection"
	}
}

func (s *Shard) follow(r fleet.Replica) {
	at := slices.IndexFunc(s.Replicas, func(known Replica) bool { return known.Address == r.Addr })
	if at < 0 {
		s.Replicas = append(s.Replicas, Replica{r.Addr, r.LagMs, r.Usable})
		slices.SortFunc(s.Replicas, func(a, b Replica) int { return cmp.Compare(a.Address, b.Address) })
		return
	}
	known := &s.Replicas[at]
	known.LagMs, known.Usable = max(known.LagMs, r.LagMs), known.Usable && r.Usable
}

// severity ranks servers' states. Problems that stop writes come before those of replicas.
func severity(s health.Status) int {
	if s.Replica || s.State == health.Well {
		return int(s.State)
	}
	return len(health.States) + int(s.State)
}
