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

// Renames changes the names of declared tables, for RENAME TABLE statements. It sends nothing to shards. It is
// safe for concurrent use.
type Renames struct {
	KV  *etcd.KV
	Log *slog.Logger
}

// Begin declares tables by their new names too. Until End or Undo, proxies serve neither name. resumed reports
// that exactly these renames had already begun. If changed is true, the change may have been written although
// an error is returned.
func (r Renames) Begin(ctx context.Context, list []catalog.Rename, by string) (resumed, changed bool, err error) {
	changed, err = r.tables().changeCluster(ctx, by, func(c *cluster.Cluster) (next *cluster.Cluster, err error) {
		var goesOn bool
		next, goesOn, err = c.BeginRename(list)
		resumed = goesOn
		return next, err
	})
	if changed { // a first attempt of this call may have begun them
		resumed = false
	}
	return resumed, changed, err
}

// End removes the old names.
func (r Renames) End(ctx context.Context, list []catalog.Rename, by string) error {
	changed, err := r.tables().changeCluster(ctx, by, func(c *cluster.Cluster) (*cluster.Cluster, error) { return c.EndRename(list) })
	if changed && err == nil {
		r.Log.Info("tables were renamed in SQL", slog.String("statement", catalog.RenameStatement(list)), slog.String("by", by))
	}
	return err
}

// Undo removes the new names.
func (r Renames) Undo(ctx context.Context, list []catalog.Rename, by string) error {
	_, err := r.tables().changeCluster(ctx, by, func(c *cluster.Cluster) (*cluster.Cluster, error) { return c.UndoRename(list) })
	return err
}

func (r Renames) tables() Tables { return NewTables(r.KV, r.Log) }

// same reports whether two clusters declare the same tables by the same names.
func same(c, next *cluster.Cluster) bool {
	return reflect.DeepEqual(c.Tables, next.Tables) && maps.Equal(c.Renaming, next.Renaming) && maps.Equal(c.Counters, next.Counters)
}
