package declared

import (
	"context"
	"log/slog"
	"maps"
	"reflect"

	"locus/config/etcd"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Renames has tables renamed in what is declared, for statements. It asks no shards. Safe for
// concurrent use.
type Renames struct {
	KV  *etcd.KV
	Log *slog.Logger
}

// Begin declares tables by their new names too, and has nobody served by either name. Resumed: just these renames were
// under way. The error says why they can't be; with changed set it may have been written all the same.
func (r Renames) Begin(ctx context.Context, list []catalog.Rename, by string) (resumed, changed bool, err error) {
	changed, err = r.tables().changeCluster(ctx, by, func(c *cluster.Cluster) (next *cluster.Cluster, err error) {
		var goesOn bool
		next, goesOn, err = c.BeginRename(list)
		resumed = goesOn
		return next, err
	})
	if changed { // by this one, if it had to look twice
		resumed = false
	}
	return resumed, changed, err
}

// End takes the former names away.
func (r Renames) End(ctx context.Context, list []catalog.Rename, by string) error {
	changed, err := r.tables().changeCluster(ctx, by, func(c *cluster.Cluster) (*cluster.Cluster, error) { return c.EndRename(list) })
	if changed && err == nil {
		r.Log.Info("tables were renamed in SQL", slog.String("statement", catalog.RenameStatement(list)), slog.String("by", by))
	}
	return err
}

// Undo takes the new names away.
func (r Renames) Undo(ctx context.Context, list []catalog.Rename, by string) error {
	_, err := r.tables().changeCluster(ctx, by, func(c *cluster.Cluster) (*cluster.Cluster, error) { return c.UndoRename(list) })
	return err
}

func (r Renames) tables() Tables { return NewTables(r.KV, r.Log) }

// same tells whether a cluster declares the same tables, by the same names.
func same(c, next *cluster.Cluster) bool {
	return reflect.DeepEqual(c.Tables, next.Tables) && maps.Equal(c.Renaming, next.Renaming) && maps.Equal(c.Counters, next.Counters)
}
