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
	// Patience is for how long writers of global tables may wait for rows to be made equal.
	Patience = 30 * time.Second
	// yields is for how long they may wait for transactions that were begun before.
	yields = 3 * time.Second
	// lockTries is how often a lock is asked for that transactions hold.
	lockTries = 10
)

// Filling is shards whose global tables' rows are on their way. Until it is settled or released it may hold locks there.
type Filling struct {
	shards   []*filling
	patience time.Duration
}

// Filled is how many rows a shard was given, and how many there were deleted or replaced.
type Filled struct {
	Shard router.ShardName
	copies.Filled
}

// filling is one shard's. Its connection to the shard has the locks.
type filling struct {
	*Lacking
	first, there *link.Conn
	pairs        []*copies.Pair
	filled       copies.Filled
	locked       bool
}

// Begin copies rows to shards that no proxy knows of, and locks the tables there, before such a shard is declared. Patience bounds
// for how long writers may wait.
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
	if f.known { // a lock has to wait for who writes there, after the proxies have been asked
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

// lock has everybody else wait who would write or read the tables there. It asks again if transactions hold them, since whoever
// comes after a lock that waits does so too.
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

// Release gives all locks back. Nothing more is done.
func (f *Filling) Release() {
	for _, s := range f.shards {
		for _, c := range []*link.Conn{s.first, s.there} {
			if c != nil {
				_ = c.Close()
			}
		}
	}
}

// Settle makes the rows equal, once the shards are declared. Obeyed returns once every proxy writes to them, and has nothing under way
// that was begun before. An error says that the rows may differ still: it may be done again at any time.
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

// await waits for the proxies, with the locks as long as writers may wait for it.
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

// settle makes a shard's rows equal while nobody writes them there, and nobody can have written them elsewhere alone. A branch
// that is prepared may still commit what was decided before.
func (f *filling) settle(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("writers of global tables were made to wait for %v, and no longer", patience))
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
