//go:build servers

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/control/failover"
	"locus/control/finding"
	"locus/control/fleet"
	"locus/control/virtual"
	"locus/proxy/health"
	"locus/router/cluster"
)

// sight is the state of the cluster as one tool reports it.
type sight struct {
	finding.Summary
	Findings []finding.Finding
}

// short lists the counts and the findings with their consequences, in order.
func (a sight) short() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", a.Severity, a.Summary)
	for _, f := range a.Findings {
		fmt.Fprintf(&b, "%s %s %s %s, open: %v, expects: %v\n", f.ID, f.Severity, f.Where, f.Check, f.Open(), f.Expect != "")
		for _, c := range f.Consequences {
			fmt.Fprintf(&b, "  %s %s %s %s\n", c.ID, c.Severity, c.Where, c.Check)
		}
	}
	return b.String()
}

// command runs a command and checks that its exit status matches the severity in its output.
func (f *faces) command(name string) sight {
	f.t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(f.t.Context(), []string{name, "-c", f.config, "-o", "json"}, invocationOf(&stdout, &stderr))
	var a sight
	if err := json.Unmarshal(stdout.Bytes(), &a); err != nil {
		f.t.Fatalf("locus %s: %d: %v: %s%s", name, status, err, &stdout, &stderr)
	}
	if want := map[finding.Severity]int{finding.None: 0, finding.Advice: 3, finding.AtRisk: 4, finding.Outage: 5}[a.Severity]; status != want {
		f.t.Errorf("locus %s: exit status %d, want %d for %s", name, status, want, a.Severity)
	}
	return a
}

// get reads a path of the process.
func (f *faces) get(path string) []byte {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.url+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	r.SetBasicAuth("admin", "dba")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK {
		f.t.Fatalf("%s: %s %v %s", path, got.Status, err, text)
	}
	return text
}

func (f *faces) json(path string) (a sight) {
	f.t.Helper()
	if err := json.Unmarshal(f.get(path), &a); err != nil {
		f.t.Fatal(err)
	}
	return a
}

var gauges = regexp.MustCompile(`(?m)^locus_findings(_acknowledged|\{severity="([a-z-]+)"\}) (\d+)$`)

// metrics returns the counts in the metrics.
func (f *faces) metrics() (s finding.Summary) {
	f.t.Helper()
	for _, m := range gauges.FindAllStringSubmatch(string(f.get("/metrics")), -1) {
		n, _ := strconv.Atoi(m[3])
		into := map[string]*int{"outage": &s.Outages, "at-risk": &s.AtRisk, "advice": &s.Advice, "": &s.Acknowledged}[m[2]]
		if *into = n; n > 0 && m[2] != "" {
			severity, _ := finding.Parse(m[2])
			s.Severity = max(s.Severity, severity)
		}
	}
	return s
}

// table returns the rows of the table locus.findings.
func (f *faces) table() string {
	f.t.Helper()
	in := invocationOf(io.Discard, io.Discard)
	in.configFile = f.config
	conn, err := in.connect()
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.close()
	rows, err := virtual.New(conn.kv, in.jobsOf(conn), in.found(conn, latest)).Rows(f.t.Context(), "findings")
	if err != nil {
		f.t.Fatal(err)
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, strings.ReplaceAll(fmt.Sprintln(r[0], r[1], r[3], r[2], r[6], r[8]), "<nil>", "-"))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// agree waits until all tools report the same findings, and wanted accepts them. It returns the report.
func (f *faces) agree(what string, wanted func(sight) bool) sight {
	f.t.Helper()
	var last string
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); {
		f.checkAgain()
		var doctor, status sight
		var asking sync.WaitGroup
		asking.Go(func() { doctor = f.command("doctor") })
		asking.Go(func() { status = f.command("status") })
		asking.Wait()
		state, findings, metrics := f.json("/v1/state"), f.json("/v1/findings"), f.metrics()
		all := []string{doctor.short(), status.short(), state.short(), findings.short()}
		if last = fmt.Sprintf("%s\n%+v", strings.Join(all, "\n"), metrics); len(slices.Compact(slices.Clone(all))) == 1 && metrics == doctor.Summary && wanted(doctor) {
			return doctor
		}
	}
	f.t.Fatalf("%s: the tools don't tell it, or not the same:\n%s", what, last)
	return sight{}
}

// checkAgain makes the process run the slow checks at once.
func (f *faces) checkAgain() {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.url+"/v1/findings", strings.NewReader("{}"))
	if err != nil {
		f.t.Fatal(err)
	}
	r.SetBasicAuth("admin", "dba")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	_ = got.Body.Close()
}

// has returns whether there is a finding of a check at a place.
func (a sight) has(check, where string) bool {
	return slices.ContainsFunc(a.Findings, func(f finding.Finding) bool { return f.Check == check && f.Where == where })
}

