package migrate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/migrate/job"
	"locus/migrate/link"
	"locus/router"
	"locus/router/catalog"
)

// makeTables creates an import's tables on the shards that lack them, with the source's definition. It also
// adds the gene column where locus makes one. It runs after every proxy knows that these tables are copies. The
// record lists the tables before they are created, so that an aborted job can drop them, even if its process
// was killed at any moment.
func (w *worker) makeTables(ctx context.Context, s Snapshot) error {
	if s.Job.Import == nil {
		return nil
	}
	tables, columns, err := w.lacking(ctx, s.Job)
	if err != nil {
		return err
	}
	if making, more := s.Job.Making(tables, columns, w.runner.Name, time.Now()); more {
		if _, err := w.runner.Store.Write(ctx, s, making, nil, ""); err != nil {
			return err
		}
		return errMoved // the record has changed since the action began
	}
	for _, shard := range slices.Sorted(maps.Keys(columns)) {
		if err := w.widenAt(ctx, s.Job, shard, columns[shard]); err != nil {
			return err
		}
	}
	for _, shard := range slices.Sorted(maps.Keys(tables)) {
		if err := w.makeAt(ctx, s.Job, shard, tables[shard]); err != nil {
			return err
		}
	}
	if columns[s.Job.From] == nil {
		return nil
	}
	// The tables have changed, so their definitions are read again. No stream runs yet: existing rows are
	// filled first, so that no stream has to follow these changes.
	w.stopStreams()
	w.move = nil
	if err := w.prepare(ctx, s); err != nil {
		return err
	}
	return w.move.owners.filler.all(ctx, throttle(s.Job.Throttle))
}

// byShard lists tables by shard.
type byShard map[router.ShardName][]catalog.TableName

// lacking returns the tables that shards lack, and the tables that lack the gene column.
func (w *worker) lacking(ctx context.Context, j *job.Job) (tables, columns byShard, err error) {
	tables, columns = byShard{}, byShard{}
	for _, shard := range append(slices.Clip(j.Import.Shards), j.From) {
		c, err := dialOf(ctx, w.runner.Store, j, shard)
		if err != nil {
			return nil, nil, err
		}
		defer c.Close()
		for _, name := range slices.SortedFunc(maps.Keys(j.Import.Tables), catalog.TableName.Compare) {
			text, err := created(ctx, c, name)
			if err != nil {
				return nil, nil, err
			}
			if text == "" {
				tables[shard] = append(tables[shard], name)
				continue
			}
			has := !j.Import.Tables[name].MakesGene()
			if !has {
				has, err = hasOwnGene(ctx, c, name)
			}
			if err != nil {
				return nil, nil, err
			}
			if !has {
				columns[shard] = append(columns[shard], name)
			}
		}
	}
	if gone := tables[j.From]; gone != nil {
		return nil, nil, fmt.Errorf("%s does not have table %s any more", j.Source(), gone[0])
	}
	return tables, columns, nil
}

func hasOwnGene(ctx context.Context, c *link.Conn, name catalog.TableName) (bool, error) {
	rows, err := c.Query(ctx, "SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+link.Text(name.Schema)+
		" AND TABLE_NAME = "+link.Text(name.Name)+" AND COLUMN_NAME = "+link.Text(catalog.OwnGene))
	return len(rows) > 0, err
}

// alter changes a table while clients use it. It waits only briefly for their transactions, because clients
// wait for it meanwhile.
func alter(ctx context.Context, c *link.Conn, name catalog.TableName, how string) error {
	if _, err := c.Exec(ctx, "SET SESSION lock_wait_timeout = 2"); err != nil {
		return err
	}
	_, err := c.Exec(ctx, "ALTER TABLE "+spelled(name)+" "+how+", ALGORITHM=INPLACE, LOCK=NONE")
	return err
}

// widenAt adds the gene column on one shard.
func (w *worker) widenAt(ctx context.Context, j *job.Job, shard router.ShardName, names []catalog.TableName) error {
	c, err := dialOf(ctx, w.runner.Store, j, shard)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, name := range names {
		if err := alter(ctx, c, name, "ADD ("+catalog.OwnGeneDefinition+")"); err != nil {
			return fmt.Errorf("add column %s to table %s on shard %s: %w", catalog.OwnGene, name, shard, err)
		}
	}
	return nil
}

// narrow drops the gene columns that the job added on some shards.
func narrow(ctx context.Context, store Store, j *job.Job, shards iter.Seq[router.ShardName]) error {
	for _, shard := range slices.Sorted(shards) {
		c, err := dialOf(ctx, store, j, shard)
		if err != nil {
			return err
		}
		defer c.Close()
		for _, name := range j.Import.Widened[shard] {
			has, err := hasOwnGene(ctx, c, name)
			if err == nil && has {
				err = alter(ctx, c, name, "DROP COLUMN "+link.Name(catalog.OwnGene))
			}
			if err != nil {
				return fmt.Errorf("drop column %s of table %s on shard %s: %w", catalog.OwnGene, name, shard, err)
			}
		}
	}
	return nil
}

// dialOf connects to a shard, or to the job's source, to read and write definitions. Their texts are exchanged
// in utf8mb4, whatever character set the columns have.
func dialOf(ctx context.Context, store Store, j *job.Job, shard router.ShardName) (*link.Conn, error) {
	server, err := serverOf(ctx, store, j, shard)
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

func serverOf(ctx context.Context, store Store, j *job.Job, shard router.ShardName) (link.Server, error) {
	if shard == j.From {
		return store.Source(ctx, j)
	}
	return store.Shard(ctx, shard)
}

// Error codes of servers.
const (
	unknownTable  = 1146
	unknownSchema = 1049
	tableExists   = 1050
)

// created returns the CREATE TABLE statement of a table, or "" if the server lacks the table.
func created(ctx context.Context, c *link.Conn, name catalog.TableName) (string, error) {
	rows, err := c.Query(ctx, "SHOW CREATE TABLE "+spelled(name))
	switch code := link.Code(err); {
	case code == unknownTable || code == unknownSchema:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read the definition of table %s: %w", name, err)
	case len(rows) != 1 || len(rows[0]) < 2:
		return "", errors.New("a server doesn't show the definition of table " + name.String() + " is made")
	}
	return string(rows[0][1]), nil
}

func spelled(name catalog.TableName) string {
	return link.Name(name.Schema) + "." + link.Name(name.Name)
}

// makeAt creates tables on a shard with the source's definitions.
func (w *worker) makeAt(ctx context.Context, j *job.Job, shard router.ShardName, names []catalog.TableName) error {
	source, err := dialOf(ctx, w.runner.Store, j, j.From)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := dialOf(ctx, w.runner.Store, j, shard)
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
			continue // preflight reports the other kinds
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

// dropMade drops tables that the job created and that are empty.
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
			return fmt.Errorf("check whether table %s is empty: %w", name, err)
		case len(rows) > 0:
			continue // the table has rows that the job did not write
		}
		if _, err := c.Exec(ctx, "DROP TABLE IF EXISTS "+spelled(name)); err != nil {
			return fmt.Errorf("drop table %s: %w", name, err)
		}
	}
	return nil
}
