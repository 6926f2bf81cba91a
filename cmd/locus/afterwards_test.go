//go:build servers

package main

import (
	"strings"
	"sync"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/router/cluster"
)

// A proxy that still uses the old declaration inserts a row where statements won't search for it, after the
// shards were checked. apply waits until the proxy obeys the new declaration, and reports the row.
func TestApplyWaitsForProxiesAndLooksAgain(t *testing.T) {
	s := openShop(t)
	for _, shard := range s.shards {
		shard.Exec(t, "USE "+s.database, "CREATE TABLE product (id INT PRIMARY KEY)",
			"CREATE TABLE test_order (order_id BIGINT PRIMARY KEY, order_no BIGINT, buyer_uid BIGINT NOT NULL, version BIGINT, KEY (buyer_uid))",
			"CREATE TABLE note (id BIGINT PRIMARY KEY, buyer_uid BIGINT NOT NULL, KEY (buyer_uid))")
	}
	s.output(t, "apply", "-f", s.file("cluster.yaml"), "-c", s.file("locus.yaml"))

	client, err := etcd.Open(etcd.Config{Endpoints: []string{s.etcd}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	conn := &connection{client: client, kv: client.Under("/locus/main/")}
	card := fleet.Card{ID: "a:1", MapVersion: 1}
	presence := conn.kv.Presence(cluster.ProxyPrefix+card.ID, card.Text(), time.Minute)
	var running sync.WaitGroup
	running.Go(func() { _ = presence.Run(t.Context()) })
	t.Cleanup(running.Wait)
	eventually(t, "the proxy is registered", func() bool {
		cards, err := fleet.Cards(t.Context(), conn.kv)
		return err == nil && len(cards) == 1
	})

	s.edit(t, `  `+s.database+`.product: =>   `+s.database+`.note: {kind: sharded, owner: buyer_uid, id: {column: id, layout: int64}}\n  `+s.database+`.product:`)
	var told strings.Builder
	in := &invocation{stdout: t.Output(), stderr: &told, getenv: func(string) string { return "" }, now: time.Now}
	status := make(chan int)
	go func() {
		status <- run(t.Context(), []string{"apply", "-f", s.file("cluster.yaml"), "-c", s.file("locus.yaml")}, in)
	}()
	eventually(t, "the change is written", func() bool {
		state, err := conn.state(t.Context())
		return err == nil && state.Cluster.Routes.Version() == 2
	})
	s.shards[0].Exec(t, "USE "+s.database, "INSERT INTO note VALUES (1, 2), (2, 3)") // unstamped
	card.MapVersion = 2
	presence.Set(card.Text())
	if got := <-status; got != 1 {
		t.Errorf("exit status %d", got)
	}
	for _, want := range []string{"the change was written, but clients inserted rows meanwhile", "table " + s.database + ".note on s0 has "} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("%q is missing in\n%s", want, told.String())
		}
	}
}
