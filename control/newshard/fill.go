package newshard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"locus/migrate"
	"locus/migrate/copies"
	"locus/migrate/link"
	"locus/router"
)

const (
	// Patience bounds the time for which writers of global tables wait while rows are made equal.
	Patience = 30 * time.Second
	// yields bounds the time for which they wait for earlier transactions.
	yields = 3 * time.Second
	// lockTries is the number of attempts to lock tables that transactions are using.
	lockTries = 10
)

// Filling is a running copy of global tables' rows to new shards. Until Settle or Release it may hold locks
// there.
type Filling struct {
	shards   []*filling
	patience time.Duration
}

// Filled counts the rows that a shard was given, and those that were deleted or replaced there.
type Filled struct {
	Shard router.ShardName
	copies.Filled
}

// filling is the copy for one shard. Its connection to the shard holds the locks.
type filling struct {
	*Lacking
	first, there *link.Conn
	pairs        []*copies.Pair
	filled       copies.Filled
	locked       bool
}

// Begin copies rows to shards that no proxy knows of, and locks the tables there, before these shards are
// declared. Patience bounds the time for which writers may wait.
func (p *Plan) Begin(ctx context.Context, patience time.Duration) (*Filling, error) {
	f := &Filling{patience: patience}
	for _, l := range p.Lacking {
		if len(l.Rows) == 0 {
			continue
		}
		one := &filling{Lacking: l}
		f.shards = append(f.shards, one)
		if err := one.begin(ctx, p); err != nil {
			f.Release()
			return nil, fmt.Errorf("fill the global tables of shard %s: %w", l.Shard, err)
		}
	}
	return f, nil
}

func (f *filling) begin(ctx context.Context, p *Plan) (err error) {
	if f.first, err = link.Dial(ctx, f.Lacking.first); err != nil {
		return err
	}
	if f.there, err = link.Dial(ctx, f.server); err != nil {
		return err
	}
	if err := note(ctx, f.there, f.Rows); err != nil {
		return err
	}
	for _, name := range f.Rows {
		pair, err := copies.Read(ctx, f.first, f.there, name, p.cluster.Next.Tables[name], p.width())
		if err != nil {
			return err
		}
		f.pairs = append(f.pairs, pair)
	}
	if f.known { // proxies already write there, so the tables are locked only after the proxies have reported
		return nil
	}
	if err := f.each(ctx, (*copies.Pair).Copy); err != nil {
		return err
	}
	return f.lock(ctx)
}

func (f *filling) each(ctx context.Context, how func(*copies.Pair, context.Context) (copies.Filled, error)) error {
	for _, pair := range f.pairs {
		did, err := how(pair, ctx)
		f.filled.Written += did.Written
		f.filled.Deleted += did.Deleted
		if err != nil {
			return err
		}
	}
	return nil
}

// lock blocks all other readers and writers of the tables. If transactions hold the tables, it retries with a
// short timeout, because statements queue up behind a waiting lock.
func (f *filling) lock(ctx context.Context) (err error) {
	if _, err := f.there.Exec(ctx, "SET SESSION lock_wait_timeout = 1"); err != nil {
		return err
	}
	tables := make([]string, len(f.pairs))
	for i, p := range f.pairs {
		tables[i] = p.Table.SQL() + " WRITE"
	}
	for range lockTries {
		if _, err = f.there.Exec(ctx, "LOCK TABLES "+strings.Join(tables, ", ")); !link.Transient(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("lock the tables: %w", err)
	}
	f.locked = true
	return nil
}

func (f *filling) unlock(ctx context.Context) error {
	f.locked = false
	_, err := f.there.Exec(ctx, "UNLOCK TABLES")
	return err
}

// Release releases all locks and closes the connections.
func (f *Filling) Release() {
	for _, s := range f.shards {
		for _, c := range []*link.Conn{s.first, s.there} {
			if c != nil {
				_ = c.Close()
			}
		}
	}
}

// Settle makes the rows equal after the shards have been declared. Obeyed returns once every proxy writes to
// the shards and no statement from before is running. After an error the rows may still differ. The whole
// procedure may be repeated at any time.
func (f *Filling) Settle(ctx context.Context, obeyed func(context.Context) error) (done []Filled, err error) {
	defer f.Release()
	if len(f.shards) == 0 {
		return nil, nil
	}
	if err := f.await(ctx, obeyed); err != nil {
		return nil, err
	}
	for _, s := range f.shards {
		if err := s.settle(ctx, f.patience); err != nil {
			return done, fmt.Errorf("shard %s: %w", s.Shard, err)
		}
		done = append(done, Filled{s.Shard, s.filled})
	}
	return done, nil
}

// await waits for the proxies. It keeps the locks only for as long as writers may wait.
func (f *Filling) await(ctx context.Context, obeyed func(context.Context) error) error {
	soon, cancel := context.WithTimeout(ctx, yields)
	err := obeyed(soon)
	cancel()
	if err == nil {
		return nil
	}
	for _, s := range f.shards {
		if s.locked {
			if err := s.unlock(ctx); err != nil {
				return fmt.Errorf("shard %s: %w", s.Shard, err)
			}
		}
	}
	return obeyed(ctx)
}

// settle makes a shard's rows equal while it is locked and no statement is running that writes only the other
// shards. A prepared branch may still commit, so settle waits for those too.
func (f *filling) settle(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("writers of global tables have waited for %v, which is the limit", patience))
	defer cancel()
	err := f.settled(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil && errors.Is(err, ctx.Err()) {
		err = cause
	}
	return err
}

func (f *filling) settled(ctx context.Context) error {
	if !f.locked {
		if err := f.lock(ctx); err != nil {
			return err
		}
	}
	for _, one := range []struct {
		conn *link.Conn
		at   link.Server
	}{{f.first, f.Lacking.first}, {f.there, f.server}} {
		if err := migrate.AwaitPrepared(ctx, one.conn, one.at.Addr); err != nil {
			return err
		}
	}
	if err := f.each(ctx, (*copies.Pair).Fill); err != nil {
		return err
	}
	if err := f.unlock(ctx); err != nil {
		return err
	}
	return forget(ctx, f.there)
}
