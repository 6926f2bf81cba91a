package proxy

import (
	"context"
	"errors"
	"fmt"

	"locus/proxy/schema"
	"locus/router"
	"locus/router/stmt"
)

// mode is what the shards' global sql_mode means for the reading of texts. Sessions begin with it, so it must be the same
// on all shards that can be asked; what changes there counts from the next look on. Where none can be asked it stays what it
// was.
func (b *builder) mode(ctx context.Context, shards []router.ShardName) (stmt.Mode, error) {
	var common commonMode
	for _, name := range shards {
		pool, ok := b.pools.Pool(name)
		if !ok {
			continue
		}
		q := schema.Pooled{Pool: pool}
		if greet(ctx, q) != nil { // it is away, and was told to be
			continue
		}
		said, err := globalMode(ctx, q)
		if err == nil {
			err = common.add(name, said)
		}
		if err != nil {
			return 0, fmt.Errorf("shard %s: %w", name, err)
		}
	}
	if common.from == "" && b.last != nil {
		return b.last.snapshot.Mode, nil
	}
	return common.mode, nil
}

var errNoMode = errors.New("read sql_mode: the server answered SELECT @@GLOBAL.sql_mode without a row: is something else than a MySQL or MariaDB at its address?")

// globalMode asks a server for its global sql_mode.
func globalMode(ctx context.Context, q schema.Querier) (string, error) {
	rows, err := q.Query(ctx, "SELECT @@GLOBAL.sql_mode")
	switch {
	case err != nil:
		return "", fmt.Errorf("read sql_mode: %w", err)
	case len(rows) != 1 || len(rows[0]) != 1:
		return "", errNoMode
	}
	return string(rows[0][0]), nil
}

// commonMode is the mode of the shards that were asked so far.
type commonMode struct {
	from router.ShardName // the first; empty: none was
	said string
	mode stmt.Mode
}

// add takes what one more shard's server says, or tells why it can't be served beside the
// others.
func (c *commonMode) add(shard router.ShardName, said string) error {
	if other := stmt.OtherValues(said); other != "" {
		return fmt.Errorf("its global sql_mode has %s, under which a proxy would not see what is stored: SET GLOBAL sql_mode without it", other)
	}
	switch mode := stmt.ModeOf(said); {
	case c.from == "":
		c.from, c.said, c.mode = shard, said, mode
	case mode != c.mode:
		return fmt.Errorf("it reads statements in another way than shard %s: their global sql_mode is %q here and %q there; SET GLOBAL sql_mode to the same on both", c.from, said, c.said)
	}
	return nil
}
