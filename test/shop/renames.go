package shop

import (
	"context"
	"maps"
	"reflect"

	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// renames are the source's documents, for statements that rename tables.
type renames struct{ source *source }

// Begin implements ddl.Renames.
func (r renames) Begin(_ context.Context, list []catalog.Rename, by string) (resumed, changed bool, err error) {
	changed, err = r.source.change(by, func(c *cluster.Cluster) (next *cluster.Cluster, err error) {
		var goesOn bool
		next, goesOn, err = c.BeginRename(list)
		resumed = goesOn
		return next, err
	})
	return resumed, changed, err
}

// End implements ddl.Renames.
func (r renames) End(_ context.Context, list []catalog.Rename, by string) error {
	_, err := r.source.change(by, func(c *cluster.Cluster) (*cluster.Cluster, error) { return c.EndRename(list) })
	return err
}

// Undo implements ddl.Renames.
func (r renames) Undo(_ context.Context, list []catalog.Rename, by string) error {
	_, err := r.source.change(by, func(c *cluster.Cluster) (*cluster.Cluster, error) { return c.UndoRename(list) })
	return err
}

// BeginRename marks tables as being renamed in the declaration. A proxy that ends during a rename leaves this
// state.
func (s *Shop) BeginRename(list ...catalog.Rename) error {
	_, _, err := renames{s.source}.Begin(context.Background(), list, "test")
	return err
}

func (s *source) change(by string, change func(*cluster.Cluster) (*cluster.Cluster, error)) (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := cluster.Decode(s.values)
	if err != nil {
		return false, err
	}
	next, err := change(before)
	if err != nil || reflect.DeepEqual(before.Tables, next.Tables) && maps.Equal(before.Renaming, next.Renaming) && maps.Equal(before.Counters, next.Counters) {
		return false, err
	}
	after, err := cluster.Succeed(before, next, router.Stamp{By: by})
	if err != nil {
		return false, err
	}
	s.replace(after)
	return true, nil
}
