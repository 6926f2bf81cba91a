package twophase

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
)

// errUnchecked means that the shard has not answered yet.
var errUnchecked = errors.New("not checked yet")

// LackError describes what a shard lacks for transactions across shards, and the remedy.
type LackError struct {
	Shard  router.ShardName
	Remedy string
	Err    error // the server's error
}

func (e *LackError) Error() string { return fmt.Sprintf("shard %s: %s: %v", e.Shard, e.Remedy, e.Err) }
func (e *LackError) Unwrap() error { return e.Err }

// Ready checks that transactions may span a shard: its account has the privileges for them. A shard that was not ready
// is checked again. Ready returns a *LackError for a missing requirement. Any other error means that the shard is
// unavailable or busy.
func (c *Coordinator) Ready(ctx context.Context, shard router.ShardName) error {
	if c.unready(shard) == nil {
		return nil
	}
	return c.check(ctx, shard)
}

// Doubt makes the shard be checked again before its next use.
func (c *Coordinator) Doubt(shard router.ShardName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready[shard] = errUnchecked
}

func (c *Coordinator) unready(shard router.ShardName) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err, checked := c.ready[shard]
	if !checked {
		return errUnchecked
	}
	return err
}

// check creates the table if it is missing and tries all that commit and recovery do.
func (c *Coordinator) check(ctx context.Context, shard router.ShardName) error {
	err := c.probe(ctx, shard)
	c.mu.Lock()
	before := c.ready[shard]
	c.ready[shard] = err
	c.mu.Unlock()
	if _, lacks := errors.AsType[*LackError](err); lacks && (before == nil || before.Error() != err.Error()) {
		c.log.Error("transactions can't span a shard", "shard", string(shard), "error", err)
	}
	return err
}

func (c *Coordinator) probe(ctx context.Context, shard router.ShardName) error {
	if _, err := c.query(ctx, shard, "XA RECOVER"); err != nil {
		return lack(shard, err, "its account may not list prepared branches: GRANT XA_RECOVER_ADMIN ON *.* TO it there")
	}
	err := c.tryTable(ctx, shard)
	if is(err, mysql.ER_NO_SUCH_TABLE, mysql.ER_BAD_DB_ERROR, mysql.ER_TABLEACCESS_DENIED_ERROR, mysql.ER_DBACCESS_DENIED_ERROR) {
		if err = c.create(ctx, shard); err == nil {
			err = c.tryTable(ctx, shard)
		}
	}
	if err != nil {
		return lack(shard, err, fmt.Sprintf("its account can't keep decisions there: run `%s; %s; GRANT SELECT, INSERT, UPDATE, DELETE ON locus.decision TO` it", createSchema, createTable))
	}
	return nil
}

// lack classifies a check's error: something must be remedied, or the server has a temporary problem.
func lack(shard router.ShardName, err error, remedy string) error {
	switch {
	case Busy(err):
		return fmt.Errorf("shard %s: the table of decisions is busy, try again: %w", shard, err)
	case !isMySQL(err), passing(err):
		return fmt.Errorf("shard %s: %w", shard, err)
	}
	return &LackError{shard, remedy, err}
}

func (c *Coordinator) create(ctx context.Context, shard router.ShardName) error {
	for _, sql := range []string{createSchema, createTable} {
		if _, err := c.exec(ctx, shard, sql); err != nil {
			return err
		}
	}
	return nil
}

// tryTable inserts a row, then reads, changes and deletes it.
func (c *Coordinator) tryTable(ctx context.Context, shard router.ShardName) error {
	probe := c.Name(shard).Transaction
	if _, err := c.exec(ctx, shard, forbid(probe)); err != nil {
		return err
	}
	if _, err := c.query(ctx, shard, look(probe)); err != nil {
		return err
	}
	if _, err := c.exec(ctx, shard, confirm(probe)); err != nil {
		return err
	}
	_, err := c.exec(ctx, shard, forget([]string{probe}))
	return err
}

func isMySQL(err error) bool {
	_, ok := errors.AsType[*mysql.MyError](err)
	return ok
}
