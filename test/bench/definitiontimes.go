package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// definitionRounds is the number of definitions of each kind. The report shows their median.
const definitionRounds = 15

// Targets for definitions, in milliseconds in addition to a multiple of the time that the servers and etcd
// take.
const (
	beyondUndeclared = 5.0
	beyondSharded    = 20.0
	cpuOfDefinition  = 10.0
)

// timedDefinition is a kind of definition. %[1]d is the number of the round, %[2]s a name of the way to the server.
type timedDefinition struct {
	name    string
	through string // a proxy
	direct  string // the same on a shard's server
	sharded bool
}

var timedDefinitions = []timedDefinition{
	{"CREATE TABLE, undeclared", "CREATE TABLE u_%[2]s_%[1]d (a INT PRIMARY KEY, b INT)", "CREATE TABLE u_%[2]s_%[1]d (a INT PRIMARY KEY, b INT)", false},
	{"ALTER TABLE, undeclared", "ALTER TABLE u_%[2]s_%[1]d ADD COLUMN c INT", "ALTER TABLE u_%[2]s_%[1]d ADD COLUMN c INT", false},
	{"CREATE VIEW", "CREATE VIEW v_%[2]s_%[1]d AS SELECT a FROM u_%[2]s_%[1]d", "CREATE VIEW v_%[2]s_%[1]d AS SELECT a FROM u_%[2]s_%[1]d", false},
	{"CREATE PROCEDURE", "CREATE PROCEDURE p_%[2]s_%[1]d() SELECT 1", "CREATE PROCEDURE p_%[2]s_%[1]d() SELECT 1", false},
	{"CREATE TABLE, sharded", "CREATE TABLE s_%[2]s_%[1]d (a BIGINT PRIMARY KEY, b INT) COMMENT 'locus: owner=a'", "CREATE TABLE s_%[2]s_%[1]d (a BIGINT PRIMARY KEY, b INT)", true},
	{"CREATE INDEX, sharded", "CREATE INDEX b ON s_%[2]s_%[1]d (b)", "CREATE INDEX b ON s_%[2]s_%[1]d (b)", true},
	{"DROP TABLE, sharded", "DROP TABLE s_%[2]s_%[1]d", "DROP TABLE s_%[2]s_%[1]d", true},
	{"DROP TABLE, undeclared", "DROP TABLE u_%[2]s_%[1]d", "DROP TABLE u_%[2]s_%[1]d", false},
}

// definitionTimesRow compares definitions through one of three proxies with the same ones on the shards' servers: with the demo's few tables,
// with many more on the first shard, and while a job is open.
func definitionTimesRow(engine string, tables int) row {
	return row{"definition times, " + engine, func(ctx context.Context, s *stand, r *report) error {
		m, err := newMoves(ctx, s.options, engine, 0, "--spare", "1")
		if err != nil {
			return err
		}
		defer m.close()
		d, err := newDefining(ctx, m)
		if err != nil {
			return err
		}
		defer d.close()
		few, err := d.measure(ctx, r, timedDefinitions, "few", "few tables")
		if err != nil {
			return err
		}
		if err := d.crowd(ctx, tables); err != nil {
			return err
		}
		many, err := d.measure(ctx, r, timedDefinitions, "many", fmt.Sprintf("%d tables", tables))
		if err != nil {
			return err
		}
		for i, kind := range timedDefinitions {
			ratio := many[i] / few[i]
			r.figures = append(r.figures, figure{
				name: engine + ": " + kind.name + ": with " + fmt.Sprint(tables) + " tables ÷ with few", value: single(ratio), judged: ratio, digits: 2,
				bound: bound{atMost, 1.2, 1.2}, of: ofDefinitions,
			})
		}
		if err := d.idle(ctx, r); err != nil {
			return err
		}
		if _, err := m.begin(ctx); err != nil {
			return err
		}
		undeclared := slices.DeleteFunc(slices.Clone(timedDefinitions), func(d timedDefinition) bool { return d.sharded }) // the others are refused
		_, err = d.measure(ctx, r, undeclared, "job", "a job is open")
		return err
	}}
}

// defining is a demo with connections to its parts.
type defining struct {
	*moves
	proxy  *client.Conn
	shards []*client.Conn
	etcd   *clientv3.Client
}

func newDefining(ctx context.Context, m *moves) (d *defining, err error) {
	d = &defining{moves: m}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	connect := func(at endpoint) (c *client.Conn, err error) {
		return client.ConnectWithContext(ctx, at.addr, at.user, at.password, at.database, 10*time.Second)
	}
	if d.proxy, err = connect(m.ready.proxy(0)); err != nil {
		return d, err
	}
	for _, shard := range m.ready.Shards {
		c, err := connect(shard.endpoint())
		if err != nil {
			return d, err
		}
		d.shards = append(d.shards, c)
	}
	d.etcd, err = clientv3.New(clientv3.Config{Endpoints: m.ready.Etcd, DialTimeout: 10 * time.Second})
	return d, err
}

