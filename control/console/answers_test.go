package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"locus/migrate/job"
	"locus/migrate/phase"
)

// The loads of a gene are added up over all processes that report them.
func TestGenes(t *testing.T) {
	c := newConsole(&fakeCluster{})
	a := get[genesAnswer](t, c, "/v1/genes?weigh=1")
	cells, load := 0.0, 0.0
	for i := 0; i < len(a.Load); i += 2 {
		cells += a.Load[i]
		load += a.Load[i] * a.Load[i+1]
	}
	if cells != 65536 || load < 47+256*25.6-1 || load > 47+256*25.6+1 {
		t.Errorf("%v cells with %v statements/s", cells, load)
	}
	if a.Rows["s0"] != 1 || a.Rows["s1"] != 2 || len(a.Trouble) > 0 || len(a.Map.Shards) != 3 {
		t.Errorf("rows %v, trouble %v", a.Rows, a.Trouble)
	}
	if len(a.Hottest) != 10 || a.Hottest[0].Gene != "0x1234" || a.Hottest[0].Shard != "s0" || a.Hottest[1].Gene != "0x9000" || a.Hottest[0].Moving != "" {
		t.Errorf("the hottest: %+v", a.Hottest)
	}
	if cold := get[genesAnswer](t, c, "/v1/genes"); len(cold.Load) > 0 || len(cold.Map.Owners) != 2 {
		t.Errorf("the map alone: %+v", cold.Map)
	}
}

// Moves are proposed as locus rebalance does: the third shard has nothing yet.
func TestProposals(t *testing.T) {
	c := newConsole(&fakeCluster{})
	a := get[proposalsAnswer](t, c, "/v1/proposals?by=rows&tolerance=5")
	if len(a.Moves) == 0 || len(a.Shards) != 3 || a.Tolerance != 5 || a.Shards[1].Weight < 65535 || a.Shards[2].Weight != 0 {
		t.Fatalf("%+v", a)
	}
	total := 0.0
	for _, s := range a.Shards {
		total += s.After
		if s.After > 98304.0/3*1.06 {
			t.Errorf("%s has %v of 98304 rows afterwards", s.Name, s.After)
		}
	}
	if total < 98303 || total > 98305 || a.Moves[0].From != "s1" || a.Moves[0].To != "s2" || a.Moves[0].Genes < 1 {
		t.Errorf("%v rows afterwards, %+v", total, a.Moves)
	}
	if load := get[proposalsAnswer](t, c, "/v1/proposals"); load.By != "load" || load.Tolerance != 10 || len(load.Moves) == 0 {
		t.Errorf("by load: %+v", load)
	}
	for _, query := range []string{"?by=luck", "?tolerance=NaN", "?tolerance=-1"} {
		if w := reply(c, http.MethodGet, "/v1/proposals"+query, ""); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", query, w.Code)
		}
	}
}

func TestAnswers(t *testing.T) {
	over := after(t, plannedJob(t, "split-3"), phase.Event{Kind: phase.Abort}, phase.Event{Kind: phase.Withdrawn})
	c := newConsole(&fakeCluster{jobs: []*job.Job{over, failedJob(t, "split-4")}})
	if s := get[statementsAnswer](t, c, "/v1/statements"); len(s.Statements) != 2 || s.Statements[0].AverageMs != 5 || s.Statements[1].Count != 2 || s.Proxies != 2 || s.Limit != 9 {
		t.Errorf("%+v", s)
	}
	if s := get[sessionsAnswer](t, c, "/v1/sessions"); len(s.Sessions) != mostSessions || s.Sessions[0].ID != 7 || s.Omitted != 4 {
		t.Errorf("%d sessions, %d omitted", len(s.Sessions), s.Omitted)
	}
	if a := get[tablesAnswer](t, c, "/v1/tables"); len(a.Tables) != 1 || a.Tables[0].Owner != "buyer" || a.Default != "s0" {
		t.Errorf("%+v", a)
	}
	w := reply(c, http.MethodGet, "/v1/users", "")
	if strings.Contains(w.Body.String(), "94BDCEBE") {
		t.Error("a user's hash is told")
	}
	if a := get[usersAnswer](t, c, "/v1/users"); len(a.Users) != 1 || !a.Users[0].ReadOnly || !a.Users[0].DDL || a.Users[0].Login != "authentication_string" || a.Users[0].ScatterWrites != "refuse" {
		t.Errorf("%+v", a)
	}
	if a := get[generatorsAnswer](t, c, "/v1/generators"); len(a.Generators) != 1 || a.Generators[0].Proxies[0].Loads != 7 {
		t.Errorf("%+v", a)
	}
	if a := get[routesAnswer](t, c, "/v1/routes"); len(a.Versions) != 2 || a.Versions[0].Version != 2 || a.Versions[0].Changes[0].Genes != 32768 || a.Versions[1].By != "ann" {
		t.Errorf("%+v", a)
	}
	if a := get[pastAnswer](t, c, "/v1/moves"); len(a.Moves) != 1 || a.Moves[0].ID != "split-3" || a.Moves[0].Took != (2*time.Minute).Seconds() || a.Moves[0].By != "anna" {
		t.Errorf("%+v", a)
	}
	if a := get[journalAnswer](t, c, "/v1/moves/split-3"); len(a.Journal) != 3 || a.Journal[2].By != "anna" {
		t.Errorf("%+v", a)
	}
	if w := reply(c, http.MethodGet, "/v1/moves/split-99", ""); w.Code != http.StatusNotFound {
		t.Errorf("a move that isn't there: %d", w.Code)
	}
}

