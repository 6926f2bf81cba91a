package ddl

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/gene"
	"locus/internal/test/fakeshard"
	"locus/internal/test/parallel"
	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/snapshot"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

func TestMain(m *testing.M) {
	parallel.Raise()
	os.Exit(m.Run())
}

// stand is a session with three shards. When the test ends, all connections must have been returned to each pool.
type stand struct {
	t          testing.TB
	client     *fakeshard.Client
	shards     map[router.ShardName]*fakeshard.Server
	log        *fakeshard.Log
	now        *snapshot.Snapshot
	session    Session
	conditions conditions
}

// conditions are the diagnostics of the session, as texts.
type conditions struct{ notes, warnings []string }

func (c *conditions) Keep(*backend.Rows)               {}
func (c *conditions) Warn(message string)              { c.warnings = append(c.warnings, message) }
func (c *conditions) Note(_ uint16, message string)    { c.notes = append(c.notes, message) }
func (c *conditions) NoteServerError(e *mysql.MyError) { c.notes = append(c.notes, e.Message) }

type unobserved struct{}

func (unobserved) Sent(txn.Lease)          {}
func (unobserved) Trace() *trace.Statement { return nil }

func newStand(t testing.TB) *stand {
	t.Helper()
	c := fakeshard.NewCluster(t)
	s := &stand{t: t, client: c.Client, shards: c.Shards, log: c.Log(t)}
	s.now = &snapshot.Snapshot{Map: testMap(t), Catalog: testCatalog(t), Flavor: flavor.MySQL}
	conns := txn.New(&txn.Services{Pools: c.Pools, Spanning: txn.Multi, Counts: &txn.Counts{}, Log: slog.New(slog.DiscardHandler)},
		txn.Environment{ID: 7, Context: context.Background(), Client: c.Client, Interrupts: c.Client, Observer: c.Client})
	t.Cleanup(conns.Reset)
	s.session = Session{
		Services: &Services{Snapshot: func() *snapshot.Snapshot { return s.now }}, Context: context.Background(), Conns: conns,
		Observer: unobserved{}, Diagnostics: &s.conditions, Commit: conns.Commit, Message: error.Error,
	}
	return s
}

func testMap(t testing.TB) *router.Map {
	t.Helper()
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func testCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	bigint := func(name string) catalog.Column { return catalog.Column{Name: name, DataType: "bigint"} }
	table, err := catalog.Resolve(catalog.TableName{Schema: "shop", Name: "orders"},
		catalog.Declaration{Kind: catalog.Sharded, Owner: "buyer", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}},
		[]catalog.Column{bigint("id"), bigint("buyer"), bigint("amount")}, gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	return catalog.New([]router.ShardName{"s0", "s1", "s2"}, []*catalog.Table{table}, nil)
}

// trial is a definition of a session.
type trial struct {
	*definition
	*stand
	told *Outcome
	mays []error // the results of may, one after the other
}

// request plans a definition.
func (s *stand) request(text string) *trial {
	s.t.Helper()
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(text), 0)
	p, err := plan.Make(lexed, plan.Context{Catalog: s.now.Catalog, Schema: "shop"})
	if err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	args := new(stmt.Args)
	args.Reset(lexed, nil)
	defines, is := p.(*plan.Definition)
	if !is { // the test changes the statement's facts later
		defines = &plan.Definition{Facts: *p.About()}
	}
	a := &trial{stand: s, definition: &definition{Session: &s.session, catalog: s.now.Catalog, Statement: Statement{
		Plan: defines, Facts: p.About(), Values: &plan.Values{Args: args}, Under: s.now, Schema: "shop", Settings: backend.Default.WithDatabase("shop"),
	}}}
	a.may = func() (err error) {
		if len(a.mays) > 0 {
			err, a.mays = a.mays[0], a.mays[1:]
		}
		return err
	}
	a.finish = func(out Outcome) { a.told = &out }
	return a
}

// plain returns the note that the definition is made on all shards at once, or "".
func (a *trial) plain() string { return strings.Join(a.conditions.notes, "; ") }

// failures returns replies for each way in which a statement with the prefix can fail.
func failures(prefix string) []fakeshard.Reply {
	return []fakeshard.Reply{{Prefix: prefix, Code: 1146}, {Prefix: prefix, Cut: fakeshard.Before}, {Prefix: prefix, Cut: fakeshard.Within}}
}

// failed reports one of failures.
func failed(err error) bool {
	_, lost := errors.AsType[*backend.LostError](err)
	return lost || refused(err, 1146)
}

// refused reports a shard's error of a number.
func refused(err error, code uint16) bool {
	e, ok := errors.AsType[*mysql.MyError](err)
	return ok && e.Code == code
}
