package failover

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"locus/config/etcd"
	"locus/control/switchover"
	"locus/router"
	"locus/router/cluster"
)

// Runner ends what others have broken off. Any number of processes may run one: the lease of
// a shard decides whose turn it is.
type Runner struct {
	KV      *etcd.KV // the cluster's
	Secrets func(name string) (string, error)
	// Declared is the cluster as this process knows it. What is done is decided by what
	// etcd says then.
	Declared func() *cluster.Cluster
	Name     string // of this process
	Log      *slog.Logger
	Look     time.Duration // between looks; 1 s
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
	shards := map[router.ShardName]*shard{}
	for {
		for name, p := range r.Declared().Primaries {
			if shards[name] == nil {
				shards[name] = &shard{runner: r, name: name, free: make(chan struct{}, 1)}
			}
			shards[name].look(ctx, p, &tasks)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
}

// shard is one that is looked after.
type shard struct {
	runner *Runner
	name   router.ShardName
	free   chan struct{} // full: something is done about it

	// Of what is done, one after the other.
	said  string        // the last error
	pause time.Duration // before the next try
	next  time.Time
}

// look has a switchover mended that was broken off. It does not wait.
func (s *shard) look(ctx context.Context, p cluster.Primary, tasks *sync.WaitGroup) {
	select {
	case s.free <- struct{}{}:
	default:
		return
	}
	if now := time.Now(); p.Settled() || now.Before(s.next) {
		<-s.free
		return
	}
	tasks.Go(func() {
		defer func() { <-s.free }()
		s.mend(ctx)
	})
}

func (s *shard) mend(ctx context.Context) {
	err := switchover.Switchover{
		KV: s.runner.KV, Secrets: s.runner.Secrets, Shard: s.name, By: s.runner.Name, Log: s.runner.Log,
	}.Mend(ctx)
	switch {
	case errors.Is(err, etcd.ErrHeld): // it goes on, or its process has died just now
	case err == nil || ctx.Err() != nil:
		s.said, s.pause = "", 0
	default:
		s.pause = min(max(2*s.pause, s.runner.Look), mostPause)
		s.next = time.Now().Add(s.pause)
		if s.said != err.Error() {
			s.said = err.Error()
			s.runner.Log.Warn("mend a switchover", slog.String("shard", string(s.name)), slog.Any("error", err))
		}
	}
}
