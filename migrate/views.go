package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"locus/migrate/copies"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/preflight"
	"locus/router"
	"locus/router/catalog"
)

// views creates the views over an import's tables on the shards that lack them, and the routines that these
// views call. Once the tables are on every shard, statements use the views there too.
type views struct {
	store Store
	job   *job.Job
}

// viewsError reports views that could not be created, with a remedy.
type viewsError struct {
	name  fmt.Stringer
	shard router.ShardName
	from  router.ShardName
	cause error
}

func (e *viewsError) Error() string {
	return fmt.Sprintf("make %s on shard %s: %v", e.name, e.shard, e.cause)
}

func (e *viewsError) Unwrap() error { return e.cause }

func (e *viewsError) remedy() string {
	return fmt.Sprintf("make it there by hand, as SHOW CREATE shows it on %s, or drop it on %s", e.from, e.from)
}

// lackingViews lists the views that one shard lacks.
type lackingViews struct {
	routines []copies.Routine
	views    []catalog.TableName
}

func (l lackingViews) empty() bool { return len(l.routines)+len(l.views) == 0 }

// needed reports whether the job creates views at all. It does not touch the views of a server outside of the
// cluster.
func (v views) needed() bool { return v.job.Import != nil && v.job.Outside() == nil }

// make creates the views that each shard lacks, or returns an error, and waits until every proxy has read the new definitions.
// A proxy that had to read them during a fence would query all shards while statements are paused.
func (v views) make(ctx context.Context) error {
	made := false
	err := v.each(ctx, func(source, there *link.Conn, shard router.ShardName, l lackingViews) error {
		made = made || !l.empty()
		for _, r := range l.routines {
			if err := copies.MakeRoutine(ctx, source, there, r); err != nil {
				return &viewsError{r, shard, v.job.From, err}
			}
		}
		for _, name := range l.views {
			if err := copies.MakeView(ctx, source, there, name); err != nil {
				return &viewsError{name, shard, v.job.From, err}
			}
		}
		return nil
	})
	if err != nil || !made {
		return err
	}
	return v.store.Redefined(ctx)
}

// complete returns an error if a shard lacks a view or routine because a client has created it on the source
// since.
func (v views) complete(ctx context.Context) error {
	return v.each(ctx, func(_, _ *link.Conn, shard router.ShardName, l lackingViews) error {
		if l.empty() {
			return nil
		}
		return fmt.Errorf("shard %s lacks views, or routines, that were made a moment ago", shard)
	})
}

// each compares every shard with the source.
func (v views) each(ctx context.Context, do func(source, there *link.Conn, shard router.ShardName, l lackingViews) error) error {
	if !v.needed() {
		return nil
	}
	source, err := dialOf(ctx, v.store, v.job, v.job.From)
	if err != nil {
		return err
	}
	defer source.Close()
	tables, err := v.tables(ctx)
	if err != nil {
		return err
	}
	names, err := copies.ViewsOver(ctx, source, tables, v.job.Import.Tables)
	if err != nil || len(names) == 0 {
		return err
	}
	routines, err := copies.Routines(ctx, source)
	if err != nil {
		return err
	}
	for _, shard := range v.job.Import.Shards {
		if err := v.at(ctx, shard, source, names, routines, do); err != nil {
			return err
		}
	}
	return nil
}

func (v views) at(ctx context.Context, shard router.ShardName, source *link.Conn, names []catalog.TableName, routines []copies.Routine,
	do func(source, there *link.Conn, shard router.ShardName, l lackingViews) error,
) error {
	there, err := dialOf(ctx, v.store, v.job, shard)
	if err != nil {
		return err
	}
	defer there.Close()
	has, err := copies.Queries(ctx, there)
	if err != nil {
		return err
	}
	known, err := copies.RoutineNames(ctx, there)
	if err != nil {
		return err
	}
	var l lackingViews
	for _, name := range names {
		if _, is := has[name]; !is {
			l.views = append(l.views, name)
		}
	}
	for _, r := range routines {
		if len(l.views) > 0 && !known[r.Folded()] {
			l.routines = append(l.routines, r)
		}
	}
	return do(source, there, shard, l)
}

// tables returns the declared tables as they will be once the import's tables are on every shard.
func (v views) tables(ctx context.Context) (map[catalog.TableName]catalog.Declaration, error) {
	e, err := v.store.Everywhere(ctx, v.job.From)
	if err != nil {
		return nil, err
	}
	tables := maps.Clone(e.Tables)
	maps.Copy(tables, v.job.Import.Tables)
	return tables, nil
}

// drop drops the views over the import's tables on the shards where the job created these tables. Such views
// would read dropped tables.
func (v views) drop(ctx context.Context) error {
	if !v.needed() {
		return nil
	}
	tables, err := v.tables(ctx)
	if err != nil {
		return err
	}
	for _, shard := range v.job.Import.Shards {
		made := map[catalog.TableName]catalog.Declaration{}
		for _, name := range v.job.MadeBy(shard) {
			made[name] = v.job.Import.Tables[name]
		}
		if len(made) == 0 {
			continue
		}
		if err := v.dropAt(ctx, shard, tables, made); err != nil {
			return fmt.Errorf("shard %s: %w", shard, err)
		}
	}
	return nil
}

func (v views) dropAt(ctx context.Context, shard router.ShardName, tables, made map[catalog.TableName]catalog.Declaration) error {
	c, err := dialOf(ctx, v.store, v.job, shard)
	if err != nil {
		return err
	}
	defer c.Close()
	names, err := copies.ViewsOver(ctx, c, tables, made)
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(names) {
		if _, err := c.Exec(ctx, "DROP VIEW IF EXISTS "+spelled(name)); err != nil {
			return fmt.Errorf("drop view %s: %w", name, err)
		}
	}
	return nil
}

// EverywhereOf returns the objects that a leg's target must have. For an import, that includes the tables over which the
// target gets views.
func EverywhereOf(ctx context.Context, store Store, j *job.Job, shard router.ShardName) (*preflight.Everywhere, error) {
	e, err := store.Everywhere(ctx, shard)
	if err == nil && j.Import != nil && j.Outside() == nil {
		e.Imported = j.Import.Tables
	}
	return e, err
}
