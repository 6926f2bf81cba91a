package proxy

import (
	"context"
	"errors"
	"fmt"

	"locus/proxy/schema"
	"locus/router"
	"locus/router/stmt"
)

// mode returns the effect of the shards' global sql_mode on the parsing of texts. Sessions begin with this mode, so it must be
// the same on all shards that answer. A later change on the shards takes effect at the next read of all tables. If no shard
// answers, mode returns the former mode.
func (b *builder) mode(ctx context.Context, shards []router.ShardName) (stmt.Mode, error) {
	var common commonMode
	for _, name := range shards {
		pool, ok := b.pools.Pool(name)
		if !ok {
			continue
		}
		q := schema.Pooled{Pool: pool}
		if greet(ctx, q) != nil { // the shard is down, which was logged already
			continue
		}
		text, err := globalMode(ctx, q)
		if err == nil {
			err = common.add(name, text)
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

// globalMode returns a server's global sql_mode.
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
	from router.ShardName // the first shard; empty: none was asked
	text string           // its sql_mode
	mode stmt.Mode
}

// add adds the sql_mode of another shard. The error is the reason why the shard can't be served together with the others.
func (c *commonMode) add(shard router.ShardName, text string) error {
	if other := stmt.OtherValues(text); other != "" {
		return fmt.Errorf("its global sql_mode has %s, under which a proxy would not see what is stored: SET GLOBAL sql_mode without it", other)
	}
	switch mode := stmt.ModeOf(text); {
	case c.from == "":
		c.from, c.text, c.mode = shard, text, mode
	case mode != c.mode:
		return fmt.Errorf("it reads statements in another way than shard %s: their global sql_mode is %q here and %q there; SET GLOBAL sql_mode to the same on both", c.from, text, c.text)
	}
	return nil
}
