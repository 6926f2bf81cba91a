package declared

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"time"

	"locus/config/etcd"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Tables declares single tables, for statements. It sends nothing to shards. It is safe for concurrent use.
type Tables struct {
	kv      *etcd.KV
	log     *slog.Logger
	decoder *cluster.Decoder
}

// NewTables returns a Tables for the cluster with the keys under kv.
func NewTables(kv *etcd.KV, log *slog.Logger) Tables {
	return Tables{kv, log, new(cluster.Decoder)}
}

// tries is the number of attempts to write a change when other processes change the declaration too.
const tries = 10

// OtherwiseError reports a table that is already declared in another way.
type OtherwiseError struct {
	Name     catalog.TableName
	Declared catalog.Declaration
}

func (e *OtherwiseError) Error() string {
	return fmt.Sprintf("table %s is declared already, as %q: locus apply changes what is declared", e.Name, e.Declared.Words())
}

// Declare adds a table to the declaration. An identical declaration is no change.
func (t Tables) Declare(ctx context.Context, name catalog.TableName, d catalog.Declaration, by string) (changed bool, err error) {
	changed, err = t.change(ctx, by, func(tables map[catalog.TableName]catalog.Declaration) error {
		if before, is := tables[name]; is && !reflect.DeepEqual(before, d) {
			return &OtherwiseError{name, before}
		}
		tables[name] = d
		return nil
	})
	if changed {
		t.log.Info("a table was declared in SQL", slog.String("table", name.String()), slog.String("declaration", d.Words()), slog.String("by", by))
	}
	return changed, err
}

// Withdraw removes a table from the declaration, if it is declared as d.
func (t Tables) Withdraw(ctx context.Context, name catalog.TableName, d catalog.Declaration, by string) error {
	changed, err := t.change(ctx, by, func(tables map[catalog.TableName]catalog.Declaration) error {
		if before, is := tables[name]; is && reflect.DeepEqual(before, d) {
			delete(tables, name)
		}
		return nil
	})
	if changed {
		t.log.Info("a table is not declared any more", slog.String("table", name.String()), slog.String("by", by))
	}
	return err
}

// Redeclare replaces the declaration from by to.
func (t Tables) Redeclare(ctx context.Context, name catalog.TableName, from, to catalog.Declaration, by string) error {
	changed, err := t.change(ctx, by, func(tables map[catalog.TableName]catalog.Declaration) error {
		before := tables[name]
		if !reflect.DeepEqual(before, from) && !reflect.DeepEqual(before, to) {
			return &OtherwiseError{name, before}
		}
		tables[name] = to
		return nil
	})
	if changed {
		t.log.Info("a table was declared in another way", slog.String("table", name.String()), slog.String("declaration", to.Words()), slog.String("by", by))
	}
	return err
}

// WithTables returns a copy of the cluster with edited tables, after all checks that need no shard.
func (s *State) WithTables(edit func(map[catalog.TableName]catalog.Declaration) error) (*cluster.Cluster, error) {
	if s.Cluster == nil {
		return nil, cluster.ErrNotDeclared
	}
	next := *s.Cluster
	if next.Tables = maps.Clone(next.Tables); next.Tables == nil {
		next.Tables = map[catalog.TableName]catalog.Declaration{}
	}
	if err := edit(next.Tables); err != nil {
		return nil, err
	}
	return &next, next.Validate()
}

// change applies all checks that need no shard, and writes the change by compare-and-swap. After an unknown
// outcome it plans the change again, to find out whether it took effect. If that fails, changed is true
// together with an error.
func (t Tables) change(ctx context.Context, by string, edit func(map[catalog.TableName]catalog.Declaration) error) (changed bool, err error) {
	return t.changeCluster(ctx, by, func(c *cluster.Cluster) (*cluster.Cluster, error) {
		return (&State{Cluster: c}).WithTables(edit)
	})
}

func (t Tables) changeCluster(ctx context.Context, by string, edit func(*cluster.Cluster) (*cluster.Cluster, error)) (changed bool, err error) {
	for range tries {
		done, err := t.changeOnce(ctx, by, edit)
		switch {
		case err == nil:
			return done || changed, nil
		case errors.Is(err, etcd.ErrUnknown) && ctx.Err() == nil:
			changed = true
		case errors.Is(err, etcd.ErrUnknown):
			return true, err
		case !errors.As(err, new(*etcd.Conflict)):
			return changed, err
		}
	}
	return changed, errors.New("other commands keep changing the declarations: try again")
}

func (t Tables) changeOnce(ctx context.Context, by string, edit func(*cluster.Cluster) (*cluster.Cluster, error)) (changed bool, err error) {
	state, err := readWith(ctx, t.kv, t.decoder)
	if err != nil {
		return false, err
	}
	if state.Cluster == nil {
		return false, cluster.ErrNotDeclared
	}
	next, err := edit(state.Cluster)
	if err != nil || same(state.Cluster, next) {
		return false, err
	}
	stamp := router.Stamp{By: by, At: time.Now()}
	after, err := cluster.Succeed(state.Cluster, next, stamp)
	if err != nil {
		return false, err
	}
	err = state.Commit(ctx, t.kv, after, stamp)
	return err == nil, err
}
