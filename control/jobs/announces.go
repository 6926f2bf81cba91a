package jobs

import (
	"context"
	"fmt"

	"locus/control/declared"
	"locus/migrate"
	"locus/router"
	"locus/router/cluster"
)

// announces refuses the first map with a job's moves while a table is being renamed: moved rows would be
// searched by a name that not every shard has. Starting a rename creates a new version of the map, so a process
// that checked before it can't write.
func (s *Store) announces(ctx context.Context, snap migrate.Snapshot, next *router.Map) error {
	if len(next.Moves()) <= len(snap.Map.Moves()) {
		return nil
	}
	c, err := declared.Current(ctx, s.kv)
	if err != nil {
		return err
	}
	for name := range c.Renaming {
		if _, declared := c.Tables[name]; declared {
			return fmt.Errorf("a table is being renamed (%s): the job goes on once all shards have done it; if that lasts, repeat its RENAME TABLE", cluster.Prefix+cluster.RenamingKey(name))
		}
	}
	for name, why := range c.Refused {
		if u := c.Unreadable[cluster.RenamingKey(name)]; u.Why != "" && c.Unreadable[cluster.TableKey(name)].Why != "" {
			return fmt.Errorf("table %s may be being renamed: %s", name, why)
		}
	}
	return nil
}