// another is a second proxy. The test sets its answers.
type another struct {
	mu   sync.Mutex // guards beat
	beat fleet.Beat
}

func (a *another) set(change func(*fleet.Beat)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.beat)
}

func (a *another) answer() any {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.beat
	b.At = time.Now()
	return fleet.Packed[fleet.Beat]{Value: b}
}

// join registers the second proxy until the test ends.
func (f *faces) join(id string, version int64) (*another, func(version int64)) {
	f.t.Helper()
	a := &another{beat: fleet.Beat{Started: time.Now()}}
	card := fleet.Card{ID: id, MapVersion: version, Answers: true}
	presence := f.kv.Presence(cluster.ProxyPrefix+id, card.Text(), time.Minute)
	answerer := &fleet.Answerer{KV: f.kv, Presence: presence, ID: id, Log: slog.New(slog.DiscardHandler), Values: map[fleet.Question]func() any{
		fleet.Pulse: a.answer, fleet.Clock: func() any { return time.Now() },
	}}
	ctx, stop := context.WithCancel(context.WithoutCancel(f.t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = presence.Run(ctx) })
	running.Go(func() { _ = answerer.Run(ctx) })
	f.t.Cleanup(func() { stop(); running.Wait() })
	return a, func(version int64) {
		card.MapVersion = version
		presence.Set(card.Text())
	}
}

// TestAllToolsAgree causes one fault after another. For each, the HTTP answers, the metrics, the SQL table, locus status and
// locus doctor must report the same findings with the same severities.
func TestAllToolsAgree(t *testing.T) {
	f := newFaces(t)
	other, obey := f.join("proxy-2", 100)
	f.agree("the start", func(a sight) bool { return !a.has("leases", "proxy-2") })
	is := func(check, where string, severity finding.Severity) func(sight) bool {
		return func(a sight) bool {
			return slices.ContainsFunc(a.Findings, func(f finding.Finding) bool { return f.Check == check && f.Where == where && f.Severity == severity })
		}
	}
	server := func(addr string, state health.State, replica bool) health.Status {
		return health.Status{Shard: "s1", Addr: addr, State: state, Replica: replica, Since: time.Now(), Why: "a test says so"}
	}
	seen := func(list ...health.Status) func() {
		return func() { other.set(func(b *fleet.Beat) { b.Servers = list }) }
	}
	at := f.servers[1].Target("").Addr
	record := func(r failover.Record) {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		f.put(failover.RecordPrefix+"s1", text)
	}
	servers := "  s1: {servers: ['" + at + "', '127.0.0.1:2'], failover: promote, failover_after: 1h, user: u, secret: shard, admin: {user: a, secret: shard}}\n"
	promoted := regexp.MustCompile(`(?m)^  s1: .*\n`).ReplaceAllString(f.shards, servers)

	f.step("a replica that is down", func() { f.declare(promoted) }, is("servers", "s1 at 127.0.0.1:2", finding.AtRisk))
	f.step("a slow primary", seen(server(at, health.Slow, false)), is("servers", "s1 at "+at, finding.AtRisk))
	f.step("a read-only primary", seen(server(at, health.ReadOnly, false)), is("servers", "s1 at "+at, finding.Outage))
	f.step("a slow replica", seen(server("db:9", health.Slow, true)), is("servers", "s1 at db:9", finding.Advice))
	f.step("writes that wait for it", func() {
		record(failover.Record{Primary: at, Waits: time.Now(), Unready: map[string]string{"127.0.0.1:2": "is down"}})
	},
		func(a sight) bool {
			return is("servers", "s1 at 127.0.0.1:2", finding.Outage)(a) && !a.has("primaries", "s1") && !a.has("primaries", "s1 at 127.0.0.1:2")
		})
	f.step("a primary that is down", func() {
		seen(server(at, health.Frozen, false))()
		other.set(func(b *fleet.Beat) { b.Pools = map[string]fleet.Pool{"s1": {BlockedMs: 1e6}} })
	}, func(a sight) bool {
		i := slices.IndexFunc(a.Findings, func(f finding.Finding) bool { return f.Where == "s1 at "+at })
		return i >= 0 && a.Findings[i].Severity == finding.Outage && len(a.Findings[i].Consequences) >= 2 && strings.HasPrefix(a.Findings[i].Expect, "failover in progress, expected within")
	})
	other.set(func(b *fleet.Beat) { b.Pools = nil })
	f.step("an errant server", func() {
		record(failover.Record{Primary: at, Errant: map[string]string{"127.0.0.1:2": "0-1-7"}})
		seen()()
	},
		func(a sight) bool {
			return slices.ContainsFunc(a.Findings, func(f finding.Finding) bool {
				return f.Where == "s1 at 127.0.0.1:2" && f.Severity == finding.AtRisk && len(f.Consequences) == 1
			})
		})
	f.step("a proxy without etcd", func() { other.set(func(b *fleet.Beat) { b.EtcdAway = "no route" }) }, is("etcd", "proxy-2", finding.AtRisk))
	f.step("a proxy that refuses what is declared", func() { other.set(func(b *fleet.Beat) { b.EtcdAway, b.Refused = "", "too new" }) }, is("proxies", "proxy-2", finding.AtRisk))
	f.step("a proxy that can't serve a table", func() {
		other.set(func(b *fleet.Beat) { b.Refused, b.Problems = "", "table shop.cart: it is gone: make it" })
	},
		is("schemas", "table shop.cart", finding.Outage))
	f.step("a job that nobody runs", func() { f.write("planned-1") }, is("moves", "planned-1", finding.AtRisk))
	f.step("a document that can't be read", func() { f.put(cluster.Prefix+cluster.TablePrefix+"shop.broken", []byte("{")) }, func(a sight) bool {
		return slices.ContainsFunc(a.Findings, func(f finding.Finding) bool { return f.Check == "documents" && f.Severity == finding.Outage })
	})
	f.acknowledges(t)
	f.step("a proxy that is behind", func() { obey(0) }, is("map versions", "proxy-2", finding.AtRisk))
}

