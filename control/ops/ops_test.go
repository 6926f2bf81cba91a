package ops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/declared"
	"locus/control/events"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/control/newshard"
	"locus/internal/test/parallel"
	"locus/migrate/copies"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

var (
	shared   *embedded.Server
	clusters atomic.Int64
	noon     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func TestMain(m *testing.M) {
	parallel.Raise()
	dir, err := os.MkdirTemp("", "ops")
	if err == nil {
		shared, err = embedded.Start(context.Background(), embedded.Config{Dir: dir, Unflushed: true})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if err := errors.Join(shared.Close(), os.RemoveAll(dir), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// newOps returns the operations on a new cluster with the shards s0 to s2, which can't be reached. Shard s2 has no genes.
func newOps(t *testing.T) (*Ops, *etcd.KV) {
	t.Helper()
	client, err := etcd.Open(etcd.Config{Endpoints: []string{shared.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	kv := client.Under(fmt.Sprintf("/locus/%d/", clusters.Add(1)))
	secrets := func(name string) (string, error) { return "", fmt.Errorf("no secret %s", name) }
	o := New(Config{KV: kv, Jobs: jobs.New(kv, "test", secrets), Secrets: secrets, Connect: time.Second, Now: func() time.Time { return noon }})
	c, err := cluster.Parse([]byte("routes: [0x7fff s0, 0xffff s1]\nshards:\n" +
		"  s0: {address: 'a:1', user: u, secret: none}\n  s1: {address: 'b:1', user: u, secret: none}\n  s2: {address: 'c:1', user: u, secret: none}\n"))
	if err != nil {
		t.Fatal(err)
	}
	state, err := declared.Read(t.Context(), kv)
	if err != nil {
		t.Fatal(err)
	}
	stamp := router.Stamp{By: "test", At: noon}
	if c, err = cluster.Succeed(state.Cluster, c, stamp); err != nil {
		t.Fatal(err)
	}
	if err := state.Commit(t.Context(), kv, c, stamp); err != nil {
		t.Fatal(err)
	}
	return o, kv
}

func put(t *testing.T, kv *etcd.KV, key string, value []byte) {
	t.Helper()
	if _, err := kv.Commit(t.Context(), nil, etcd.Put(key, value)); err != nil {
		t.Fatal(err)
	}
}

// timeline returns the events of a kind, the newest first.
func timeline(t *testing.T, kv *etcd.KV, kind events.Kind) (lines []string) {
	t.Helper()
	list, _, err := events.ReadAll(t.Context(), kv, events.Query{Kinds: []events.Kind{kind}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		lines = append(lines, fmt.Sprintf("%s: %s by %s %v", e.Subject, e.What, e.By, e.Failed))
	}
	return lines
}

func TestAFilledShardIsInTheTimeline(t *testing.T) {
	t.Parallel()
	o, kv := newOps(t)
	f := &Fill{
		Lacking: []*newshard.Lacking{{Shard: "s2", Databases: []string{"shop"}, Tables: []catalog.TableName{{Schema: "shop", Name: "country"}}}},
		making:  new(newshard.Plan), cluster: &cluster.Cluster{},
	}
	if _, err := o.WriteFill(t.Context(), f, "ann"); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(timeline(t, kv, events.Definition)), "[shard s2: filled: 2 objects created by ann false]"; got != want {
		t.Errorf("the timeline is %s, want %s", got, want)
	}
	for _, c := range []struct {
		filled []newshard.Filled
		err    error
		want   string
	}{
		{[]newshard.Filled{{Shard: "s2", Filled: copies.Filled{Written: 3, Deleted: 1}}}, nil, "filled: 2 objects created, 3 rows of global tables written and 1 deleted"},
		{nil, errors.New("no disk"), "not filled: no disk"},
	} {
		if e := f.events(c.filled, c.err, "ann", noon, noon)[0]; e.What != c.want || e.Failed != (c.err != nil) {
			t.Errorf("the event is %+v, want %s", e, c.want)
		}
	}
}

// TestTwoDrainsAtTheSameMoment: if two proxies are left, one request succeeds, also if its proxy has read the request already.
func TestTwoDrainsAtTheSameMoment(t *testing.T) {
	t.Parallel()
	o, kv := newOps(t)
	for _, id := range []string{"p1", "p2"} {
		c := fleet.Card{ID: id}
		put(t, kv, c.Key(), c.Text())
	}
	var planned []*Leaving
	for _, id := range []string{"p1", "p2"} {
		l, err := o.PlanLeaving(t.Context(), id)
		if err != nil || l.IsLastProxy() {
			t.Fatalf("%+v %v", l, err)
		}
		planned = append(planned, l)
	}
	if err := o.send(t.Context(), planned[0], fleet.Drain, false, "ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Commit(t.Context(), nil, etcd.Delete("orders/p1")); err != nil { // as p1 does when it reads the request
		t.Fatal(err)
	}
	const want = "process p2 was not requested to stop, because another request to stop a process came first; locus proxies list shows which run; repeat the request"
	if err := o.send(t.Context(), planned[1], fleet.Drain, false, "bob"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, revision, err := kv.Get(t.Context(), "orders/p2"); err != nil || revision != 0 {
		t.Errorf("p2 got a request: %v", err)
	}
	if _, err := o.Drain(t.Context(), Drain{Process: "p2"}, "bob"); err == nil || !strings.Contains(err.Error(), "is the only proxy") {
		t.Errorf("%v", err)
	}
	if _, err := o.Drain(t.Context(), Drain{Process: "p2", Last: true}, "bob"); err != nil {
		t.Error(err)
	}
}

// TestAJobAndTheRemovalOfItsShard: whichever is written first, the other one is refused.
func TestAJobAndTheRemovalOfItsShard(t *testing.T) {
	t.Parallel()
	plan := func(t *testing.T) (*Ops, *etcd.KV, *Plan, *Change) {
		o, kv := newOps(t)
		p, err := o.PlanStart(t.Context(), Split{From: "s0", To: "s2", Genes: Half}, "ann")
		if err != nil || p.Refusal() != nil {
			t.Fatalf("%v, %v", err, p)
		}
		c, err := o.PlanChange(t.Context(), RemoveShard{Shard: "s2"}, "bob")
		if err != nil {
			t.Fatal(err)
		}
		return o, kv, p, c
	}
	t.Run("the removal is first", func(t *testing.T) {
		o, _, p, c := plan(t)
		if err := o.commitDocuments(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		const want = "shard s2 is not registered any more, so job split-1 was not written; locus shard list lists the shards"
		if err := o.Start(t.Context(), p); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
	t.Run("the job is first", func(t *testing.T) {
		o, _, p, c := plan(t)
		if err := o.Start(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		const want = "job split-1 uses shard s2; finish or abort it first\nnothing was written"
		if err := o.commitDocuments(t.Context(), c); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
	t.Run("the job is written after the check of the removal", func(t *testing.T) {
		o, kv, p, c := plan(t)
		conditions, err := o.checkRemoved(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Start(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := c.state.Commit(t.Context(), kv, c.Next, c.stamp, conditions...); !errors.As(err, new(*etcd.Conflict)) {
			t.Errorf("the shard of a job was removed: %v", err)
		}
	})
}
