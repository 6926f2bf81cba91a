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

// Runner ends what others have broken off, and has proxies follow primaries that others promote.
// Any number of processes may run one: leases decide whose turn it is.
type Runner struct {
	KV      *etcd.KV // the cluster's
	Secrets func(name string) (string, error)
	// Declared is the cluster as this process knows it. What is done is decided by what
	// etcd says then.
	Declared func() *cluster.Cluster
	Name     string // of this process
	Log      *slog.Logger
	Look     time.Duration // between looks; 1 s

	mu      sync.Mutex // of watched
	watched map[router.ShardName]Watched
}

// Watched is how a shard is that this process watches.
type Watched struct {
	Trouble bool // it is not sure who the primary is
	MayLose bool // what the primary acknowledges may be lost with it
	Waits   bool // its commits wait for replicas of which too few acknowledge
	Errant  int  // servers that have transactions of their own
}

// Watched are the shards that this process watches.
func (r *Runner) Watched() map[router.ShardName]Watched {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.watched)
}

// note keeps how a shard is; nil: another process watches it.
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

// mostPause is the longest time between two tries of what fails.
const mostPause = 30 * time.Second

// Run looks after all shards until ctx ends, and waits for what it is about to do.
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

// shard is one that is looked after, by one goroutine.
type shard struct {
	*Runner
	name  router.ShardName
	watch *watch // nil: another process watches it, or nobody has to

	said  string        // the last error of what was mended
	pause time.Duration // before the next try
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

// mend ends a switchover that was broken off.
func (s *shard) mend(ctx context.Context) {
	err := s.order("").Mend(ctx)
	switch {
	case errors.Is(err, etcd.ErrHeld): // it goes on, or its process has died just now
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
