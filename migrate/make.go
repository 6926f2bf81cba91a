package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/migrate/job"
	"locus/migrate/link"
	"locus/router"
	"locus/router/catalog"
)

// makeTables makes an import's tables on the shards that lack them, as the source has them, once every proxy knows that
// these are copies. The record says which before any is made, so that those of a job that is given up are known to be its own, whatever is killed when.
func (w *worker) makeTables(ctx context.Context, s Snapshot) error {
	if s.Job.Import == nil {
		return nil
	}
	lacking := map[router.ShardName][]catalog.TableName{}
	for _, shard := range s.Job.Import.Shards {
		names, err := w.lacking(ctx, shard, s.Job.Import.Tables)
		if err != nil {
			return err
		}
		if names != nil {
			lacking[shard] = names
		}
	}
	if making, more := s.Job.Making(lacking, w.runner.Name, time.Now()); more {
		if _, err := w.runner.Store.Write(ctx, s, making, nil, ""); err != nil {
			return err
		}
		return errMoved // the record is another than the action was begun for
	}
	for _, shard := range slices.Sorted(maps.Keys(lacking)) {
		if err := w.makeAt(ctx, s.Job.From, shard, lacking[shard]); err != nil {
			return err
		}
	}
	return nil
}

// lacking are the tables that a shard doesn't have.
func (w *worker) lacking(ctx context.Context, shard router.ShardName, tables map[catalog.TableName]catalog.Declaration) (names []catalog.TableName, err error) {
	c, err := w.dial(ctx, shard)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for name := range tables {
		text, err := created(ctx, c, name)
		if err != nil {
			return nil, err
		}
		if text == "" {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b catalog.TableName) int { return strings.Compare(a.String(), b.String()) })
	return names, nil
}

// dial connects to a shard, for texts of definitions: they come and go in utf8mb4, whatever their columns have.
func (w *worker) dial(ctx context.Context, shard router.ShardName) (*link.Conn, error) {
	server, err := w.runner.Store.Shard(ctx, shard)
	if err != nil {
		return nil, err
	}
	c, err := link.Dial(ctx, server)
	if err != nil {
		return nil, err
	}
	if _, err := c.Exec(ctx, "SET NAMES utf8mb4"); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// Numbers of servers' errors.
const (
	unknownTable  = 1146
	unknownSchema = 1049
	tableExists   = 1050
)

// created is the text that makes a table; empty: the server doesn't have it.
func created(ctx context.Context, c *link.Conn, name catalog.TableName) (string, error) {
	rows, err := c.Query(ctx, "SHOW CREATE TABLE "+spelled(name))
	switch code := link.Code(err); {
	case code == unknownTable || code == unknownSchema:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("ask how table %s is made: %w", name, err)
	case len(rows) != 1 || len(rows[0]) < 2:
		return "", errors.New("a server doesn't say how table " + name.String() + " is made")
	}
	return string(rows[0][1]), nil
}

func spelled(name catalog.TableName) string {
	return link.Name(name.Schema) + "." + link.Name(name.Name)
}

// makeAt makes tables on a shard as another has them.
func (w *worker) makeAt(ctx context.Context, from, shard router.ShardName, names []catalog.TableName) error {
	source, err := w.dial(ctx, from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := w.dial(ctx, shard)
	if err != nil {
		return err
	}
	defer target.Close()
	for _, name := range names {
		text, err := created(ctx, source, name)
		if err != nil {
			return err
		}
		body, ok := strings.CutPrefix(text, "CREATE TABLE "+link.Name(name.Name)+" ")
		if !ok {
			continue // preflight says what it is
		}
		if _, err := target.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+link.Name(name.Schema)); err != nil {
			return fmt.Errorf("make the schema of table %s on shard %s: %w", name, shard, err)
		}
		if _, err := target.Exec(ctx, "CREATE TABLE "+spelled(name)+" "+body); err != nil && link.Code(err) != tableExists {
			return fmt.Errorf("make table %s on shard %s: %w", name, shard, err)
		}
	}
	return nil
}

// dropMade drops tables that the job made, and that have no rows any more.
func dropMade(ctx context.Context, store Store, j *job.Job) error {
	if j.Import == nil {
		return nil
	}
	for _, shard := range j.Import.Shards {
		at, err := store.Shard(ctx, shard)
		if err != nil {
			return err
		}
		if err := dropEmpty(ctx, at, j.MadeBy(shard)); err != nil {
			return fmt.Errorf("shard %s: %w", shard, err)
		}
	}
	return nil
}

func dropEmpty(ctx context.Context, at link.Server, names []catalog.TableName) error {
	if len(names) == 0 {
		return nil
	}
	c, err := link.Dial(ctx, at)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, name := range names {
		rows, err := c.Query(ctx, "SELECT 1 FROM "+spelled(name)+" LIMIT 1")
		switch {
		case link.Code(err) == unknownTable:
			continue
		case err != nil:
			return fmt.Errorf("look whether table %s is empty: %w", name, err)
		case len(rows) > 0:
			continue // somebody else's
		}
		if _, err := c.Exec(ctx, "DROP TABLE IF EXISTS "+spelled(name)); err != nil {
			return fmt.Errorf("drop table %s: %w", name, err)
		}
	}
	return nil
}
