package txn

import (
	"context"
	"errors"
	"sync"
	"time"

	"locus/proxy/backend"
	"locus/router"
)

// LendApart lends a connection with the given settings. It is neither a reserved connection nor one of the transaction.
func (c *Connections) LendApart(shard router.ShardName, m Mode, settings *backend.Settings) (Lease, error) {
	l, err := c.AcquireAs(shard, m|Apart, settings)
	if err == nil {
		c.observer.Queried(shard)
	}
	return l, err
}

// Ask sends a query to a shard on a connection from LendApart, and returns the rows.
func (c *Connections) Ask(shard router.ShardName, m Mode, settings *backend.Settings, text string) (*backend.Rows, error) {
	rows, errs := c.AskEach([]router.ShardName{shard}, m, settings, text)
	return rows[0], errs[0]
}

// AskEach sends a query to several shards at the same time, as Ask does to one. It returns the rows and the error of each shard, in the order of
// shards.
func (c *Connections) AskEach(shards []router.ShardName, m Mode, settings *backend.Settings, text string) (rows []*backend.Rows, errs []error) {
	rows = make([]*backend.Rows, len(shards))
	leases, refused := make([]Lease, len(shards)), make([]error, len(shards))
	for i, shard := range shards {
		leases[i], refused[i] = c.LendApart(shard, m, settings)
	}
	errs = AtOnce(len(shards), func(i int) (err error) {
		if refused[i] == nil {
			rows[i], err = leases[i].Conn.Own().Query(c.ctx, text)
		}
		return err
	})
	for i, l := range leases {
		if refused[i] != nil {
			errs[i] = refused[i]
		} else {
			l.End(errs[i])
		}
	}
	return rows, errs
}

// Exec runs a statement on a shard on a connection from LendApart. The statement is interrupted when ctx ends.
func (c *Connections) Exec(ctx context.Context, shard router.ShardName, settings *backend.Settings, text string) error {
	l, err := c.LendApart(shard, 0, settings)
	if err != nil {
		return err
	}
	_, err = l.Conn.Own().Exec(ctx, text)
	l.End(err)
	return err
}

// End ends a lease by the outcome of its last statement. Unless err is a lost connection, the answer was read whole.
func (l Lease) End(err error) {
	if err != nil {
		l.Fail(err)
	} else {
		l.Done(l.Conn.Status())
	}
}

// ErrNoAnswer is the cause of a cancelled wait for a server that does not answer in time.
var ErrNoAnswer = errors.New("it does not answer")

// Reach waits until a shard answers on a connection from LendApart, for at most the time within.
func (c *Connections) Reach(shard router.ShardName, m Mode, settings *backend.Settings, within time.Duration) error {
	l, err := c.LendApart(shard, m, settings)
	if err != nil {
		return err
	}
	err = c.Answers(l, within)
	l.End(err)
	return err
}

// Answers waits until the server of a lease answers, for at most the time within.
func (c *Connections) Answers(l Lease, within time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(c.Waits(), within, ErrNoAnswer)
	defer cancel()
	_, err := l.Conn.Own().Exec(ctx, "DO 0")
	return err
}

// AtOnce calls do with each number below n, each in its own goroutine. It waits for all of them, and returns their errors in the order of the
// numbers.
func AtOnce(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { errs[i] = do(i) })
	}
	running.Wait()
	return errs
}
