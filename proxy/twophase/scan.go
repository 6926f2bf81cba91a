package twophase

import (
	"context"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
)

// branch is a prepared branch on a shard.
type branch struct {
	Name
	shard router.ShardName
}

// findings are the cluster's prepared branches at one scan.
type findings struct {
	branches []branch
	listed   map[router.ShardName]bool // shards that answered
}

// free reports whether none of the shards is known to have a branch of a transaction, and all of them answered.
func (f findings) free(transaction string, shards []router.ShardName) bool {
	for _, s := range shards {
		if !f.listed[s] {
			return false
		}
	}
	for _, b := range f.branches {
		if b.Transaction == transaction {
			return false
		}
	}
	return true
}

// scan checks all shards once and finishes abandoned branches.
func (c *Coordinator) scan(ctx context.Context) {
	shards := c.servers.Shards()
	for _, shard := range shards {
		if c.unready(shard) != nil {
			_ = c.check(ctx, shard)
		}
	}
	c.mu.Lock()
	left := c.left
	c.left = map[string]bool{}
	c.mu.Unlock()
	found := c.find(ctx, shards)
	c.recover(ctx, c.orphans(found, left))
	if len(found.listed) < len(shards) {
		c.keepLeft(left) // a shard that did not answer may have their branches
	}
	c.forgetOld(ctx, found)
}

// keepLeft keeps transactions in left for the next scan.
func (c *Coordinator) keepLeft(left map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for transaction := range left {
		if len(c.left) < mostListed {
			c.left[transaction] = true
		}
	}
}

// find lists the prepared branches on all shards, concurrently.
func (c *Coordinator) find(ctx context.Context, shards []router.ShardName) findings {
	found := findings{listed: map[router.ShardName]bool{}}
	var mu sync.Mutex // guards found and trouble while the shards are asked
	var asking sync.WaitGroup
	for _, shard := range shards {
		asking.Go(func() {
			branches, err := c.list(ctx, shard)
			mu.Lock()
			defer mu.Unlock()
			c.note(shard, err)
			if err == nil {
				found.listed[shard] = true
				found.branches = append(found.branches, branches...)
			}
		})
	}
	asking.Wait()
	return found
}

// list returns the cluster's prepared branches on one shard.
func (c *Coordinator) list(ctx context.Context, shard router.ShardName) ([]branch, error) {
	rows, err := c.query(ctx, shard, "XA RECOVER")
	var branches []branch
	for _, row := range rows {
		if n, ok := c.names.parse(row); ok {
			branches = append(branches, branch{n, shard})
		}
	}
	return branches, err
}

// note logs when a shard becomes unavailable and when it returns.
func (c *Coordinator) note(shard router.ShardName, err error) {
	switch before := c.trouble[shard]; {
	case err != nil && before == "":
		c.trouble[shard] = err.Error()
		c.log.Warn("a shard can't be asked for branches in doubt", "shard", string(shard), "error", err)
	case err == nil && before != "":
		delete(c.trouble, shard)
		c.log.Info("a shard can be asked for branches in doubt again", "shard", string(shard))
	}
}

// orphans returns the branches to finish: those left by this process's sessions, and those prepared for longer than a
// commit should take.
func (c *Coordinator) orphans(found findings, left map[string]bool) []branch {
	now := c.now()
	still := make(map[branch]time.Time, len(found.branches))
	var orphans []branch
	for _, b := range found.branches {
		first, ok := c.seen[b]
		if !ok {
			first = now
		}
		still[b] = first
		if left[b.Transaction] || now.Sub(first) >= c.patience {
			orphans = append(orphans, b)
			still[b] = first.Add(-c.patience) // it remains an orphan
		}
	}
	for b, first := range c.seen {
		if !found.listed[b.shard] {
			still[b] = first // it is not known how this branch ends
		}
	}
	c.seen = still
	return orphans
}

