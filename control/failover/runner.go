package failover

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"locus/config/etcd"
	"locus/control/switchover"
	"locus/router"
	"locus/router/cluster"
)

// Runner completes interrupted switchovers and watches the shards with several servers. It promotes servers, or
// makes the proxies follow a primary that an external tool has promoted. Any number of processes may run one,
// because leases decide which process acts.
type Runner struct {
	KV      *etcd.KV // the cluster's keys
	Secrets func(name string) (string, error)
	// Declared returns the cluster as this process knows it. Decisions read the current state from etcd.
	Declared func() *cluster.Cluster
	Name     string // of this process
	Log      *slog.Logger
	Look     time.Duration // interval between polls; 1 s by default

	mu      sync.Mutex // guards watched
	watched map[router.ShardName]Watched
}

// Watched summarizes the state of a shard that this process watches.
type Watched struct {
	Trouble bool // the primary is not certain
	MayLose bool // transactions that the primary acknowledges may be lost with it
	Waits   bool // commits wait because too few replicas acknowledge
	Errant  int  // number of servers that have errant transactions
}

// Watched returns the shards that this process watches.
func (r *Runner) Watched() map[router.ShardName]Watched {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.watched)
}

// note stores the state of a shard, or removes it if how is nil because another process watches the shard.
func (r *Runner) note(name router.ShardName, how *Watched) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if how == nil {
		delete(r.watched, name)
		return
	}
	if r.watched == nil {
		r.watched = map[router.ShardName]Watched{}
	}
	r.watched[name] = *how
}

// mostPause is the longest time between two attempts of an operation that fails.
const mostPause = 30 * time.Second

// Run watches all shards until ctx ends, and then waits for its running tasks.
func (r *Runner) Run(ctx context.Context) error {
	if r.Look <= 0 {
		r.Look = time.Second
	}
	var tasks sync.WaitGroup
	defer tasks.Wait()
	look := time.NewTicker(r.Look)
	defer look.Stop()
	known := map[router.ShardName]bool{}
	for {
		for name := range r.Declared().Primaries {
			if !known[name] {
				known[name] = true
				tasks.Go(func() { (&shard{Runner: r, name: name}).run(ctx) })
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
}

// shard is a shard that one goroutine watches.
type shard struct {
	*Runner
	name  router.ShardName
	watch *watch // nil: another process watches it, or it needs no watch

	said  string        // the last error of a repair that was logged
	pause time.Duration // before the next attempt
	next  time.Time

	tasks    sync.WaitGroup
	restores restores
}

func (s *shard) run(ctx context.Context) {
	defer s.tasks.Wait()
	defer s.leave(ctx)
	look := time.NewTicker(s.Look)
	defer look.Stop()
	for {
		declared := s.Declared()
		how := declared.Shards[s.name].Failover
		if p, there := declared.Primaries[s.name]; there && how != cluster.FailoverPromote && !p.Settled() && !time.Now().Before(s.next) {
			s.mend(ctx)
		}
		switch how {
		case cluster.FailoverFollow:
			s.follow(ctx)
		case cluster.FailoverPromote:
			s.promote(ctx)
		default:
			s.leave(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// mend completes or undoes an interrupted switchover.
func (s *shard) mend(ctx context.Context) {
	err := s.order("").Mend(ctx)
	switch {
	case errors.Is(err, etcd.ErrHeld): // the switchover still runs, or its process has just died
	case err == nil || ctx.Err() != nil:
		s.said, s.pause = "", 0
	default:
		s.pause = min(max(2*s.pause, s.Look), mostPause)
		s.next = time.Now().Add(s.pause)
		if s.said != err.Error() {
			s.said = err.Error()
			s.Log.Warn("repair an interrupted switchover", slog.String("shard", string(s.name)), slog.Any("error", err))
		}
	}
}

func (s *shard) order(to string) switchover.Switchover {
	return switchover.Switchover{KV: s.KV, Secrets: s.Secrets, Shard: s.name, To: to, By: s.Runner.Name, Log: s.Log}
}
