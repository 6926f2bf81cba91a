package overview_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/failover"
	"locus/control/finding"
	"locus/control/fleet"
	"locus/control/overview"
	"locus/proxy/health"
	"locus/router"
	"locus/router/cluster"
)

// down is a cluster whose shard s1 has a primary that is down, with all that follows from it.
func down(t *testing.T) overview.Seen {
	t.Helper()
	looked := seen(t, health.Away)
	b := looked.Now.By["a"]
	b.Servers[0].Silent = time.Second
	b.Pools["s1"] = fleet.Pool{Waiting: 3, BlockedMs: 500}
	looked.Before.By["a"].Pools["s1"] = fleet.Pool{Waiting: 2}
	looked.Findings = []finding.Finding{symptom("s1", "log in to db1:3306: refused"), finding.New(finding.AtRisk, "disk", "s0", "make room", "its disk is full")}
	looked.Declared.Shards["s1"] = cluster.Shard{Address: "db1:3306", Servers: []string{"db1:3306", "db3:3306"}, Failover: cluster.FailoverPromote}
	looked.Declared.Primaries = map[router.ShardName]cluster.Primary{"s1": {Epoch: 4, Server: "db1:3306"}}
	return looked
}

// A server that is down is one finding, which lists its consequences.
func TestADeadServerIsOneFinding(t *testing.T) {
	s := overview.Of(down(t))
	if len(s.Findings) != 2 || s.Outages != 1 || s.AtRisk != 1 || s.Problems != 2 || s.Worst != "shard s1 is away" {
		t.Fatalf("%+v", s.Findings)
	}
	f := s.Findings[0]
	var checks []string
	for _, c := range f.Consequences {
		checks = append(checks, c.Check)
	}
	if got := strings.Join(checks, " "); f.Severity != finding.Outage || got != "logins connections logins" {
		t.Errorf("%s: %s", f.Severity, got)
	}
	if f.Expect != "failover in progress, expected within 7s" {
		t.Errorf("it expects %q", f.Expect)
	}
	if sh := s.Shards; sh[0].Severity != finding.None || sh[1].Severity != finding.Outage || sh[2].Severity != finding.None {
		t.Errorf("shards: %v %v %v", sh[0].Severity, sh[1].Severity, sh[2].Severity)
	}
}

func TestWhatBecomesOfADeadPrimary(t *testing.T) {
	for _, c := range []struct {
		change func(*overview.Seen)
		want   string
	}{
		{func(s *overview.Seen) {
			s.Declared.Primaries["s1"] = cluster.Primary{Epoch: 5, Server: "db1:3306", Next: "db3:3306", Cause: cluster.Lost}
		}, "failover to db3:3306 in progress, expected within 7s"},
		{func(s *overview.Seen) { s.At = s.At.Add(time.Minute) }, "the failover is 53s overdue: check whether a mover runs (locus proxies list), and its log"},
		{func(s *overview.Seen) {
			s.Records = map[router.ShardName]failover.Record{"s1": {Primary: "db1:3306", Trouble: "all replicas lag", At: s.At}}
		}, "no failover: no server can be promoted yet"},
		{func(s *overview.Seen) {
			one := s.Declared.Shards["s1"]
			one.Failover = cluster.FailoverFollow
			s.Declared.Shards["s1"] = one
		}, "the proxies follow the server that another tool promotes"},
		{func(s *overview.Seen) { s.Declared.Shards["s1"] = cluster.Shard{Address: "db1:3306"} }, ""},
	} {
		looked := down(t)
		c.change(&looked)
		if f := overview.Of(looked).Findings[0]; f.Server != "db1:3306" || f.Expect != c.want {
			t.Errorf("%q, want %q", f.Expect, c.want)
		}
	}
}

// Etcd that can't be used is one finding.
func TestEtcdWithoutHealthyMembersIsOneFinding(t *testing.T) {
	looked := seen(t, health.Well)
	looked.Etcd = []etcd.Health{{Endpoint: "e1", Err: errors.New("refused")}, {Endpoint: "e2"}}
	cutOff(&looked, false)
	s := overview.Of(looked)
	if len(s.Findings) != 1 || len(s.Findings[0].Consequences) != 3 || s.Severity != finding.Outage || s.Etcd[0].Severity != finding.Outage {
		t.Errorf("%+v", s.Findings)
	}
}

// An acknowledged finding is listed, but does not count unless it becomes more severe.
func TestAcknowledgedFindingsDontCount(t *testing.T) {
	looked := seen(t, health.Well)
	f := finding.New(finding.AtRisk, "disk", "s0", "make room", "its disk is full")
	looked.Findings = []finding.Finding{f}
	looked.Acknowledged = map[string]finding.Acknowledgement{f.ID: {Fact: f.Fact, By: "anna", Until: looked.At.Add(time.Minute)}}
	if s := overview.Of(looked); !s.Well || s.Severity != finding.None || s.Acknowledged != 1 || s.Findings[0].Acknowledged.By != "anna" {
		t.Errorf("%+v", s)
	}
	looked.At = looked.At.Add(time.Hour)
	if s := overview.Of(looked); s.Well || s.AtRisk != 1 {
		t.Errorf("after its end: %+v", s)
	}
}
