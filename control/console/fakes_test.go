package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/config"
	"locus/config/etcd"
	"locus/control/doctor"
	"locus/control/events"
	"locus/control/finding"
	"locus/control/fleet"
	"locus/control/generators"
	"locus/control/newshard"
	"locus/control/ops"
	"locus/control/overview"
	"locus/idgen/gene"
	"locus/migrate"
	"locus/migrate/copies"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/migrate/preflight"
	"locus/proxy"
	"locus/proxy/health"
	"locus/proxy/meter"
	"locus/proxy/mirror"
	"locus/proxy/session"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

type fakeProxy struct {
	counts session.Counts
	tables *catalog.Catalog
}

func (f *fakeProxy) Status() proxy.Status {
	slow := new(meter.Slow)
	slow.Add(meter.Took{Hash: "ab12", Text: "select <b>?</b>", Database: "shop", Shards: "s0, s1", All: 1234 * time.Millisecond, Ended: began})
	return proxy.Status{MapVersion: 1, Sessions: 3, Counts: &f.counts, Slow: slow}
}

func (f *fakeProxy) Declared() *cluster.Cluster {
	return &cluster.Cluster{
		Settings: cluster.Settings{GeneBits: 16, Hash: "md5", DefaultShard: "s0"}, Routes: f.Map(),
		Shards:     map[router.ShardName]cluster.Shard{"s0": {Address: "db0:3306"}, "s1": {Address: "db1:3306"}, "s2": {Address: "db2:3306"}},
		Tables:     map[catalog.TableName]catalog.Declaration{{Schema: "shop", Name: "orders"}: {Kind: catalog.Sharded, Owner: "buyer"}},
		Users:      map[string]cluster.User{"app": {AuthenticationString: "*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29", ReadOnly: true}},
		Generators: map[string]cluster.Generator{"invoice": {Kind: cluster.SegmentGenerator}},
	}
}

func (f *fakeProxy) Catalog() *catalog.Catalog { return f.tables }

func (*fakeProxy) Map() *router.Map {
	m, err := router.New(16, 1, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	if err != nil {
		panic(err)
	}
	genes, _ := gene.ParseSet("0x4000-0x7fff", 16)
	if m, err = m.Step([]router.Move{{Job: "split-1", Genes: genes, From: "s0", To: "s2"}}); err != nil {
		panic(err)
	}
	return m
}

// fakeCluster is records and reports in memory.
type fakeCluster struct {
	mu      sync.Mutex // of what follows
	jobs    []*job.Job
	reports map[string]job.Report
	err     error
	frozen  string // the server of a shard
	began   time.Time
	found   []finding.Finding // by doctor
	notes   overview.Notes
	// mirrored contains the report of both proxies about each job.
	mirrored map[string]mirror.Report
	asked    events.Query // the last one of the timeline
}

func (f *fakeCluster) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeCluster) Jobs(context.Context) ([]*job.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs, f.err
}

func (f *fakeCluster) Reports(context.Context) (map[string]job.Report, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reports, f.err
}

// Timeline returns events of the kinds and the subject that are asked for.
func (f *fakeCluster) Timeline(_ context.Context, q events.Query) (page events.Page, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = q
	for _, e := range []events.Event{
		{ID: "1", At: q.Since, Kind: events.Failover, Subject: "shard s0", What: "b:1 is the primary, it was a:1", By: "proxy-a", Took: 1500 * time.Millisecond, Failed: true},
		{ID: "2", At: q.Since, Kind: events.Job, Subject: "job split-1", What: "copied", By: "proxy-b"},
	} {
		if len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Kind) {
			page.Events = append(page.Events, e)
		}
	}
	page.Next = "2"
	return page, f.err
}

func (f *fakeCluster) Mirrored(context.Context) (map[string]map[string]mirror.Report, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]map[string]mirror.Report{}
	for id, r := range f.mirrored {
		all[id] = map[string]mirror.Report{"proxy-a": r, "proxy-b": r}
	}
	return all, f.err
}

func (*fakeCluster) Cards(context.Context) ([]fleet.Card, error) {
	return []fleet.Card{{ID: "proxy-a", Addr: "127.0.0.1:4306", MapVersion: 2}, {ID: "proxy-b", MapVersion: 2}}, nil
}

