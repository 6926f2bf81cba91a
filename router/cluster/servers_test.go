package cluster

import (
	"strings"
	"testing"

	"locus/router"
)

// several parses a cluster whose first shard is declared with these words.
func several(t *testing.T, words string) (*Cluster, error) {
	t.Helper()
	return Parse([]byte("shards:\n  s0: {" + words + ", user: u, secret: s}\nroutes: [0xffff s0]\n"))
}

func mustSeveral(t *testing.T, words string) *Cluster {
	t.Helper()
	c, err := several(t, words)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func succeed(t *testing.T, old, next *Cluster) *Cluster {
	t.Helper()
	c, err := Succeed(old, next, stamp)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestServersRefused(t *testing.T) {
	for words, want := range map[string]string{
		"servers: [a:1, a:1]":                        "shard s0: servers: list each server once",
		"servers: [a:1, b:1], address: b:1":          "leave address and replicas out",
		"servers: [a:1], replicas: [{address: c:1}]": "leave address and replicas out",
		"servers: [a:1, b]":                          `address "b": write host:port`,
		"servers: []":                                `address "": write host:port`,
		"servers: [a:1, b:1], failover: promote":     "failover: promote checks the servers by an account of its own",
		"servers: [a:1, b:1], failover_after: 3s":    "failover_after: is for failover: promote",
		"servers: [a:1, b:1], admin: {user: u, secret: s}, failover: promote, failover_after: 10ms": `failover_after "10ms": write a duration from 1s to 1h0m0s`,
		"servers: [a:1, b:1], admin: {user: u, secret: s}, failover: promote, failover_after: soon": `failover_after "soon": write a duration`,
		"address: a:1, failover_after: 3s":              "failover and admin are for shards with servers",
		"servers: [a:1, b:1], failover: follow":         "failover: follow checks the servers by an account of its own",
		"servers: [a:1, b:1], failover: promot":         "or write none, follow or promote: did you mean promote?",
		"servers: [a:1, b:1], tls: verfy":               "use off, on or verify: did you mean verify?",
		"servers: [a:1, b:1], failover: yes":            `failover "yes": leave it out`,
		"address: a:1, failover: none":                  "failover and admin are for shards with servers: write servers: [a:1, …]",
		"servers: [a:1, b:1], stale_reads: true":        "stale_reads: is for failover: follow or promote",
		"address: a:1, stale_reads: true":               "failover and admin are for shards with servers",
		"servers: [a:1, b:1], admin: {secret: s}":       `admin: user "": name the account`,
		"servers: [a:1, b:1], admin: {user: u}":         "admin: secret is missing",
		"servers: [a:1, b:1], admin: {user: u, pw: no}": `unknown field "pw"`,
	} {
		if _, err := several(t, words); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", words, err, want)
		}
	}
}

// A file lists the servers, and etcd contains which one is the primary.
func TestThePrimaryIsNoPartOfAFile(t *testing.T) {
	first := succeed(t, nil, mustSeveral(t, "servers: [a:1, b:1, c:1]"))
	if p := first.Primaries["s0"]; p != (Primary{Epoch: 1, Server: "a:1"}) || first.Shards["s0"].Address != "a:1" {
		t.Fatalf("%+v", first)
	}
	first.Primaries["s0"] = first.Primaries["s0"].BeginSwitchover("b:1", "anna").Promote("anna").Settle("anna")
	turned, err := Decode(Encode(first))
	if err != nil {
		t.Fatal(err)
	}
	shard := turned.Shards["s0"]
	if shard.Address != "b:1" || len(shard.Replicas) != 2 || shard.Replicas[0].Address != "a:1" || turned.Primaries["s0"].Epoch != 4 {
		t.Errorf("%+v, %+v", shard, turned.Primaries)
	}
	if text := string(Format(turned)); !strings.Contains(text, "servers: ['a:1', 'b:1', 'c:1']") && !strings.Contains(text, "servers: [a:1, b:1, c:1]") ||
		strings.Contains(text, "address:") || strings.Contains(text, "epoch") {
		t.Errorf("the file is\n%s", text)
	}
	again := succeed(t, turned, mustSeveral(t, "servers: [a:1, b:1]"))
	if again.Primaries["s0"].Server != "b:1" || again.Shards["s0"].Address != "b:1" || again.Shards["s0"].Replicas[0].Address != "a:1" {
		t.Errorf("a file brings a former primary back: %+v", again)
	}
	if _, touched := PlanWrite(nil, again).Puts[Prefix+PrimaryKey("s0")]; !touched {
		t.Error("the primary is not written with the first documents")
	}
}

// Restoring an earlier map doesn't restore the primaries of that time.
func TestAnEarlierMapLeavesThePrimaries(t *testing.T) {
	first := succeed(t, nil, mustSeveral(t, "servers: [a:1, b:1]"))
	turned := *first
	turned.Primaries = map[router.ShardName]Primary{"s0": first.Primaries["s0"].BeginSwitchover("b:1", "").Promote("").Settle("")}
	turned.setAddresses()
	now, err := Decode(Encode(&turned))
	if err != nil {
		t.Fatal(err)
	}
	back := *now
	back.Routes = first.Routes
	if after := succeed(t, now, &back); after.Primaries["s0"] != now.Primaries["s0"] || after.Shards["s0"].Address != "b:1" {
		t.Errorf("%+v", after.Primaries)
	}
}

func TestSucceedRefusesToLeaveAPrimaryOut(t *testing.T) {
	plain, turned := mustSeveral(t, "address: b:1"), succeed(t, nil, mustSeveral(t, "servers: [b:1, a:1, c:1]"))
	if after := succeed(t, plain, mustSeveral(t, "servers: [a:1, b:1]")); after.Primaries["s0"].Server != "b:1" {
		t.Errorf("the server that was written to is not the primary: %+v", after.Primaries)
	}
	if after := succeed(t, turned, plain); len(after.Primaries) != 0 || after.Shards["s0"].Address != "b:1" {
		t.Errorf("%+v", after)
	}
	lost := *turned
	lost.Primaries = map[router.ShardName]Primary{"s0": turned.Primaries["s0"].BeginChange("a:1", Taken, "").Promote("")}
	if after := succeed(t, &lost, mustSeveral(t, "servers: [a:1, c:1]")); !after.Primaries["s0"].Settled() || after.Primaries["s0"].Server != "a:1" || after.Primaries["s0"].Epoch != 4 {
		t.Errorf("a former primary that is lost can't be left out: %+v", after.Primaries)
	}
	under := *turned
	under.Primaries = map[router.ShardName]Primary{"s0": turned.Primaries["s0"].BeginSwitchover("c:1", "")}
	for want, c := range map[string]struct {
		old  *Cluster
		next string
	}{
		"b:1 is the primary, and is not in servers:":                              {plain, "servers: [a:1, c:1]"},
		"b:1 is its primary and can't be left out: locus switchover s0 --to":      {turned, "servers: [a:1, c:1]"},
		"b:1 is its primary and can't be left out":                                {turned, "address: a:1"},
		"a switchover to c:1 has not ended: locus switchover s0 --to c:1 ends it": {&under, "servers: [a:1, b:1]"},
	} {
		if _, err := Succeed(c.old, mustSeveral(t, c.next), stamp); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", c.next, err, want)
		}
	}
}