// step makes a change, and waits until all tools report its effect.
func (f *faces) step(what string, change func(), wanted func(sight) bool) {
	f.t.Helper()
	change()
	began := time.Now()
	a := f.agree(what, wanted)
	f.t.Logf("%s: %s, after %v", what, a.Summary, time.Since(began).Round(time.Second))
	var want []string
	line := func(c finding.Fact, cause, by string) {
		want = append(want, strings.Join([]string{c.ID, c.Severity.String(), c.Where, c.Check, cmp.Or(cause, "-"), cmp.Or(by, "-")}, " ")+"\n")
	}
	for _, x := range a.Findings {
		by := ""
		if !x.Open() {
			by = x.Acknowledged.By
		}
		line(x.Fact, "", by)
		for _, c := range x.Consequences {
			line(c, x.ID, by)
		}
	}
	slices.Sort(want)
	if got := f.table(); got != strings.Join(want, "") {
		f.t.Errorf("%s: locus.findings has\n%s\nwant\n%s", what, got, strings.Join(want, ""))
	}
}

// acknowledges acknowledges a finding by each interface, and withdraws that.
func (f *faces) acknowledges(t *testing.T) {
	t.Helper()
	list := f.command("doctor").Findings
	risk := list[slices.IndexFunc(list, func(f finding.Finding) bool { return f.Severity == finding.AtRisk && f.Open() })]
	outage := list[0]
	for i, send := range []func(days int) (string, int){
		func(days int) (string, int) {
			return f.shell(fmt.Sprintf("findings acknowledge %s --why known --days %d", risk.ID, days))
		},
		func(days int) (string, int) {
			return f.sql(fmt.Sprintf("acknowledge('%s', 'known', %d)", risk.ID, days))
		},
		func(days int) (string, int) {
			return f.post("acknowledge", fmt.Sprintf(`{"finding": %q, "why": "known", "days": %d}`, risk.ID, days))
		},
	} {
		if text, status := send(0); status != wrong[i] || !strings.Contains(text, "give a number of days, 90 at most") {
			t.Errorf("%s without an end: %d %q", interfaces[i], status, text)
		}
		if text, _ := send(7); text != "" {
			t.Fatalf("%s: %s", interfaces[i], text)
		}
		f.step(interfaces[i]+" acknowledges it", func() {}, func(a sight) bool {
			return a.Acknowledged == 1 && slices.ContainsFunc(a.Findings, func(f finding.Finding) bool { return f.ID == risk.ID && !f.Open() && f.Acknowledged.Why == "known" })
		})
		if text, status := f.shell("findings withdraw " + risk.ID); status != 0 {
			t.Errorf("%d %s", status, text)
		}
	}
	if text, _ := f.shell("findings acknowledge " + outage.ID + " --why known --days 7"); !strings.Contains(text, "is an outage, which can't be acknowledged") {
		t.Errorf("an outage: %q", text)
	}
	if text, _ := f.shell("findings acknowledge 0123456789 --why known"); !strings.Contains(text, "the cluster has no finding 0123456789 now") {
		t.Errorf("a finding that there is not: %q", text)
	}
	if text, _ := f.post("withdraw", `{"finding": "0123456789"}`); !strings.Contains(text, "is not acknowledged") {
		t.Errorf("an acknowledgement that there is not: %q", text)
	}
}
