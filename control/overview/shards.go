package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

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
	// UnconfirmedSince is since when etcd does not confirm the primary to some proxy, so that it refuses statements. StaleReads reports that
	// plain reads go on there, and may be stale.
	UnconfirmedSince time.Time `json:"unconfirmed_since,omitzero"`
	StaleReads       bool      `json:"stale_reads,omitempty"`
	Problem          string    `json:"problem,omitempty"`
	grave            gravity
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
		s.look(name, seen.of(seen.Now))
		list = append(list, s)
	}
	return list
}

// look combines the proxies' reports of a shard.
func (s *Shard) look(name router.ShardName, beats map[string]fleet.Beat) {
	blocked, worst := int64(0), health.Status{}
	for _, b := range beats {
		for _, server := range b.Servers {
			if server.Shard != name {
				continue
			}
			switch was := severity(worst); {
			case severity(server) > was:
				worst = server
			case severity(server) == was && server.Since.Before(worst.Since):
				worst.Since = server.Since
			}
		}
		p := b.Pools[string(name)]
		s.InUse, s.Limit, s.Waiting = s.InUse+p.InUse, s.Limit+p.Limit, s.Waiting+p.Waiting
		blocked = max(blocked, p.BlockedMs)
		s.unconfirmed(p)
		for _, r := range p.Replicas {
			s.follow(r)
		}
	}
	s.State, s.Since = worst.State.String(), worst.Since
	switch {
	case len(beats) == 0:
		s.State = unknown
	case worst.Unwell():
		why := strings.TrimPrefix(cmp.Or(worst.Why, "it takes no writes"), "it is "+worst.State.String()+": ")
		s.Problem = fmt.Sprintf("the %s at %s is %s: %s", worst.Role(), worst.Addr, worst.State, why)
		s.grave = limps
		if worst.State.Down() && !worst.Replica {
			s.grave = down
		}
	case !s.UnconfirmedSince.IsZero():
		s.Problem, s.grave = s.cutOff(), down
	case blocked > 0:
		s.Problem = fmt.Sprintf("logins fail; the next one is tried in %v", (time.Duration(blocked) * time.Millisecond).Round(100*time.Millisecond))
		s.grave = down
	case s.Waiting > 0:
		s.Problem = quantity(s.Waiting, "session") + " waiting for a connection"
		s.grave = limps
	}
}

// unconfirmed adds a proxy's report that etcd does not confirm the primary.
func (s *Shard) unconfirmed(p fleet.Pool) {
	if p.Unconfirmed.IsZero() {
		return
	}
	if s.UnconfirmedSince.IsZero() || p.Unconfirmed.Before(s.UnconfirmedSince) {
		s.UnconfirmedSince = p.Unconfirmed
	}
	s.StaleReads = s.StaleReads || p.StaleReads
}

// cutOff describes what does not work without a confirmation of the primary, and the remedy.
func (s *Shard) cutOff() string {
	refused := "statements on it are refused"
	if s.StaleReads {
		refused = "plain reads go on and may be stale, all other statements on it are refused"
	}
	return fmt.Sprintf("etcd has not confirmed its primary since %s: %s; check etcd and the network to it", s.UnconfirmedSince.Local().Format(time.DateTime), refused)
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