func TestDecodeRefusesPrimaries(t *testing.T) {
	for want, p := range map[string]Primary{
		"declared/primaries/s0: d:1 is not one of the servers":    {Epoch: 1, Server: "d:1"},
		"primaries/s0: epoch 0":                                   {Server: "a:1"},
		`primaries/s0: cause "found" with next ""`:                {Epoch: 1, Server: "a:1", Cause: Found},
		`primaries/s0: cause "whim" with next "b:1"`:              {Epoch: 1, Server: "a:1", Next: "b:1", Cause: "whim"},
		`primaries/s0: cause "lost" with next ""`:                 {Epoch: 1, Server: "a:1", Cause: Lost},
		"primaries/s0: paused without a next primary":             {Epoch: 1, Server: "a:1", Held: true},
		"primaries/s0: d:1 is not one of the servers of shard s0": {Epoch: 1, Server: "a:1", Next: "d:1"},
		"primaries/s0: e:1 is not one of the servers of shard s0": {Epoch: 1, Server: "a:1", Former: "e:1"},
	} {
		c := mustSeveral(t, "servers: [a:1, b:1]")
		c.Primaries = map[router.ShardName]Primary{"s0": p}
		if err := unusable(t, Encode(c)); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "declared/")) {
			t.Errorf("%+v: %v, want %s", p, err, want)
		}
	}
	c := mustSeveral(t, "address: a:1")
	c.Primaries = map[router.ShardName]Primary{"s0": {Epoch: 1, Server: "a:1"}}
	if err := unusable(t, Encode(c)); err == nil || !strings.Contains(err.Error(), "no shard s0 with servers is declared") {
		t.Error(err)
	}
}
