package declared

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/events"
	"locus/router/catalog"
	"locus/router/cluster"
)

func timeline(t *testing.T, kv *etcd.KV) (list []string) {
	t.Helper()
	all, _, err := events.ReadAll(t.Context(), kv, events.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range slices.Backward(all) {
		mark := ""
		if e.Failed {
			mark = "! "
		}
		list = append(list, fmt.Sprintf("%s%s %s: %s (%s)", mark, e.Kind, e.Subject, e.What, e.By))
	}
	return list
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the timeline is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each change of a declaration has an event, and one that is refused has none.
func TestTheTimelineHasChanges(t *testing.T) {
	t.Parallel()
	kv := open(t)
	change := func(routes string, edit func(*cluster.Cluster)) {
		t.Helper()
		next := sample(t, routes)
		edit(next)
		if err := read(t, kv).become(t.Context(), kv, next); err != nil {
			t.Fatal(err)
		}
	}
	change("0xffff s0", func(*cluster.Cluster) {})
	stale := read(t, kv)
	change("0xffff s0", func(*cluster.Cluster) {})
	change("0xffff s0", func(c *cluster.Cluster) { c.Users["carl"] = cluster.User{Secret: "c"} })
	if err := stale.become(t.Context(), kv, sample(t, "0x7fff s0, 0xffff s1")); err == nil {
		t.Error("a change that is too late was written")
	}
	change("0x7fff s0, 0xffff s1", func(c *cluster.Cluster) { c.Users["carl"] = cluster.User{Secret: "d"} })
	change("0x7fff s0, 0xffff s1", func(c *cluster.Cluster) {
		c.Tables = map[catalog.TableName]catalog.Declaration{{Schema: "a", Name: "b"}: {Kind: catalog.Global}}
	})
	compare(t, timeline(t, kv), []string{
		"declaration cluster: settings declared, shard s0 declared, shard s1 declared, route map version 1: a reason (test)",
		"declaration user carl: declared: a reason (test)",
		"declaration user carl: changed, route map version 2: a reason (test)",
		"declaration cluster: table a.b declared, user carl removed, route map version 3: a reason (test)",
	})
}

// A change of more documents than a transaction may have is not refused because of its event.
func TestALargeChangeHasItsEvent(t *testing.T) {
	t.Parallel()
	kv := open(t)
	next := sample(t, "0xffff s0")
	for i := range 300 {
		next.Users[fmt.Sprintf("u%d", i)] = cluster.User{Secret: "c"}
	}
	if err := read(t, kv).become(t.Context(), kv, next); err != nil {
		t.Fatal(err)
	}
	if got := timeline(t, kv); len(got) != 1 || !strings.HasPrefix(got[0], "declaration cluster: settings declared") {
		t.Errorf("the timeline is %q", got)
	}
}

// TestTheTimelineHasPrimaries goes through the versions of a shard's primary.
func TestTheTimelineHasPrimaries(t *testing.T) {
	t.Parallel()
	kv := open(t)
	c := sample(t, "0xffff s0")
	delete(c.Shards, "s1")
	c.Shards["s0"] = cluster.Shard{Address: "a:1", Servers: []string{"a:1", "b:1"}, User: "u", Secret: "s", TLS: cluster.TLSOff}
	if err := read(t, kv).become(t.Context(), kv, c); err != nil {
		t.Fatal(err)
	}
	p, err := ReadPrimary(t.Context(), kv, "s0")
	if err != nil {
		t.Fatal(err)
	}
	step := func(next cluster.Primary) {
		t.Helper()
		if p, err = p.Replace(t.Context(), kv, next); err != nil {
			t.Fatal(err)
		}
	}
	step(p.BeginSwitchover("b:1", "ann"))
	step(p.Promote("ann"))
	step(p.Settle("ann"))
	step(p.BeginChange("a:1", cluster.Lost, "m"))
	stale := p
	step(p.Promote("m"))
	if _, err := stale.Replace(t.Context(), kv, stale.Promote("m")); err == nil {
		t.Error("a version that is too late was written")
	}
	step(p.Settle("m"))
	step(p.WithoutReplicas("ann"))
	step(p.WithReplicas("m"))
	step(p.BeginSwitchover("b:1", "ann"))
	if err := ReleasePrimary(t.Context(), kv, "s0", p.Epoch, "proxy"); err != nil {
		t.Fatal(err)
	}
	if p, err = ReadPrimary(t.Context(), kv, "s0"); err != nil {
		t.Fatal(err)
	}
	step(p.Settle("m"))
	compare(t, timeline(t, kv)[1:], []string{
		"switchover shard s0: b:1 is the primary, it was a:1 (ann)",
		"switchover shard s0: a:1 replicates from b:1 (ann)",
		"! failover shard s0: the change from b:1 to a:1 begins; most proxies couldn't reach b:1 (m)",
		"failover shard s0: a:1 is the primary, it was b:1; most proxies couldn't reach b:1 (m)",
		"switchover shard s0: b:1 replicates from a:1 (m)",
		"! switchover shard s0: a:1 goes on without replicas (ann)",
		"switchover shard s0: a:1 waits for its replicas again (m)",
		"! switchover shard s0: the change to b:1 was interrupted, proxies use a:1 again (proxy)",
		"! switchover shard s0: the change to b:1 was undone, a:1 is still the primary (m)",
	})
	list, err := events.Read(t.Context(), kv, events.Query{Kinds: []events.Kind{events.Failover}})
	if err != nil || len(list.Events) != 2 || list.Events[0].Took <= 0 || list.Events[0].Took > time.Minute {
		t.Errorf("the failover took %+v, %v", list.Events, err)
	}
}
