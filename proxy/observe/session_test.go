package observe

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/meter"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/sysvars"
	"locus/proxy/trace"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// sink collects the traces.
type sink struct{ statements []*trace.Statement }

func (s *sink) Statement(t *trace.Statement) { s.statements = append(s.statements, t) }
func (s *sink) Segment(trace.Segment)        {}

// watched returns a session that records everything.
type watched struct {
	*Session
	meter  *meter.Meter
	traced sink
	log    bytes.Buffer
	vars   sysvars.State
}

func watch() *watched {
	w := &watched{meter: new(meter.Meter)}
	shards := []router.ShardName{"s0", "s1"}
	now := &snapshot.Snapshot{Catalog: catalog.New(shards, nil, nil), Flavor: flavor.MySQL}
	client := &reply.Client{Buffers: new(reply.Buffers)}
	w.Session = New(Services{Meter: w.meter, Tracer: trace.New(&w.traced, 1), Log: slog.New(slog.NewTextHandler(&w.log, nil))},
		7, "10.0.0.1:4711", &w.vars, client, func() *snapshot.Snapshot { return now })
	w.Notes = new(Notes)
	w.vars.Settings = backend.Default.WithDatabase("shop")
	w.Login("ann")
	return w
}

// run runs a statement that asks two shards, with the calls that a session makes.
func (w *watched) run(t *testing.T, text string, after time.Duration, err error) {
	t.Helper()
	var lexed stmt.Lexed
	lexed.Lex([]byte(text), 0)
	p, refused := plan.Make(&lexed, plan.Context{Catalog: w.now().Catalog, Schema: "shop"})
	if refused != nil {
		t.Fatal(refused)
	}
	w.SetDigest(&lexed, p)
	w.Begin(append([]byte{mysql.COM_QUERY}, text...))
	w.Read(&lexed)
	w.Planned(p.About())
	w.Queried("s0")
	w.Queried("s1")
	w.Queried("s0")
	w.Waited(time.Second)
	w.Held(time.Minute)
	if err != nil {
		w.ErrorSent(1205)
	}
	w.Ran(p, &plan.Values{Args: &stmt.Args{Lexed: &lexed}}, after, err)
	w.Ended(&lexed, nil)
	w.End()
}

// A statement is counted and traced, and logged if it is slow. Each shard is named once, and no literal appears.
func TestStatement(t *testing.T) {
	w := watch()
	w.run(t, "SELECT * FROM report WHERE id = 471147114", time.Nanosecond, nil)
	if len(w.traced.statements) != 1 {
		t.Fatalf("%d traces", len(w.traced.statements))
	}
	s := w.traced.statements[0]
	if strings.Join(s.Shards, ",") != "s0,s1" || s.Waited != time.Second || s.Held != time.Minute || s.User != "ann" || s.Client != "10.0.0.1:4711" || s.Tables[0] != "report" {
		t.Errorf("%+v", s)
	}
	if said := w.log.String(); !strings.Contains(said, `shards="s0, s1"`) || !strings.Contains(said, "held=1m0s") || strings.Contains(said, "471147114") {
		t.Errorf("logged %q", said)
	}
	w.log.Reset()
	w.run(t, "UPDATE report SET id = 1", time.Hour, errors.New("lost"))
	if w.log.Len() > 0 || w.traced.statements[1].Code != 1205 {
		t.Errorf("logged %q, traced %+v", w.log.String(), w.traced.statements[1])
	}
}

// Other goroutines see the session's current command and the reasons for its reserved connections.
func TestProcess(t *testing.T) {
	w := watch()
	w.SetDatabase("shop")
	w.Reserves("pinned: named lock", func(shard router.ShardName) uint32 {
		if shard != "s0" {
			t.Errorf("asked about %s", shard)
		}
		return 12
	})
	p := w.Process(3*time.Second, 5)
	if p.Command != "Sleep" || p.Time != 3 || *p.DB != "shop" || p.State != "pinned: named lock" || p.Pinned != 12 || p.Info != nil || p.User != w.User() {
		t.Errorf("%+v", p)
	}
	w.Begin([]byte("\x03SELECT 1; "))
	if p = w.Process(0, 5); p.Command != "Query" || *p.Info != "SELECT 1" || p.Thread != 5 {
		t.Errorf("%+v", p)
	}
	w.End()
	if p = w.Process(0, 5); p.Command != "Sleep" || p.Info != nil {
		t.Errorf("%+v", p)
	}
	for command, want := range map[byte]string{mysql.COM_STMT_EXECUTE: "Execute", mysql.COM_STMT_PREPARE: "Prepare", mysql.COM_INIT_DB: "Init DB", mysql.COM_STMT_FETCH: "Stmt Fetch"} {
		w.Begin([]byte{command})
		if p = w.Process(0, 5); p.Command != want {
			t.Errorf("%q, want %q", p.Command, want)
		}
	}
}