func TestCalls(t *testing.T) {
	f := &fakeCluster{jobs: []*job.Job{failedJob(t, "split-1")}}
	c := newConsole(f)
	for _, test := range []struct {
		path, body string
		status     int
	}{
		{"/v1/calls/explode", `{"job": "split-1"}`, http.StatusNotFound},
		{"/v1/calls/resume", `{"job": "split-2"}`, http.StatusNotFound},
		{"/v1/calls/resume", `{}`, http.StatusBadRequest},
		{"/v1/calls/resume", `{"job": "split-1", "more": 1}`, http.StatusBadRequest},
		{"/v1/calls/resume", `{"job": "split-1"} {"job": "split-2"}`, http.StatusBadRequest},
		{"/v1/calls/resume", `{"arguments": ["split-1"]}`, http.StatusBadRequest},
		{"/v1/calls/resume", `nothing`, http.StatusBadRequest},
		{"/v1/calls/finish", `{"job": "split-1"}`, http.StatusConflict},
		{"/v1/calls/split", `{"from": "s0", "to": "s2", "genes": "half"}`, http.StatusConflict},
		{"/v1/previews/pause", `{"job": "split-1"}`, http.StatusNotFound},
	} {
		if w := reply(c, http.MethodPost, test.path, test.body); w.Code != test.status || !strings.Contains(w.Body.String(), `"error":`) {
			t.Errorf("%s %s: %d %s", test.path, test.body, w.Code, w.Body)
		}
	}
	form := httptest.NewRequest(http.MethodPost, "/v1/calls/resume", strings.NewReader(`{"job": "split-1"}`))
	form.SetBasicAuth("admin", "pass")
	form.Header.Set("Content-Type", "text/plain")
	w := httptest.NewRecorder()
	c.ServeHTTP(w, form)
	if w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("what a form of another site could send: %d", w.Code)
	}
	told := do[called](t, c, http.MethodPost, "/v1/calls/resume", `{"job": "split-1"}`)
	last := f.jobs[0].Journal[len(f.jobs[0].Journal)-1]
	if told.Told != "resume → planned" || last.By != "admin (dashboard)" || told.Phase != "planned" {
		t.Errorf("told %+v, in the journal %+v", told, last)
	}
	p := do[previewed](t, c, http.MethodPost, "/v1/previews/split", `{"from": "s0", "to": "s2", "genes": "half"}`)
	if p.Genes != 8192 || p.Share != 25 || len(p.Problems) != 1 || p.Load < 800 || len(f.jobs) != 1 {
		t.Errorf("%+v", p)
	}
	w = reply(c, http.MethodPost, "/v1/calls/cutover", `{"percentage": 5}`)
	if want := "its fields are job, percent, step_percent, every_seconds, on_breach"; !strings.Contains(w.Body.String(), want) {
		t.Errorf("%s, want %s", w.Body, want)
	}
	if table := do[tableCalled](t, c, http.MethodPost, "/v1/calls/table_add", `{"table": "shop.country", "words": "global"}`); table.Table != "shop.country" || table.Words != "global" {
		t.Errorf("%+v", table)
	}
	if over := do[switchedOver](t, c, http.MethodPost, "/v1/calls/switchover", `{"shard": "s0", "server": "db:3306"}`); over.Primary != "db:3306" || over.HeldMs != 20 {
		t.Errorf("%+v", over)
	}
}
