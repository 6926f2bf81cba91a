package overview_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/finding"
	"locus/control/fleet"
	"locus/control/overview"
	"locus/proxy/health"
	"locus/router"
	"locus/router/cluster"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func declared(t *testing.T) *cluster.Cluster {
	t.Helper()
	m, err := router.New(16, 3, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	if err != nil {
		t.Fatal(err)
	}
	return &cluster.Cluster{
		Settings: cluster.Settings{GeneBits: 16}, Routes: m,
		Shards: map[router.ShardName]cluster.Shard{"s0": {Address: "db0:3306"}, "s1": {Address: "db1:3306"}, "s2": {Address: "db2:3306"}},
	}
}

// beats returns the beats of two proxies. The first one sees s1 in the given state.
func beats(since time.Duration, s1 health.State) fleet.Answers[fleet.Beat] {
	beat := func() fleet.Beat {
		n := uint64(100 * since.Seconds())
		return fleet.Beat{
			At: noon.Add(since), Started: noon.Add(-time.Hour), Sessions: 4, Holding: 1, Shards: map[string]fleet.Flow{"s0": {Count: n, Failed: n / 10}},
			Pools: map[string]fleet.Pool{"s0": {InUse: 2, Limit: 8, Replicas: []fleet.Replica{{Addr: "r0", LagMs: 20, Usable: true}}}},
		}
	}
	a, b := beat(), beat()
	if s1 != health.Well {
		a.Servers = []health.Status{{Shard: "s1", Addr: "db1:3306", State: s1, Since: noon, Why: "no byte has come"}}
	}
	b.Pools["s0"].Replicas[0].LagMs, b.Pools["s0"].Replicas[0].Usable = 7000, false
	return fleet.Answers[fleet.Beat]{By: map[string]fleet.Beat{"a": a, "b": b}}
}

func seen(t *testing.T, s1 health.State) overview.Seen {
	t.Helper()
	return overview.Seen{
		Name: "shop", At: noon.Add(2 * time.Second), Declared: declared(t), Cards: []fleet.Card{{ID: "a", MapVersion: 3}, {ID: "b", MapVersion: 3}},
		Before: beats(0, health.Well), Now: beats(2*time.Second, s1), Etcd: []etcd.Health{{Endpoint: "e1", Leader: true}},
	}
}

func TestAllIsWell(t *testing.T) {
	s := overview.Of(seen(t, health.Well))
	if !s.Well || s.Problems != 0 || s.Worst != "" || s.Sessions != 8 || s.Holding != 2 || s.MapVersion != 3 {
		t.Errorf("%+v", s)
	}
	if s.Statements.PerSecond != 200 || s.Statements.Errors != 20 || s.Shards[0].InUse != 4 || s.Shards[0].Genes != 50 {
		t.Errorf("statements %+v, shard %+v", s.Statements, s.Shards[0])
	}
	if r := s.Shards[0].Replicas; len(r) != 1 || r[0].LagMs != 7000 || r[0].Usable {
		t.Errorf("the replica that one proxy does not read: %+v", r)
	}
	one := seen(t, health.Well)
	one.Only = "a"
	if s := overview.Of(one); s.Sessions != 4 || s.Statements.PerSecond != 100 || !s.Shards[0].Replicas[0].Usable || len(s.Proxies) != 2 {
		t.Errorf("one proxy's: %+v", s)
	}
}

// cutOff makes a proxy report that etcd does not confirm the primary of s1.
func cutOff(s *overview.Seen, reads bool) {
	p := s.Now.By["b"].Pools["s1"]
	p.Unconfirmed, p.StaleReads = noon, reads
	s.Now.By["b"].Pools["s1"] = p
}

// symptom returns a finding of doctor about a server that does not answer.
func symptom(shard router.ShardName, what string) finding.Finding {
	f := finding.New(finding.AtRisk, "logins", string(shard), "start the server", "%s", what)
	f.Shards, f.Symptom = []router.ShardName{shard}, true
	return f
}

func TestTheWorstIsTold(t *testing.T) {
	cases := []struct {
		name     string
		change   func(*overview.Seen)
		s1       health.State
		worst    string
		problems int
	}{
		{"a frozen shard", nil, health.Frozen, "shard s1 is frozen", 1},
		{"a slow one", nil, health.Slow, "shard s1 is slow", 1},
		{"a frozen shard that doctor has found too", func(s *overview.Seen) {
			s.Findings = []finding.Finding{symptom("s1", "log in to db1:3306: timeout")}
		}, health.Frozen, "shard s1 is frozen", 1},
		{"doctor alone", func(s *overview.Seen) {
			s.Findings = []finding.Finding{finding.New(finding.AtRisk, "disk", "s0 at db0:3306", "make room", "its disk is full")}
		}, health.Well, "s0 at db0:3306: its disk is full", 1},
		{"a proxy that is silent beside a slow shard", func(s *overview.Seen) { delete(s.Now.By, "b") }, health.Slow, "proxy b does not answer", 2},
		{"a proxy that is behind", func(s *overview.Seen) { s.Cards[0].MapVersion = 2 }, health.Well, "proxy a is behind version 3 of the map", 1},
		{"one member of etcd", func(s *overview.Seen) {
			s.Etcd = append(s.Etcd, etcd.Health{Endpoint: "e2", Err: errors.New("refused")})
		}, health.Frozen, "shard s1 is frozen", 2},
		{"a proxy that etcd confirms no primary to", func(s *overview.Seen) { cutOff(s, false) }, health.Well, "shard s1: etcd has not confirmed its primary since " + noon.Local().Format(time.DateTime) +
			": statements on it are refused; check etcd and the network to it", 1},
		{"and whose reads go on", func(s *overview.Seen) { cutOff(s, true) }, health.Well, "shard s1: etcd has not confirmed its primary since " + noon.Local().Format(time.DateTime) +
			": plain reads go on and may be stale, all other statements on it are refused; check etcd and the network to it", 1},
		{"etcd is away", func(s *overview.Seen) { s.Etcd, s.Blind = nil, errors.New("no endpoint answers") }, health.Frozen, "etcd can't be read: no endpoint answers", 2},
		{"nothing lives", func(s *overview.Seen) { s.Cards, s.Now.By = nil, nil }, health.Well, "no proxy lives", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			looked := seen(t, c.s1)
			if c.change != nil {
				c.change(&looked)
			}
			if s := overview.Of(looked); s.Well || s.Worst != c.worst || s.Problems != c.problems {
				t.Errorf("%d problems, the worst %q; want %d, %q", s.Problems, s.Worst, c.problems, c.worst)
			}
		})
	}
	s := overview.Of(seen(t, health.Frozen))
	if sh := s.Shards[1]; sh.State != "frozen" || !sh.Since.Equal(noon) || !strings.Contains(sh.Problem, "no byte has come") {
		t.Errorf("%+v", sh)
	}
	nobody := seen(t, health.Well)
	nobody.Now.By = nil
	if s := overview.Of(nobody); s.Shards[0].State != "unknown" {
		t.Errorf("a shard of which nobody tells is %s", s.Shards[0].State)
	}
}