// Beats returns the figures of two proxies. Each sends a hundred statements a second to each shard that responds.
func (f *fakeCluster) Beats(context.Context, time.Duration) (fleet.Answers[fleet.Beat], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.began.IsZero() {
		f.began = time.Now()
	}
	now := time.Now()
	all := fleet.Answers[fleet.Beat]{By: map[string]fleet.Beat{}}
	for _, id := range []string{"proxy-a", "proxy-b"} {
		b := fleet.Beat{At: now, Started: f.began, Sessions: 5, Shards: map[string]fleet.Flow{}, Pools: map[string]fleet.Pool{}}
		for _, shard := range []string{"s0", "s1"} {
			b.Shards[shard] = fleet.Flow{Count: uint64(100 * now.Sub(f.began).Seconds())}
			b.Pools[shard] = fleet.Pool{InUse: 2, Limit: 8}
		}
		if f.frozen != "" {
			b.Servers = []health.Status{{Shard: router.ShardName(f.frozen), Addr: "db:3306", State: health.Frozen, Since: now, Why: "no byte has come"}}
		}
		all.By[id] = b
	}
	return all, f.err
}

func (*fakeCluster) Statements(context.Context) (fleet.Cost, error) {
	figures := meter.Figures{Hash: "ab12", Text: "select <b>?</b>", Count: 4, TotalMs: 20}
	return fleet.Cost{Report: meter.Report{Digests: []meter.Figures{figures}, Others: meter.Figures{Text: meter.Others, Count: 2}, Kept: 1, Most: 9}, Proxies: 2}, nil
}

func (*fakeCluster) Differences(_ context.Context, id string) (l job.Differences, err error) {
	if id == "split-1" {
		one, two := int64(1), int64(2)
		l.Add(job.Difference{Table: "shop.orders", KeyText: "(7)", Columns: []string{"amount"}, Owner: job.AtSource, Versioned: true, Source: job.Image{Sum: "a", Version: &two, Short: "7, 90"}, Target: job.Image{Sum: "b", Version: &one, Short: "7, 80"}})
		l.Add(job.Difference{Table: "shop.orders", KeyText: "(8)", Owner: job.AtSource, Source: job.Image{Sum: "a", Short: "8, 1"}})
		l.Beyond = 5
	}
	return l, nil
}

func (*fakeCluster) Digest(_ context.Context, database, hash string) (d fleet.DigestCost, err error) {
	d.Proxies = 2
	if hash != "ab12" {
		return d, nil
	}
	at := time.Now().Truncate(time.Minute).Add(-5 * time.Minute)
	d.Details = meter.Details{
		Figures: meter.Figures{Hash: hash, Text: "select <b>?</b>", Database: database, Count: 240, Several: 60, Sent: 180, Gathered: 3, Copied: 90, Keyed: 30, TotalMs: 480, SlowestMs: 9},
		Shards:  []meter.Part{{Name: "s0", Count: 180, TotalMs: 180}, {Name: "(several)", Count: 60, Failed: 1, TotalMs: 300}},
		Users:   []meter.Part{{Name: "app", Count: 240, Failed: 1, TotalMs: 480}}, Codes: []meter.Part{{Name: "1205", Count: 1, Failed: 1}},
		Minutes: []meter.Point{{At: at, Count: 120, Failed: 6, TotalMs: 240, Times: []meter.Times{{UpToNs: 2e6, Count: 120}}, Shards: []meter.Part{{Name: "s0", Count: 60, TotalMs: 60, P50Ms: 1.001, P99Ms: 2.002}}}}, Recorded: true,
	}
	return d, nil
}

func (*fakeCluster) TableSizes(_ context.Context, shard router.ShardName) ([]ops.TableSize, error) {
	orders, old := catalog.TableName{Schema: "shop", Name: "orders"}, catalog.TableName{Schema: "shop", Name: "old"}
	switch shard {
	case "s0":
		return []ops.TableSize{{Table: old, Rows: 7, Bytes: 70}, {Table: orders, Rows: 100, Bytes: 1000}}, nil
	case "s1":
		return []ops.TableSize{{Table: orders, Rows: 300, Bytes: 3000}}, nil
	}
	return nil, errors.New("it is down")
}

func (*fakeCluster) Explain(_ context.Context, shard router.ShardName, _, sql string, reads bool) (ops.ServerPlan, error) {
	if shard == "s1" {
		return ops.ServerPlan{}, errors.New("it does not answer")
	}
	return ops.ServerPlan{Columns: []string{"id", "Extra"}, Rows: [][]string{{"1", fmt.Sprint(sql, " ", reads)}}}, nil
}

