package overview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/control/finding"
	"locus/control/fleet"
	"locus/proxy/health"
	"locus/router"
	"locus/router/cluster"
)

// remedies are the remedies for a server that is not well, by its state.
var remedies = map[health.State]string{
	health.Frozen:   "check its machine, its disks and the network; proxies send statements again once it answers",
	health.Away:     "start it, or fix what the error says; if the address has changed, correct it in cluster.yaml (locus apply)",
	health.Slow:     "check its load and the network",
	health.ReadOnly: "SET GLOBAL read_only = OFF there, or name the primary in cluster.yaml (locus apply)",
}

// server is a server that needs attention, as the proxies see it.
type server struct {
	health.Status           // the worst state, since the first proxy saw it
	proxies       int       // that report it
	silent        time.Time // since when the proxies have received nothing from it
}

// reported returns the servers of a shard that some proxy reports as not well, by address.
func reported(beats map[string]fleet.Beat, name router.ShardName) []server {
	by := map[string]server{}
	for _, id := range slices.Sorted(maps.Keys(beats)) {
		for _, s := range beats[id].Servers {
			if s.Shard != name || !s.Unwell() {
				continue
			}
			silent := s.Since.Add(-s.Silent)
			was := by[s.Addr]
			switch {
			case was.proxies == 0 || severity(s) > severity(was.Status):
				was.Status, was.silent = s, silent
			case severity(s) == severity(was.Status):
				if s.Since.Before(was.Since) {
					was.Since = s.Since
				}
				if silent.Before(was.silent) {
					was.silent = silent
				}
			}
			was.proxies++
			by[s.Addr] = was
		}
	}
	return slices.SortedFunc(maps.Values(by), func(a, b server) int { return cmp.Compare(a.Addr, b.Addr) })
}

// why returns the reason of a state, without the state.
func why(s health.Status) string {
	return strings.TrimPrefix(cmp.Or(s.Why, "it takes no writes"), "it is "+s.State.String()+": ")
}

// found returns the finding of a server.
func (s server) found(proxies int) finding.Finding {
	severity, title := finding.AtRisk, fmt.Sprintf("shard %s is %s", s.Shard, s.State)
	switch {
	case s.Replica:
		if title = fmt.Sprintf("replica %s of shard %s is %s", s.Addr, s.Shard, s.State); s.State == health.Slow {
			severity = finding.Advice
		}
	case s.State != health.Slow:
		severity = finding.Outage
	}
	f := finding.New(severity, "servers", string(s.Shard)+" at "+s.Addr, remedies[s.State], "the %s is %s, as %d of %d proxies see it: %s",
		s.Role(), s.State, s.proxies, proxies, finding.Measure(why(s.Status)))
	f.Title, f.Shards, f.Server, f.Symptom = title, []router.ShardName{s.Shard}, s.Addr, !s.State.Down()
	return f
}

// serversDown returns the servers that don't answer.
func serversDown(seen Seen) (list []cause) {
	for _, name := range seen.Declared.ShardNames() {
		for _, s := range reported(seen.Now.By, name) {
			if !s.State.Down() {
				continue
			}
			f := s.found(len(seen.Now.By))
			if !s.Replica {
				f.Expect = expected(seen, s)
			}
			list = append(list, cause{f, func(o finding.Finding) bool {
				return slices.Contains(o.Shards, name) && o.Check != "etcd" && (o.Server == s.Addr || o.Server == "" && (!s.Replica || o.Check == "primaries"))
			}})
		}
	}
	slices.SortStableFunc(list, func(a, b cause) int { return cmp.Compare(b.Severity, a.Severity) }) // a primary explains more than a replica
	return list
}

// promotion is how long a promotion takes after failover_after has passed: the proxies give up the old primary, and a replica
// applies the transactions that it has received.
const promotion = 7 * time.Second

