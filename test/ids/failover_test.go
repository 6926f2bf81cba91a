package ids

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/idgen"
	"locus/idgen/breaker"
	"locus/idgen/buckets"
	"locus/idgen/pool"
	"locus/idgen/redis"
	"locus/idgen/segment"
	"locus/internal/test/distinct"
	"locus/internal/test/servers"
)

// grants is a durable store in memory that can be made unavailable. It distinguishes grants that fill pools
// from those that are issued directly.
type grants struct {
	counting
	away   atomic.Bool
	direct atomic.Int64
}

var errStoreAway = errors.New("the store is away")

const failoverFill = 20_000

func (g *grants) Extend(ctx context.Context, counter string, n uint64) (segment.Grant, error) {
	if g.away.Load() {
		return segment.Grant{}, errStoreAway
	}
	if n < failoverFill {
		g.direct.Add(1)
	}
	return g.counting.Extend(ctx, counter, n)
}

// source is one kind of generator in two processes.
type source struct {
	numbers []idgen.Numbers
	all     distinct.Numbers
	failed  atomic.Int64
	err     atomic.Value // the last error's text
}

// load is generators of every kind that is in Redis, from which numbers are taken
// until it is ended.
type load struct {
	t       *testing.T
	store   *grants
	sources map[string]*source
	end     context.CancelFunc
	takers  sync.WaitGroup
}

// startLoad takes numbers from a Redis with the given number of parts.
func startLoad(t *testing.T, config redis.Config, parts int) *load {
	ctx, end := context.WithCancel(context.Background())
	l := &load{t: t, store: &grants{}, sources: map[string]*source{"redis": {}, "segment": {}, "buckets": {}}, end: end}
	config.Timeout = 200 * time.Millisecond
	short := breaker.Options{Pause: 100 * time.Millisecond}
	epochs := &counting{}
	for range 2 {
		link := redis.Open(config)
		o := pool.Options{Fill: failoverFill, RedisTimeout: config.Timeout, Redis: short, Store: short}
		var places []pool.Place
		for i := range parts {
			places = append(places, pool.Place{Redis: link, Name: fmt.Sprint("part ", i), Part: fmt.Sprint("/", i)})
		}
		spread, one := pool.NewSpread(places, l.store, o), pool.New(link, l.store, o)
		l.add("redis", spread.Numbers("one-by-one"))
		l.add("segment", idgen.Run{Take: func(ctx context.Context, n int) (uint64, error) {
			g, err := one.Extend(ctx, "runs", uint64(n))
			return g.First, err
		}})
		l.add("buckets", buckets.New([]buckets.Redis{link}, idgen.Run{Take: func(ctx context.Context, n int) (uint64, error) {
			g, err := epochs.Extend(ctx, "", uint64(n))
			return g.First, err
		}}, buckets.Options{Timeout: config.Timeout, Breaker: short}))
		t.Cleanup(func() {
			spread.Close()
			one.Close()
			_ = link.Close()
		})
	}
	for _, s := range l.sources {
		for _, numbers := range s.numbers {
			for range 2 {
				l.takers.Go(func() { s.take(ctx, t, numbers) })
			}
		}
	}
	t.Cleanup(l.stop) // before servers and connections go
	return l
}

func (l *load) add(kind string, numbers idgen.Numbers) {
	l.sources[kind].numbers = append(l.sources[kind].numbers, numbers)
}

func (l *load) stop() {
	l.end()
	l.takers.Wait()
}

func (s *source) take(ctx context.Context, t *testing.T, numbers idgen.Numbers) {
	pace := time.NewTicker(5 * time.Millisecond) // leaves CPU time for other tests
	defer pace.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		<-pace.C
		into := make([]uint64, 1+n%5)
		if err := numbers.Fill(context.WithoutCancel(ctx), into); err != nil {
			s.failed.Add(1)
			s.err.Store(err.Error())
			continue
		}
		s.all.Add(t, into...)
	}
}

// goesOn waits until kinds have given more numbers.
func (l *load) goesOn(why string, kinds ...string) {
	l.t.Helper()
	for _, kind := range kinds {
		s := l.sources[kind]
		want := s.all.Len() + 300
		until(l.t, why+": "+kind+" goes on", func() bool { return s.all.Len() >= want })
	}
}

// inRedis waits until every kind issues numbers and all of them come from the pools.
func (l *load) inRedis(why string) {
	l.t.Helper()
	began := time.Now()
	until(l.t, why+": the pools are in use", func() bool {
		before := l.store.direct.Load()
		l.goesOn(why, "redis", "segment", "buckets")
		return l.store.direct.Load() == before
	})
	l.t.Logf("%8d %8d %8d numbers, %d past the pools, %d failed of buckets, after %v: %s", l.sources["redis"].all.Len(), l.sources["segment"].all.Len(),
		l.sources["buckets"].all.Len(), l.store.direct.Load(), l.sources["buckets"].failed.Load(), time.Since(began).Round(time.Millisecond), why)
}

