package generators

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"locus/idgen/row"
	"locus/idgen/segment"
	"locus/router/cluster"
)

// granter is the durable store that grants a generator's numbers.
type granter struct {
	segment.Store
	// step returns the step from the row of a table that another program has created; nil if there is none.
	step func(ctx context.Context, counter string) (uint64, error)
}

func (m maker) granting(ctx context.Context, name string) (granter, error) {
	if s := m.declared.Generators[name].Store; s != nil {
		return m.mySQL(ctx, name, *s.MySQL)
	}
	return granter{Store: timed(m.counters(name))}, nil
}

// counters returns a generator's counters in etcd, which start at the declared number.
func (m maker) counters(name string) *segment.CASStore {
	start := m.declared.Generators[name].Start
	if start == 0 {
		return m.store
	}
	return segment.NewCASStore(m.options.KV, "", m.options.Name, time.Now).StartingAt(start)
}

// timed returns a store with a time limit for each request, however long the caller waits.
func timed(store segment.Store) segment.Store {
	return extend(func(ctx context.Context, counter string, n uint64) (segment.Grant, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return store.Extend(ctx, counter, n)
	})
}

// storeName returns the name of the store in metrics.
func storeName(d cluster.Generator) string {
	if d.Store != nil {
		return "mysql"
	}
	return "etcd"
}

// extend implements segment.Store by a function.
type extend func(ctx context.Context, counter string, n uint64) (segment.Grant, error)

// Extend implements segment.Store.
func (e extend) Extend(ctx context.Context, counter string, n uint64) (segment.Grant, error) {
	return e(ctx, counter, n)
}

// timedPeriods is the same for numbers that restart with each period.
type timedPeriods struct{ segment.PeriodStore }

// ExtendPeriod implements segment.PeriodStore.
func (t timedPeriods) ExtendPeriod(ctx context.Context, counter string, p segment.Period, n uint64) (segment.Grant, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return t.PeriodStore.ExtendPeriod(ctx, counter, p, n)
}

// mySQL returns a store in a row on a shard, with a witness in etcd. The witness is the same counter that the
// generator would have with etcd as its store. So if a generator is declared with another store, shard or
// table, it either continues above all numbers that it has handed out, or fails.
func (m maker) mySQL(ctx context.Context, name string, s cluster.MySQLStore) (granter, error) {
	db, err := m.database(s.Shard)
	if err != nil {
		return granter{}, err
	}
	if s.Value != "" {
		adopted, err := row.Adopt(db, s.Shape(name))
		if err != nil {
			return granter{}, err
		}
		return m.witnessed(adopted.Extend, s, cmp.Or(s.Tag, name)), nil
	}
	table, tag := s.RowOf(name)
	made := table == ""
	if made {
		table = rowTable
	}
	rows, err := row.Open(db, table, time.Now)
	if err != nil {
		return granter{}, err
	}
	if made {
		if err := m.onceRow(ctx, name, db, rows); err != nil {
			return granter{}, err
		}
	}
	return m.ofRow(rows, s, tag), nil
}

// ofRow returns the store of a row, with its witness.
func (m maker) ofRow(rows *row.Table, s cluster.MySQLStore, tag string) granter {
	// One row grants all numbers, whatever the counter in front of it is called.
	ofRow := func(ctx context.Context, _ string, n uint64) (segment.Grant, error) { return rows.Extend(ctx, tag, n) }
	g := m.witnessed(ofRow, s, tag)
	if s.Table != "" {
		g.step = func(ctx context.Context, _ string) (uint64, error) {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			step, err := rows.Step(ctx, tag)
			if err != nil {
				return 0, inRow(s, tag, err)
			}
			return step, nil
		}
	}
	return g
}

// witnessed returns the store of a row. It records each grant in etcd before the grant is used.
func (m maker) witnessed(ofRow extend, s cluster.MySQLStore, tag string) granter {
	store := segment.NewWitnessed(ofRow, m.store)
	return granter{Store: extend(func(ctx context.Context, counter string, n uint64) (segment.Grant, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		g, err := store.Extend(ctx, counter, n)
		if err != nil {
			return segment.Grant{}, inRow(s, tag, err)
		}
		return g, nil
	})}
}

func inRow(s cluster.MySQLStore, tag string, err error) error {
	return fmt.Errorf("row %s of %s on shard %s: %w", tag, cmp.Or(s.Table, rowTable), s.Shard, err)
}