// recover finishes branches according to their homes' decisions.
func (c *Coordinator) recover(ctx context.Context, orphans []branch) {
	judge := &judge{c, map[Name]Verdict{}, map[router.ShardName]bool{}}
	on := map[router.ShardName][]Name{}
	for _, b := range orphans {
		on[b.shard] = append(on[b.shard], b.Name)
	}
	free := make(map[router.ShardName]bool, len(on))
	for shard, names := range on {
		free[shard] = c.endCrashed(ctx, shard, names, judge)
	}
	remaining := int64(0)
	for _, b := range orphans {
		if !free[b.shard] {
			remaining++
			continue
		}
		if v := judge.rule(ctx, b); v == Unknown || !c.finish(ctx, b, v) {
			remaining++
		}
	}
	c.Counts.InDoubt.Store(remaining)
}

// endCrashed ends the branches of a shard whose state after a crash differs from the server's log. It reports whether the
// other branches may be ended.
func (c *Coordinator) endCrashed(ctx context.Context, shard router.ShardName, names []Name, judge *judge) bool {
	if c.crashed == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, crashedTime)
	defer cancel()
	err := c.crashed(ctx, shard, names, func(n Name) Verdict { return judge.rule(ctx, branch{n, shard}) })
	if err != nil {
		c.log.Warn("branches stay in doubt until the server's log has been read", "shard", string(shard), "error", err)
	}
	return err == nil
}

// crashedTime bounds the time for reading a server's log.
const crashedTime = 30 * time.Second

// judge asks the homes of transactions for verdicts, each once per scan.
type judge struct {
	*Coordinator
	verdicts map[Name]Verdict
	away     map[router.ShardName]bool // homes that did not answer
}

func (j *judge) rule(ctx context.Context, b branch) Verdict {
	v, known := j.verdicts[b.Name]
	if known || j.away[b.Home] || ctx.Err() != nil {
		return v
	}
	v, err := j.ask(ctx, b.Name)
	if is(err, mysql.ER_LOCK_WAIT_TIMEOUT) && j.freed(ctx, b.Home, b.Name) {
		v, err = j.ask(ctx, b.Name)
	}
	if err != nil {
		j.away[b.Home] = !isMySQL(err)
		j.log.Warn("a branch stays in doubt", "shard", string(b.shard), "transaction", b.Transaction, "home", string(b.Home), "error", err)
	}
	j.verdicts[b.Name] = v
	return v
}

// freed reports whether a shard has released the open work of the process that holds the transaction, because that
// process is gone.
func (c *Coordinator) freed(ctx context.Context, shard router.ShardName, n Name) bool {
	holder, named := c.names.holder(n.Transaction)
	if !named || c.evict == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	gone, err := c.evict(ctx, shard, holder)
	if err != nil {
		c.log.Warn("the connection that keeps a branch in doubt can't be ended", "shard", string(shard), "transaction", n.Transaction, "error", err)
	}
	return gone && err == nil
}

func (c *Coordinator) ask(ctx context.Context, n Name) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	return settle(ctx, c.servers, n)
}

// finish ends one branch according to its verdict. It succeeds if another process was faster. MariaDB also reports a
// branch as unknown while the connection that prepared it exists. Then the next scan decides, unless its process is
// gone.
func (c *Coordinator) finish(ctx context.Context, b branch, v Verdict) bool {
	sql, count := b.Rollback(), &c.Counts.RolledBack
	if v == Committed {
		sql, count = b.Commit(), &c.Counts.Committed
	}
	_, err := c.exec(ctx, b.shard, sql)
	if Gone(err) && c.freed(ctx, b.shard, b.Name) {
		_, err = c.exec(ctx, b.shard, sql)
	}
	switch {
	case err == nil:
		count.Add(1)
		c.log.Warn("a branch in doubt was finished", "shard", string(b.shard), "transaction", b.Transaction, "home", string(b.Home), "outcome", v.String())
		return true
	case Gone(err):
		return false
	}
	c.log.Error("a branch in doubt can't be finished", "shard", string(b.shard), "transaction", b.Transaction, "home", string(b.Home), "outcome", v.String(), "error", err)
	return false
}