// withoutRedis checks the guarantees while no replica can be promoted: the pools are bypassed, and errors of buckets name the
// servers that were asked.
func (l *load) withoutRedis(why string, told ...string) {
	l.t.Helper()
	failed := l.sources["buckets"].failed.Load()
	until(l.t, why+": buckets fail", func() bool { return l.sources["buckets"].failed.Load() > failed+20 })
	l.goesOn(why, "redis", "segment")
	said, _ := l.sources["buckets"].err.Load().(string)
	for _, text := range told {
		if !strings.Contains(said, text) {
			l.t.Errorf("%s: buckets say %q, without %q", why, said, text)
		}
	}
	l.noneFailed(why)
	l.store.away.Store(true) // without the database no store is available
	for _, kind := range []string{"redis", "segment"} {
		before := l.sources[kind].failed.Load()
		until(l.t, why+": "+kind+" fails", func() bool { return l.sources[kind].failed.Load() > before+5 })
	}
	l.store.away.Store(false)
	l.goesOn(why+", the store is back", "redis", "segment")
	for _, kind := range []string{"redis", "segment"} {
		l.sources[kind].failed.Store(0) // they had to
	}
}

// noneFailed holds that who has a store behind Redis never failed.
func (l *load) noneFailed(why string) {
	l.t.Helper()
	for _, kind := range []string{"redis", "segment"} {
		if n := l.sources[kind].failed.Load(); n > 0 {
			l.t.Errorf("%s: %d requests of %s failed: %v", why, n, kind, l.sources[kind].err.Load())
		}
	}
}

// master waits until a server is one.
func (l *load) master(p *servers.Process, is bool) {
	l.t.Helper()
	until(l.t, fmt.Sprintf("%s is a master: %v", p.Addr, is), func() bool { return p.Master() == is })
}

func restart(t *testing.T, processes ...*servers.Process) {
	t.Helper()
	for _, p := range processes {
		if err := p.Restart(); err != nil {
			t.Fatal(err)
		}
	}
}

// lags promotes a replica that has not received the last numbers of its master. It is not enough to suspend the
// replica, because it would find them in its socket when it continues.
func (l *load) lags(master, replica *servers.Process) {
	l.t.Helper()
	ask := func(words ...string) {
		if _, err := replica.Do(words...); err != nil {
			l.t.Errorf("%s: %v", strings.Join(words, " "), err)
		}
	}
	ask("CONFIG", "SET", "masterauth", "none") // which its master refuses
	ask("CLIENT", "KILL", "TYPE", "master")
	l.goesOn("a replica is cut off", "redis", "segment", "buckets") // only briefly: sentinels don't promote a replica that was cut off for ten seconds
	master.Kill()
	l.master(replica, true)
	ask("CONFIG", "SET", "masterauth", `""`)
	l.inRedis("a replica that lags is promoted")
}

// slotMoves moves the slot of a pool to another master, with its keys, as operators
// do who add a node.
func (l *load) slotMoves(c *servers.RedisCluster) {
	key := "locus:ids:{one-by-one/0}"
	c.MoveSlot(l.t, key, func(step string) { l.inRedis(step) }, key, key+":filling")
}

// A replica that lags is promoted in a cluster, a master is stopped, a slot moves, the
// quorum is lost and comes back, under load: no number twice, and no request fails that
// has a store behind Redis.
func TestARedisClusterFailsOver(t *testing.T) {
	t.Parallel()
	c := servers.StartRedisCluster(t)
	l := startLoad(t, redis.Config{Cluster: c.Seeds()}, 6)
	l.inRedis("all is well")
	l.slotMoves(c)
	n := c.Nodes
	n[1].Stop()
	l.lags(n[2], n[5])
	l.master(n[4], true)
	l.inRedis("a master is stopped, and another one promoted")
	n[1].Continue()
	l.master(n[1], false)
	l.noneFailed("after failovers")

	n[0].Kill()
	n[4].Kill() // two of three masters at once
	l.withoutRedis("without a quorum", "Redis Cluster of "+strings.Join(c.Seeds(), ", "), "CLUSTERDOWN")
	restart(t, n[0], n[4], n[2])
	c.Wait(t, 5)
	l.inRedis("the quorum is back")
	l.noneFailed("with the quorum back")
}

// The same with sentinels.
func TestAWatchedRedisFailsOver(t *testing.T) {
	t.Parallel()
	w := servers.StartWatched(t)
	for _, s := range w.Sentinels {
		if _, err := s.Do("ACL", "SETUSER", "locus", "on", ">secret", "allchannels", "+@all"); err != nil {
			t.Fatal(err)
		}
	}
	l := startLoad(t, redis.Config{Sentinel: &redis.Sentinel{Master: w.Master, Servers: w.Seeds(), User: "locus", Password: "secret"}}, 1)
	l.inRedis("all is well")
	l.lags(w.Servers[0], w.Servers[1])
	l.noneFailed("after a failover")

	w.Sentinels[0].Kill()
	w.Sentinels[1].Kill()
	w.Servers[1].Kill()
	l.withoutRedis("without a quorum", "Redis, master shop of the sentinels at "+strings.Join(w.Seeds(), ", "))
	restart(t, w.Servers[1])
	l.inRedis("the master is back")
	l.noneFailed("with the master back")
}
