package jobs

import (
	"context"
	"fmt"

	"locus/migrate"
	"locus/router"
	"locus/router/cluster"
)

// announces refuses the first map with a job's moves while a table is being renamed, whose rows would be looked for by a name that
// not every shard has. To begin to rename one makes another version of the map, so that who has looked before that writes nothing.
func (s *Store) announces(ctx context.Context, snap migrate.Snapshot, next *router.Map) error {
	if len(next.Moves()) <= len(snap.Map.Moves()) {
		return nil
	}
	renaming, _, err := s.kv.GetPrefix(ctx, cluster.Prefix+cluster.RenamingPrefix)
	if err != nil || len(renaming) == 0 {
		return err
	}
	return fmt.Errorf("a table is being renamed (%s): the job goes on once all shards have done it; if that lasts, repeat its RENAME TABLE", renaming[0].Key)
}
