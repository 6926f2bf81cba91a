package twophase

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
)

// Options configure a coordinator. A zero field stands for the default in its comment.
type Options struct {
	// Cluster distinguishes the branches of clusters that share a server.
	Cluster string
	Servers Servers
	// Holder identifies this process at the servers; see [Name].
	Holder string
	// Evict ends a process's connections to a shard if the process is known to be gone, and reports whether it is. It
	// is called when the process's open work prevents a decision from being known or a branch from being finished. A
	// process that hangs would prevent it for ever. A nil Evict never evicts.
	Evict func(ctx context.Context, shard router.ShardName, holder string) (gone bool, err error)
	// Crashed is called with the branches on a shard that recovery is about to end. It ends, without logging,
	// the branches whose state after a crash differs from the server's log. It asks for the verdict on branches
	// that the log does not contain. While it fails, recovery leaves the shard's branches alone. Nil: no shard
	// has replicas that read its log.
	Crashed func(ctx context.Context, shard router.ShardName, branches []Name, verdict func(Name) Verdict) error
	// Patience is the time for which a prepared branch is left to its own process: 10s.
	Patience time.Duration
	// Every is the interval of recovery's scans of the shards: 3s.
	Every time.Duration
	// Kept is the age at which recovery removes a decision that its own process has not removed: 1m.
	Kept time.Duration
	Now  func() time.Time // time.Now
	Log  *slog.Logger
}

// Coordinator names a process's transactions across shards, and recovers abandoned ones. It is safe for concurrent use.
type Coordinator struct {
	names    *names
	servers  Servers
	evict    func(ctx context.Context, shard router.ShardName, holder string) (bool, error)
	crashed  func(ctx context.Context, shard router.ShardName, branches []Name, verdict func(Name) Verdict) error
	patience time.Duration
	every    time.Duration
	kept     time.Duration
	now      func() time.Time
	log      *slog.Logger
	Counts   Counts

	wake chan struct{} // a token requests a scan now

	mu      sync.Mutex // guards the fields below; never held across I/O
	left    map[string]bool
	done    map[router.ShardName][]string // decisions to remove, by home
	waiting int                           // number of decisions in done
	ready   map[router.ShardName]error    // result of the last check; nil if ready

	// Owned by the goroutine that recovers.
	seen    map[branch]time.Time // time first seen
	old     map[Name][]router.ShardName
	trouble map[router.ShardName]string // logged and still present
}

// New returns a coordinator. It does nothing by itself until [Coordinator.Run] is called.
func New(o Options) *Coordinator {
	c := &Coordinator{
		names: newNames(o.Cluster, o.Holder), servers: o.Servers, evict: o.Evict, crashed: o.Crashed, log: o.Log, now: o.Now,
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

// Name returns a name for a new transaction across shards.
func (c *Coordinator) Name(home router.ShardName) Name { return c.names.next(home) }

// Decide returns the statement that inserts a transaction's decision in its home transaction. Unless it affects one
// row, the transaction must not be committed.
func (c *Coordinator) Decide(n Name, branches []router.ShardName) string {
	return decide(n, branches, c.now())
}

// Leave makes recovery finish a transaction's branches without waiting for Patience.
func (c *Coordinator) Leave(n Name) {
	c.mu.Lock()
	if len(c.left) < mostListed { // the others are still found later
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
	// mostForgotten bounds the decisions that wait for removal. Others are removed once they are old.
	mostForgotten = 100_000
)

// Forget schedules a decision's removal. All branches of the transaction must be committed.
func (c *Coordinator) Forget(n Name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting < mostForgotten {
		c.done[n.Home] = append(c.done[n.Home], n.Transaction)
		c.waiting++
	}
}

// Run recovers transactions and removes old decisions until ctx ends. Then it removes as many of this process's decisions as
// it can.
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

// deadlocks is the number of consecutive deadlocks after which exec stops retrying.
const deadlocks = 5

// exec runs a statement that is a transaction of its own. A deadlock's victim had no effect, so exec retries it.
// Unrelated transactions have neighbouring rows in the decision table, and removing some can conflict with inserting
// others.
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