func (*fakeCluster) Sessions(context.Context) (fleet.SessionList, error) {
	list := fleet.SessionList{Omitted: 3, Sessions: []fleet.Session{{Proxy: "proxy-a", ID: 7, User: "app", Command: "Query", Statement: "select <b>?</b>"}}}
	for i := range uint32(mostSessions) {
		list.Sessions = append(list.Sessions, fleet.Session{Proxy: "proxy-b", ID: i, Command: "Sleep"})
	}
	return list, nil
}

func (*fakeCluster) Generators(context.Context) (fleet.Answers[[]generators.Report], error) {
	return fleet.Answers[[]generators.Report]{By: map[string][]generators.Report{"proxy-a": {{Name: "invoice", Loads: 7}}}}, nil
}

func (*fakeCluster) Load(_ context.Context, w gene.Width) (*meter.Loads, error) {
	return meter.Sum(w, meter.Load{Heaviest: []meter.Rate{{Slot: 0x1234, PerSecond: 40}, {Slot: 0x9000, PerSecond: 7}}, Stripes: slices.Repeat([]float64{25.6}, 256)}), nil
}

func (*fakeCluster) Rows(context.Context) (map[router.ShardName]float64, error) {
	return map[router.ShardName]float64{"s0": 32768, "s1": 65536}, nil
}

func (*fakeCluster) Members(context.Context) []etcd.Health {
	return []etcd.Health{{Endpoint: "127.0.0.1:2379", Leader: true}}
}

func (f *fakeCluster) Examine(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes.Report = doctor.Report{At: time.Now(), Etcd: 1, Proxies: 2, Shards: 3, Findings: f.found}
	return nil
}

func (f *fakeCluster) Notes(context.Context) (overview.Notes, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.notes, f.err
}

