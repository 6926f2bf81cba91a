package exec

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/fakeshard"
	"locus/proxy/backend"
	"locus/proxy/fence"
	"locus/proxy/flavor"
	"locus/proxy/health"
	"locus/proxy/kept"
	"locus/proxy/meter"
	"locus/proxy/observe"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/sysvars"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// stand is a session with three shards. When the test ends, all connections must have been returned to their pools.
type stand struct {
	*Execution
	t      testing.TB
	client *fakeshard.Client
	shards map[router.ShardName]*fakeshard.Server
	log    *fakeshard.Log
	// unsent contains the errors of sending to shards.
	unsent map[router.ShardName]error
	ids    issuer
	traces *traces

	// partial makes reads omit shards that are down.
	partial bool
}

// issuer issues IDs, and counts them.
type issuer struct {
	asked   int
	refused error
}

func (i *issuer) Issue(_ context.Context, t *catalog.Table, g gene.Gene, n int) (orderid.Layout, orderid.ID, error) {
	if i.refused != nil {
		return t.Layout, orderid.ID{}, i.refused
	}
	i.asked += n
	id, err := t.Layout.Compose(g, 1, orderid.Seq(uint64(i.asked)))
	return t.Layout, id, err
}

// traces stores the shards of the last statement that was traced.
type traces struct{ shards []string }

func (s *traces) Statement(t *trace.Statement) { s.shards = t.Shards }
func (s *traces) Segment(trace.Segment)        {}

// asked returns the shards that were sent a query since the observer noted the statement.
func (s *stand) asked() []string {
	s.Observer.Ended(s.Values.Lexed, nil)
	return s.traces.shards
}

func newStand(t testing.TB) *stand {
	t.Helper()
	c := fakeshard.NewCluster(t)
	s := &stand{t: t, client: c.Client, shards: c.Shards, log: c.Log(t), unsent: map[router.ShardName]error{}, traces: new(traces)}
	quiet := slog.New(slog.DiscardHandler)
	now := &snapshot.Snapshot{Map: testMap(t), Catalog: testCatalog(t), Flavor: flavor.MariaDB}
	current := func() *snapshot.Snapshot { return now }
	vars := sysvars.New(func() flavor.Flavor { return now.Flavor })
	vars.Values = sysvars.Values{Settings: backend.Default.WithDatabase("shop"), Autocommit: true}
	client := &reply.Client{Capabilities: backend.Capabilities, Seq: 1, Buffers: new(reply.Buffers), Final: func(last reply.Ending) reply.Ending { return last }}
	observer := observe.New(observe.Services{Meter: new(meter.Meter), Tracer: trace.New(s.traces, 1), Log: quiet}, 7, "", &vars, client, current)
	observer.Notes = new(observe.Notes)
	conns := txn.New(&txn.Services{Pools: c.Pools, Spanning: txn.Multi, Counts: &txn.Counts{}, Log: quiet},
		txn.Environment{ID: 7, Context: context.Background(), Client: choices{&vars}, Interrupts: s.client, Observer: observer})
	e := New(Config{
		ID: 7, Context: context.Background(), Current: current, Health: func() *health.Snapshot { return nil },
		Tally: new(Tally), Log: quiet, Conns: conns, Vars: &vars, Share: kept.NewShare(kept.NewMemory(kept.DefaultMemory), 1<<20), Client: client,
		Gate:     fence.New(&fence.Config{Leased: func() int64 { return 0 }}, func() *router.Map { return now.Map }),
		Observer: observer, Issuers: Issuers{IDs: &s.ids, Ring: func() *cipher.Ring { return nil }},
	})
	e.Account, e.Buffers = new(snapshot.Account), new(Buffers)
	e.unsent = func(shard router.ShardName) error { return s.unsent[shard] }
	s.Execution = &Execution{Engine: e}
	s.Execution = s.execution("UPDATE a SET b = 1")
	t.Cleanup(e.Conns.Reset)
	return s
}

// choices are the settings of a client whose connections have no profile.
type choices struct{ vars *sysvars.State }

func (c choices) Settings() *backend.Settings { return c.vars.Settings }
func (c choices) Profile() backend.Profile    { return 0 }
func (c choices) Autocommit() bool            { return c.vars.Autocommit }
func (c choices) Flavor() flavor.Flavor       { return flavor.MariaDB }

// execution returns the execution of a statement.
func (s *stand) execution(text string, params ...wire.Param) *Execution {
	s.t.Helper()
	var bound []stmt.Value
	for _, p := range params {
		bound = append(bound, Value(p))
	}
	p, lexed := statementOf(s.t, text)
	args := new(stmt.Args)
	args.Reset(lexed, bound)
	return &Execution{
		Engine: s.Engine, Plan: p, Facts: p.About(), Snapshot: s.Current(), Values: &plan.Values{Args: args}, Params: params,
		Payload: append([]byte{mysql.COM_QUERY}, text...),
	}
}

// begin opens a transaction on s0 and s1.
func (s *stand) begin() {
	s.t.Helper()
	s.Vars.Autocommit = false
	s.Conns.Imply()
	if _, err := s.change(parts("UPDATE a", "s0", "s1")); err != nil {
		s.t.Fatal(err)
	}
	s.log.Statements("s0")
	s.log.Statements("s1")
}

// parts returns parts with the same text for several shards.
func parts(text string, shards ...router.ShardName) []Part {
	var out []Part
	for _, shard := range shards {
		out = append(out, Part{Shard: shard, Text: []byte(text)})
	}
	return out
}

// refused reports whether an error is a shard's error with a code.
func refused(err error, code uint16) bool {
	e, ok := errors.AsType[*mysql.MyError](err)
	return ok && e.Code == code
}

// lost reports whether an error means that a connection was lost.
func lost(err error) bool {
	_, ok := errors.AsType[*backend.LostError](err)
	return ok
}
