package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"locus/config"
	"locus/control/failover"
	"locus/control/fleet"
	"locus/control/generators"
	"locus/idgen/breaker"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/proxy"
	"locus/proxy/backend"
	"locus/proxy/session"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// counting is a proxy that has made some IDs.
type counting struct {
	fakeProxy
	ids []proxy.IDs
}

func (c *counting) Declared() *cluster.Cluster {
	return &cluster.Cluster{Settings: cluster.Settings{RotateKeysEvery: "90d"}}
}

func (c *counting) Status() proxy.Status {
	pool := backend.Stats{Resets: 7, Cleaned: 4, Unforeseen: 1}
	return proxy.Status{Counts: new(session.Counts), IDs: c.ids, Pools: map[router.ShardName]backend.Stats{"s0": pool}}
}

type made struct {
	http.Handler
	status []generators.Status
}

func (m made) Status() []generators.Status { return m.status }

// The metrics contain, for the IDs of tables and for generators, the remaining numbers, the requests for more,
// and the resets.
func TestMetricsOfIDs(t *testing.T) {
	layout, err := orderid.ByName("int64")
	if err != nil {
		t.Fatal(err)
	}
	p := &counting{ids: []proxy.IDs{{
		Table: catalog.TableName{Schema: "shop", Name: "orders"}, Layout: layout, SequenceLeft: 0.25, KeyVersionsLeft: 0.5,
		Counts: segment.Counts{Loads: 7, Failed: 2, Waits: 3},
	}}}
	ids := made{http.NotFoundHandler(), []generators.Status{{
		Name: "ticket", Left: map[string]float64{"sequence": 0.125}, Counts: segment.Counts{Loads: 5, Waits: 1},
		Breakers: map[string]map[breaker.State]int{"redis": {breaker.Open: 1}, "bucket": {breaker.Closed: 255, breaker.Trying: 1}},
	}}}
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.SetBasicAuth("u", "p")
	w := httptest.NewRecorder()
	since := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	keys := func() fleet.Keys { return fleet.Keys{Stamps: 3, Since: since} }
	now := func() time.Time { return since.Add(91 * 24 * time.Hour) }
	open := func() generators.OpenCounts {
		return generators.OpenCounts{ByStatus: map[int]uint64{200: 6, 403: 2}, Numbers: 600}
	}
	New(Options{Proxy: p, Cluster: &fakeCluster{}, IDs: ids, Open: open, Keys: keys, Now: now, Watched: func() map[router.ShardName]failover.Watched {
		return map[router.ShardName]failover.Watched{"s0": {Trouble: true, MayLose: true, Waits: true, Errant: 2}}
	}, Accounts: []Account{{"u", config.Viewer, func() (string, error) { return "p", nil }}}}).ServeHTTP(w, r)
	for _, line := range []string{
		`locus_key_version 3`,
		`locus_key_rotation_due_seconds -86400`,
		`locus_primary_trouble{shard="s0"} 1`,
		`locus_primary_may_lose{shard="s0"} 1`,
		`locus_primary_waits{shard="s0"} 1`,
		`locus_servers_errant{shard="s0"} 2`,
		`locus_backend_resets_total{reason="state",shard="s0"} 4`,
		`locus_backend_resets_total{reason="settings",shard="s0"} 3`,
		`locus_backend_unforeseen_changes_total{shard="s0"} 1`,
		`locus_id_sequence_left{layout="int64",table="shop.orders"} 0.25`,
		`locus_id_key_versions_left{layout="int64",table="shop.orders"} 0.5`,
		`locus_id_segment_loads_total{layout="int64",outcome="granted",table="shop.orders"} 7`,
		`locus_id_segment_loads_total{layout="int64",outcome="failed",table="shop.orders"} 2`,
		`locus_id_segment_waits_total{layout="int64",table="shop.orders"} 3`,
		`locus_generator_left{field="sequence",generator="ticket"} 0.125`,
		`locus_generator_segment_loads_total{generator="ticket",outcome="granted"} 5`,
		`locus_generator_segment_waits_total{generator="ticket"} 1`,
		`locus_ids_numbers_total 600`,
		`locus_ids_requests_total{status="200"} 6`,
		`locus_ids_requests_total{status="403"} 2`,
		`locus_generator_breakers{before="redis",generator="ticket",state="open"} 1`,
		`locus_generator_breakers{before="bucket",generator="ticket",state="closed"} 255`,
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("%d: no line %s", w.Code, line)
		}
	}
}