func (*fakeCluster) Routes(context.Context) ([]cluster.Version, error) {
	first, err := router.New(16, 1, []router.Entry{{Bound: 0xffff, Shard: "s0"}})
	if err != nil {
		return nil, err
	}
	second, err := router.New(16, 2, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	return []cluster.Version{{Map: first, Stamp: router.Stamp{By: "ann", Why: "first"}}, {Map: second, Stamp: router.Stamp{By: "bob"}}}, err
}

// fakeOperations are those on the jobs of a fakeCluster. It knows pause, resume and finish, and a split.
type fakeOperations struct{ *fakeCluster }

func (f fakeOperations) Send(_ context.Context, c ops.Command, by string, _ ops.Agree) (*job.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var id string
	var order job.Order
	switch c := c.(type) {
	case ops.Pause:
		id, order = c.Job, job.Just("pause", phase.Pause)
	case ops.Resume:
		id, order = c.Job, job.Just("resume", phase.Resume)
	case ops.Finish:
		id, order = c.Job, job.Just("finish", phase.Finish)
	}
	if id == "" {
		return nil, &ops.Invalid{Problem: "no job is named"}
	}
	for i, j := range f.jobs {
		if j.ID == id {
			next, err := j.Told(order, by, began)
			if err == nil {
				f.jobs[i] = next
			}
			return next, err
		}
	}
	return nil, fmt.Errorf("job %s: %w", id, migrate.ErrNoJob)
}

func (f fakeOperations) PlanStart(_ context.Context, s ops.Start, by string) (*ops.Plan, error) {
	genes, err := gene.ParseSet("0x4000-0x5fff", 16)
	if err != nil {
		return nil, err
	}
	of := s.(ops.Split)
	j, err := job.New("split-9", job.Split, of.From, of.To, 16, genes, by, "", began)
	return &ops.Plan{Job: j, Problems: []preflight.Problem{{Check: "binlog", What: "it is off", Remedy: "switch it on"}}}, err
}

func (f fakeOperations) Start(_ context.Context, p *ops.Plan) error { return p.Refusal() }

func (f fakeOperations) AddTable(_ context.Context, r ops.TableWords, _ string) (ops.Table, error) {
	return ops.Table{Name: r.Table, Declaration: catalog.Declaration{Kind: catalog.Global}}, nil
}

func (f fakeOperations) DropTable(_ context.Context, r ops.DropTable, _ string) (ops.Table, error) {
	return ops.Table{Name: r.Table}, nil
}

func (f fakeOperations) TakePrimary(context.Context, ops.TakePrimary, string, *slog.Logger) error {
	return nil
}

func (f fakeOperations) WithoutReplicas(context.Context, ops.WithoutReplicas, string, *slog.Logger) (string, error) {
	return "db:1", nil
}

func (f fakeOperations) Drain(_ context.Context, r ops.Drain, _ string) (*ops.Leaving, error) {
	return &ops.Leaving{Process: fleet.Card{ID: r.Process}, Proxies: 1}, nil
}

func (f fakeOperations) Evict(_ context.Context, r ops.Evict, _ string) (*ops.Leaving, error) {
	return &ops.Leaving{Process: fleet.Card{ID: r.Process}}, nil
}

func (f fakeOperations) Declare(context.Context, ops.Declare, string) (*ops.Change, ops.Effect, error) {
	return &ops.Change{Next: &cluster.Cluster{Routes: (&fakeProxy{}).Map()}}, ops.Effect{}, nil
}

func (f fakeOperations) FillShard(_ context.Context, r ops.FillShard, _ string) (*ops.Fill, []newshard.Filled, error) {
	return nil, []newshard.Filled{{Shard: r.Shard, Filled: copies.Filled{Written: 7, Deleted: 1}}}, nil
}

func (f fakeOperations) Rebalance(context.Context, ops.Rebalance, string) ([]*job.Job, error) {
	return f.jobs, nil
}

func (f fakeOperations) KillSession(_ context.Context, r ops.KillSession, _ string) (string, error) {
	return r.Proxy, nil
}

func (f fakeOperations) Acknowledge(_ context.Context, r ops.Acknowledge, by string) (finding.Acknowledgement, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.notes.Report.Findings {
		if one.ID == r.Finding {
			a := finding.Acknowledgement{Fact: one.Fact, By: by, At: time.Now(), Why: r.Why}
			f.notes.Acknowledged = map[string]finding.Acknowledgement{a.ID: a}
			return a, nil
		}
	}
	return finding.Acknowledgement{}, &ops.Invalid{Problem: "no finding is named"}
}

func (f fakeOperations) Withdraw(_ context.Context, r ops.Withdraw, _ string) (a finding.Acknowledgement, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, f.notes.Acknowledged = f.notes.Acknowledged[r.Finding], nil
	return a, nil
}

func (f fakeOperations) Switchover(context.Context, ops.Switchover, string, *slog.Logger) (time.Duration, error) {
	return 20 * time.Millisecond, nil
}

var began = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func plannedJob(t *testing.T, id string) *job.Job {
	t.Helper()
	genes, err := gene.ParseSet("0x4000-0x7fff", 16)
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.New(id, job.Split, "s0", "s2", 16, genes, "anna", "s0 is full", began)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func failedJob(t *testing.T, id string) *job.Job {
	return after(t, plannedJob(t, id), phase.Event{Kind: phase.FailedWith, Why: "no <b>log</b>", Remedy: "raise the retention"})
}

// after is a job on which events have come.
func after(t *testing.T, j *job.Job, events ...phase.Event) *job.Job {
	t.Helper()
	for i, e := range events {
		next, err := j.On(e, "proxy-a", "", began.Add(time.Duration(i+1)*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		j = next
	}
	return j
}

func newConsole(f *fakeCluster) *Console {
	password := func(text string) func() (string, error) { return func() (string, error) { return text, nil } }
	return New(Options{Proxy: &fakeProxy{}, Cluster: f, Operations: fakeOperations{f}, Name: "shop", Self: fleet.Card{ID: "mover", Roles: []config.Task{config.MoverTask}}, Version: "v0", Accounts: []Account{
		{"admin", config.Admin, password("pass")},
		{"vera", config.Viewer, password("look")},
		{"walt", config.Viewer, password("see")},
		{"nobody", config.Admin, func() (string, error) { return "", errors.New("no such file") }},
	}})
}

func serve(t *testing.T, f *fakeCluster) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(newConsole(f))
	t.Cleanup(server.Close)
	return server
}

func ask(t *testing.T, server *httptest.Server, path, user, password string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(user, password)
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// get asks a console without a network between.
func get[T any](t *testing.T, h http.Handler, path string) (a T) {
	t.Helper()
	return do[T](t, h, http.MethodGet, path, "")
}

func do[T any](t *testing.T, h http.Handler, method, path, body string) (a T) {
	t.Helper()
	w := reply(h, method, path, body)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return a
}

func reply(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, io.Reader(strings.NewReader(body)))
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth("admin", "pass")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// replyIn answers a GET of a client that accepts an encoding.
func replyIn(h http.Handler, path, encoding string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept-Encoding", encoding)
	r.SetBasicAuth("admin", "pass")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
