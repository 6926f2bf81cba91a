package twophase

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
)

// errUnchecked: the shard has not answered yet.
var errUnchecked = errors.New("not checked yet")

// Ready tells whether transactions may span a shard: its account has what they
// need there. One that was not is looked at again.
func (c *Coordinator) Ready(ctx context.Context, shard router.ShardName) error {
	if c.unready(shard) == nil {
		return nil
	}
	return c.check(ctx, shard)
}

// Doubt has a shard checked again before it is used again.
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

// check makes the table where it is missing, and tries everything that commit and
// recovery will do.
func (c *Coordinator) check(ctx context.Context, shard router.ShardName) error {
	err := c.probe(ctx, shard)
	c.mu.Lock()
	before := c.ready[shard]
	c.ready[shard] = err
	c.mu.Unlock()
	if err != nil && isMySQL(err) && (before == nil || before.Error() != err.Error()) {
		c.log.Error("transactions can't span a shard", "shard", string(shard), "error", err)
	}
	return err
}

func (c *Coordinator) probe(ctx context.Context, shard router.ShardName) error {
	if _, err := c.query(ctx, shard, "XA RECOVER"); err != nil {
		if isMySQL(err) {
			return fmt.Errorf("shard %s: its account may not list prepared branches: GRANT XA_RECOVER_ADMIN ON *.* TO it there: %w", shard, err)
		}
		return fmt.Errorf("shard %s: %w", shard, err)
	}
	err := c.tryTable(ctx, shard)
	if is(err, mysql.ER_NO_SUCH_TABLE, mysql.ER_BAD_DB_ERROR, mysql.ER_TABLEACCESS_DENIED_ERROR, mysql.ER_DBACCESS_DENIED_ERROR) {
		if err = c.create(ctx, shard); err == nil {
			err = c.tryTable(ctx, shard)
		}
	}
	if is(err, mysql.ER_LOCK_DEADLOCK, mysql.ER_LOCK_WAIT_TIMEOUT) { // says nothing about the account
		return fmt.Errorf("shard %s: the table of decisions is busy, try again: %w", shard, err)
	}
	if isMySQL(err) {
		return fmt.Errorf("shard %s: its account can't keep decisions there: run `%s; %s; GRANT SELECT, INSERT, UPDATE, DELETE ON locus.decision TO` it: %w",
			shard, createSchema, createTable, err)
	}
	return err
}

func (c *Coordinator) create(ctx context.Context, shard router.ShardName) error {
	for _, sql := range []string{createSchema, createTable} {
		if _, err := c.exec(ctx, shard, sql); err != nil {
			return err
		}
	}
	return nil
}

// tryTable inserts a row, reads, changes and removes it.
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