func (d *defining) close() {
	for _, c := range append(d.shards, d.proxy) {
		if c != nil {
			_ = c.Close()
		}
	}
	if d.etcd != nil {
		_ = d.etcd.Close()
	}
}

// crowd creates tables on the first shard, past the proxies, and waits until these have read them.
func (d *defining) crowd(ctx context.Context, tables int) error {
	for i := range tables {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := d.shards[0].Execute(fmt.Sprintf("CREATE TABLE crowd_%d (a INT PRIMARY KEY, b INT, KEY (b))", i)); err != nil {
			return err
		}
	}
	return sleep(ctx, 30*time.Second) // proxies poll every 10 s, and read everything once
}

// measure runs definitions of each kind alternately through the proxy and directly. It returns the proxy's
// medians in milliseconds.
func (d *defining) measure(ctx context.Context, r *report, kinds []timedDefinition, way, under string) (medians []float64, err error) {
	for _, kind := range kinds {
		one, err := d.timed(ctx, kind, way)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.name, err)
		}
		medians = append(medians, spreadOf(one.through).median)
		r.figures = append(r.figures, one.figures(d.engine+": "+kind.name+", "+under, kind.sharded)...)
	}
	return medians, nil
}

// definitionTimes are the times of one kind of definitions, in milliseconds.
type definitionTimes struct {
	through, direct, put []float64
	cpu                  float64 // CPU time of the proxy that used most, for each definition
}

func (d *defining) timed(ctx context.Context, kind timedDefinition, way string) (t definitionTimes, err error) {
	before, err := d.cpu()
	if err != nil {
		return t, err
	}
	for i := range definitionRounds {
		if err := since(&t.through, func() error { _, err := d.proxy.Execute(fmt.Sprintf(kind.through, i, way)); return err }); err != nil {
			return t, err
		}
		if err := since(&t.put, func() error { _, err := d.etcd.Put(ctx, "/bench/definition", fmt.Sprint(i)); return err }); err != nil {
			return t, err
		}
		var slowest []float64
		for n, shard := range d.shards {
			if n > 0 && !kind.sharded {
				break
			}
			if err := since(&slowest, func() error { _, err := shard.Execute(fmt.Sprintf(kind.direct, i, way+"_direct")); return err }); err != nil {
				return t, err
			}
		}
		t.direct = append(t.direct, slices.Max(slowest))
	}
	after, err := d.cpu()
	for i := range after {
		t.cpu = max(t.cpu, (after[i]-before[i]).Seconds()*1000/definitionRounds)
	}
	return t, err
}

// since appends the time that f takes, in milliseconds.
func since(times *[]float64, f func() error) error {
	begun := time.Now()
	err := f()
	*times = append(*times, time.Since(begun).Seconds()*1000)
	return err
}

// cpu returns the CPU time of each proxy.
func (d *defining) cpu() (all []time.Duration, err error) {
	for _, p := range d.ready.Proxies {
		used, err := cpuOf(p.PID)
		if err != nil {
			return nil, err
		}
		all = append(all, used)
	}
	return all, nil
}

func (t *definitionTimes) figures(name string, sharded bool) []figure {
	through, direct, put := spreadOf(t.through), spreadOf(t.direct).median, spreadOf(t.put).median
	goal := 2*direct + 2*put + beyondUndeclared
	if sharded {
		goal = 2*direct + 4*put + beyondSharded
	}
	goal = math.Round(goal*10) / 10
	return []figure{
		{
			name: name, value: through, judged: through.median, unit: "ms", digits: 1, bound: bound{atMost, goal, goal},
			detail: fmt.Sprintf("directly %.1f ms, a put to etcd %.1f ms", direct, put), of: ofDefinitions,
		},
		{
			name: name + ": CPU of a proxy", value: single(t.cpu), judged: t.cpu, unit: "ms", digits: 1, bound: bound{atMost, cpuOfDefinition, cpuOfDefinition},
			detail: "of the one that used most", of: ofDefinitions,
		},
	}
}

// idle measures the CPU time that a server spends on proxies without clients.
func (d *defining) idle(ctx context.Context, r *report) error {
	if err := sleep(ctx, 30*time.Second); err != nil {
		return err
	}
	before, err := cpuOf(d.ready.Shards[0].PID)
	if err != nil {
		return err
	}
	const length = 60 * time.Second
	if err := sleep(ctx, length); err != nil {
		return err
	}
	after, err := cpuOf(d.ready.Shards[0].PID)
	if err != nil {
		return err
	}
	percent := float64(after-before) / float64(length) * 100 / float64(len(d.ready.Proxies))
	r.figures = append(r.figures, figure{
		name: d.engine + ": CPU of the first shard's server for each idle proxy, with many tables", value: single(percent), judged: percent, unit: "%", digits: 2,
		bound: bound{atMost, 0.5, 0.5}, detail: fmt.Sprintf("of a core, over %v with %d proxies, the server's own work included", length, len(d.ready.Proxies)), of: ofDefinitions,
	})
	return nil
}