// expected describes what will happen to a shard whose primary is down.
func expected(seen Seen, s server) string {
	declared, p, r := seen.Declared.Shards[s.Shard], seen.Declared.Primaries[s.Shard], seen.Records[s.Shard]
	due := s.silent.Add(declared.PatienceWithPrimary() + promotion)
	within := due.Sub(seen.At).Round(time.Second)
	switch {
	case declared.Failover == cluster.FailoverFollow:
		return "the proxies follow the server that another tool promotes"
	case declared.Failover != cluster.FailoverPromote:
		return ""
	case r.Trouble != "" && r.Primary == s.Addr && !r.At.Before(s.silent):
		return "no failover: no server can be promoted yet"
	case within > 0 && p.Next != "":
		return fmt.Sprintf("failover to %s in progress, expected within %v", p.Next, within)
	case within > 0:
		return fmt.Sprintf("failover in progress, expected within %v", within)
	}
	return fmt.Sprintf("the failover is %v overdue: check whether a mover runs (locus proxies list), and its log", -within)
}

// pools contains the proxies' reports about their connections to a shard.
type pools struct {
	blocked     time.Duration // until the next login is tried
	waiting     int           // sessions that wait for a connection
	unconfirmed time.Time     // since when etcd has not confirmed the primary to some proxy
	staleReads  bool          // plain reads still work there
}

func poolsOf(beats map[string]fleet.Beat, name router.ShardName) (all pools) {
	for _, b := range beats {
		p := b.Pools[string(name)]
		all.blocked = max(all.blocked, time.Duration(p.BlockedMs)*time.Millisecond)
		all.waiting += p.Waiting
		if !p.Unconfirmed.IsZero() {
			if all.unconfirmed.IsZero() || p.Unconfirmed.Before(all.unconfirmed) {
				all.unconfirmed = p.Unconfirmed
			}
			all.staleReads = all.staleReads || p.StaleReads
		}
	}
	return all
}

// cutOff describes which statements fail while etcd can't confirm the primary, and the remedy.
func (p pools) cutOff() string {
	refused := "statements on it are refused"
	if p.staleReads {
		refused = "plain reads go on and may be stale, all other statements on it are refused"
	}
	return fmt.Sprintf("etcd has not confirmed its primary since %s: %s; check etcd and the network to it", p.unconfirmed.Local().Format(time.DateTime), refused)
}

// shardsFound returns the problems of shards, without servers that are down.
func shardsFound(seen Seen) (list []finding.Finding) {
	for _, name := range seen.Declared.ShardNames() {
		add := func(f finding.Finding, title string) {
			f.Title, f.Shards, f.Symptom = title, []router.ShardName{name}, true
			list = append(list, f)
		}
		for _, s := range reported(seen.Now.By, name) {
			if !s.State.Down() {
				list = append(list, s.found(len(seen.Now.By)))
			}
		}
		p := poolsOf(seen.Now.By, name)
		if !p.unconfirmed.IsZero() {
			add(finding.New(finding.Outage, "etcd", string(name), "check etcd and the network to it", "%s", finding.Measure(p.cutOff())), fmt.Sprintf("shard %s: %s", name, p.cutOff()))
		}
		if p.blocked > 0 {
			add(finding.New(finding.Outage, "logins", string(name), "see the proxies' log: the server refuses connections or the account's login",
				"logins of proxies fail; the next one is tried in %v", p.blocked.Round(100*time.Millisecond)), fmt.Sprintf("shard %s: logins of proxies fail", name))
		}
		if p.waiting > 0 && poolsOf(seen.Before.By, name).waiting > 0 { // it is normal that sessions wait for a moment
			add(finding.New(finding.AtRisk, "connections", string(name), "raise max_connections below the shard in cluster.yaml, or look for slow statements: locus top",
				"%d sessions wait for a connection", p.waiting), fmt.Sprintf("shard %s: sessions wait for a connection", name))
		}
	}
	return list
}
