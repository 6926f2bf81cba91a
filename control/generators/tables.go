package generators

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"locus/idgen"
	"locus/idgen/autoincrement"
	"locus/idgen/breaker"
	"locus/idgen/row"
	"locus/proxy/backend"
	"locus/proxy/schema"
	"locus/proxy/sqldb"
	"locus/router"
	"locus/router/cluster"
)

// The schema and the tables on shards. The tables of auto_increment are named number_NAME_INDEX.
const (
	createSchema = "CREATE SCHEMA IF NOT EXISTS locus"
	rowTable     = "locus.number"
)

// row takes numbers from the row of the generator's name.
func (m maker) row(ctx context.Context, name string) (idgen.Numbers, error) {
	d := m.declared.Generators[name]
	if d.Store != nil {
		return m.existingRow(d, name)
	}
	db, err := m.database(d.Shards[0])
	if err != nil {
		return nil, err
	}
	table, err := row.Open(db, rowTable, time.Now)
	if err != nil {
		return nil, err
	}
	if err := m.onceRow(ctx, name, db, table); err != nil {
		return nil, err
	}
	lock, err := m.lock(d, name)
	if err != nil {
		return nil, err
	}
	m.into.reports(func(st *Status) { st.left("sequence", table.Left(name)) })
	return bounded{table.Generator(name, table.Locked, lock)}, nil
}

// existingRow takes numbers from a row that another program has created, in a table with any columns. It never
// creates the row.
func (m maker) existingRow(d cluster.Generator, name string) (idgen.Numbers, error) {
	s := *d.Store.MySQL
	db, err := m.database(s.Shard)
	if err != nil {
		return nil, err
	}
	lock, err := m.lock(d, name)
	if err != nil {
		return nil, err
	}
	if s.Value != "" {
		adopted, err := row.Adopt(db, s.Shape(name))
		if err != nil {
			return nil, err
		}
		m.into.reports(func(st *Status) { st.left("sequence", adopted.Left()) })
		return bounded{adopted.Generator(lock)}, nil
	}
	table, tag := s.RowOf(name)
	rows, err := row.Open(db, table, time.Now)
	if err != nil {
		return nil, err
	}
	m.into.reports(func(st *Status) { st.left("sequence", rows.Left(tag)) })
	return bounded{rows.Generator(tag, rows.Locked, lock)}, nil
}

// onceRow creates the table and the generator's row.
func (m maker) onceRow(ctx context.Context, name string, db *sql.DB, table *row.Table) error {
	return m.once(ctx, name, func(ctx context.Context) error {
		if _, err := db.ExecContext(ctx, createSchema); err != nil {
			return err
		}
		return table.Create(ctx, 1, name)
	}, func(ctx context.Context) error { return table.Has(ctx, name) })
}

// lock returns the declared lock of a row, or nil.
func (m maker) lock(d cluster.Generator, name string) (row.Lock, error) {
	switch d.Lock {
	case cluster.LocalLock:
		return row.NewLocal(), nil
	case cluster.RedisLock:
		servers, err := m.redisServers(d)
		if err != nil {
			return nil, err
		}
		lock := row.NewShared(servers[0], "locus:row:"+name, breaker.Options{})
		m.into.reports(func(st *Status) { st.breaker("redis", lock.State(), 1) })
		return lock, nil
	case cluster.NoLock:
	}
	return nil, nil
}

// autoIncrement takes numbers by inserting into the tables of the generator's name.
func (m maker) autoIncrement(ctx context.Context, name, counter string) (idgen.Numbers, error) {
	databases := map[router.ShardName]*sql.DB{}
	var tables []autoincrement.Table
	var names []string
	d := m.declared.Generators[name]
	for i, shard := range d.Shards {
		if databases[shard] == nil {
			var err error
			if databases[shard], err = m.database(shard); err != nil {
				return nil, err
			}
		}
		table := autoincrement.Table{DB: databases[shard], Name: fmt.Sprintf("locus.number_%s_%d", name, i), Timeout: patience}
		if len(d.Tables) > 0 {
			table.Name, table.Time = d.Tables[i], d.TimeColumn
		}
		tables = append(tables, table)
		names = append(names, fmt.Sprintf("table %d on %s", i, shard))
	}
	create := m.once
	if len(d.Tables) > 0 { // another program has created them
		create = func(context.Context, string, func(context.Context) error, func(context.Context) error) error {
			return nil
		}
	}
	err := create(ctx, name, func(ctx context.Context) error {
		for _, db := range databases {
			if _, err := db.ExecContext(ctx, createSchema); err != nil {
				return err
			}
		}
		for _, t := range tables {
			if err := t.Create(ctx); err != nil {
				return err
			}
		}
		return nil
	}, func(ctx context.Context) error {
		for _, t := range tables {
			if err := t.Exists(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	g, err := autoincrement.New(m.limits(name, counter, names), tables...)
	if err != nil {
		return nil, err
	}
	m.members(counter, g, names)
	m.into.reports(func(st *Status) { st.left("row", g.Left()) })
	return g, nil
}

// once creates a generator's tables, unless etcd records that they were created before. If tables are lost, new
// ones would start at 1 again and repeat numbers. While etcd is unreachable, existing tables are used.
func (m maker) once(ctx context.Context, name string, create, exist func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key := "generator/" + name + "/tables"
	revision, err := m.made(ctx, key)
	if err != nil && exist(ctx) == nil {
		return nil
	}
	if err != nil || revision != 0 {
		return err
	}
	if err := create(ctx); err != nil {
		return err
	}
	// A process that was faster has written the same.
	_, err = m.options.KV.CompareAndSwap(ctx, key, 0, []byte("made by "+m.options.Name))
	return err
}

// made returns the revision of a record in etcd. It uses at most half of the remaining time.
func (m maker) made(ctx context.Context, key string) (int64, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	_, revision, err := m.options.KV.Get(ctx, key)
	return revision, err
}

// mostConnections bounds the connections of one generator to one shard.
const mostConnections = 8

// database opens connections to a shard for one generator. They are separate from the proxy's pool, because
// sessions wait for numbers while they hold connections of that pool.
func (m maker) database(shard router.ShardName) (*sql.DB, error) {
	target, err := schema.Target(shard, m.declared.Shards[shard], m.options.Secrets)
	if err != nil {
		return nil, err
	}
	target.Mark = cluster.ConnectionMark(cluster.NoProxy)
	target.MaxOpen, target.Replicas = mostConnections, nil
	pool := backend.NewPool(target, backend.Limits{}, m.options.Log)
	db := sqldb.Open(pool)
	m.into.atEnd(func() {
		_ = db.Close()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = pool.Close(ctx) // interrupts running queries
	})
	return db, nil
}

// patience bounds the wait for a server.
const patience = 5 * time.Second

// bounded adds a time limit to each call.
type bounded struct{ numbers idgen.Numbers }

// Fill implements idgen.Numbers.
func (b bounded) Fill(ctx context.Context, into []uint64) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return b.numbers.Fill(ctx, into)
}
