package twophase

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
)

// Options are what a coordinator is made of. Zero fields have the default beside.
type Options struct {
	// Cluster keeps the branches of clusters apart that share a server.
	Cluster string
	Servers Servers
	// Holder is what this process is called at the servers: see [Name].
	Holder string
	// Evict ends the connections of a process to a shard, and tells so, if it is
	// known to be gone; nil never does. It is asked when what the process has open
	// there keeps a decision from being known, or a branch from being finished: one
	// that hangs would keep it for ever.
	Evict func(ctx context.Context, shard router.ShardName, holder string) (gone bool, err error)
	// Patience is how long a prepared branch is left to who prepared it: 10s.
	Patience time.Duration
	// Every is the pause between two looks at the shards: 3s.
	Every time.Duration
	// Kept is the age from which on a decision is removed that whoever made it
	// has not removed: 1m.
	Kept time.Duration
	Now  func() time.Time // time.Now
	Log  *slog.Logger
}

// Coordinator is a process's part in the transactions over several shards: it
// names them, and recovers those that somebody left. Its methods may be called
// by many goroutines.
type Coordinator struct {
	names    *names
	servers  Servers
	evict    func(ctx context.Context, shard router.ShardName, holder string) (bool, error)
	patience time.Duration
	every    time.Duration
	kept     time.Duration
	now      func() time.Time
	log      *slog.Logger
	Counts   Counts

	wake chan struct{} // a token: look at the shards now

	mu      sync.Mutex // guards what follows; never held across I/O
	left    map[string]bool
	done    map[router.ShardName][]string // decisions to remove, by home
	waiting int                           // how many of them
	ready   map[router.ShardName]error    // as last checked; nil: it is

	// Of the goroutine that recovers.
	seen    map[branch]time.Time // when first
	old     map[Name][]router.ShardName
	trouble map[router.ShardName]string // logged, and not gone since
}

// New makes a coordinator, which does nothing by itself before [Coordinator.Run].
func New(o Options) *Coordinator {
	c := &Coordinator{
		names: newNames(o.Cluster, o.Holder), servers: o.Servers, evict: o.Evict, log: o.Log, now: o.Now,
		patience: orDefault(o.Patience, 10*time.Second),
		every:    orDefault(o.Every, 3*time.Second),
		kept:     orDefault(o.Kept, time.Minute),
		wake:     make(chan struct{}, 1),
		left:     map[string]bool{},
		done:     map[router.ShardName][]string{},
		ready:    map[router.ShardName]error{},
		seen:     map[branch]time.Time{},
		old:      map[Name][]router.ShardName{},
		trouble:  map[router.ShardName]string{},
	}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

func orDefault(v, otherwise time.Duration) time.Duration {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Name names a transaction that spans shards from now on.
func (c *Coordinator) Name(home router.ShardName) Name { return c.names.next(home) }

// Decide is the statement that inserts a transaction's decision in its home
// transaction: one row, or the transaction must not be committed.
func (c *Coordinator) Decide(n Name, branches []router.ShardName) string {
	return decide(n, branches, c.now())
}

// Leave has recovery finish a transaction's branches without waiting for anybody.
func (c *Coordinator) Leave(n Name) {
	c.mu.Lock()
	if len(c.left) < mostListed { // the others are found all the same, later
		c.left[n.Transaction] = true
	}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

const (
	forgetEvery = time.Second
	// mostForgotten bounds what waits to be removed; what doesn't fit is removed
	// once it is old.
	mostForgotten = 100_000
)

// Forget has a decision removed, soon. All branches of the transaction are
// committed.
func (c *Coordinator) Forget(n Name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting < mostForgotten {
		c.done[n.Home] = append(c.done[n.Home], n.Transaction)
		c.waiting++
	}
}

// Run recovers and cleans up until ctx ends; then it removes what it can of the
// decisions that this process has made.
func (c *Coordinator) Run(ctx context.Context) error {
	forgetting, scanning := time.NewTicker(forgetEvery), time.NewTicker(c.every)
	defer forgetting.Stop()
	defer scanning.Stop()
	c.scan(ctx)
	for {
		select {
		case <-ctx.Done():
			c.forgetDone(context.WithoutCancel(ctx))
			return ctx.Err()
		case <-forgetting.C:
			c.forgetDone(ctx)
		case <-scanning.C:
			c.scan(ctx)
		case <-c.wake:
			c.scan(ctx)
		}
	}
}

// statementTime bounds one statement of recovery.
const statementTime = 3 * time.Second

// deadlocks are how many in a row exec takes for bad luck.
const deadlocks = 5

// exec runs a statement that is a transaction by itself. One that was the victim
// of a deadlock had no effect, so it is run again: the rows of transactions that
// have nothing to do with each other are neighbours in the table of decisions, and
// removing some may get into the way of inserting others.
func (c *Coordinator) exec(ctx context.Context, shard router.ShardName, sql string) (affected uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	for range deadlocks {
		if affected, err = c.servers.Exec(ctx, shard, sql); !is(err, mysql.ER_LOCK_DEADLOCK) {
			break
		}
	}
	return affected, err
}

func (c *Coordinator) query(ctx context.Context, shard router.ShardName, sql string) ([][][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	return c.servers.Query(ctx, shard, sql)
}
