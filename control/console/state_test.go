package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locus/config"
	"locus/control/finding"
	"locus/migrate/job"
	"locus/migrate/phase"
)

func TestThePage(t *testing.T) {
	server := serve(t, &fakeCluster{})
	for _, path := range []string{"/", "/events", "/metrics", "/v1/state", "/v1/users"} {
		if answer := ask(t, server, path, "admin", "wrong"); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without the password: %s", path, answer.Status)
		}
	}
	answer := ask(t, server, "/", "admin", "pass")
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	text := string(body)
	for _, want := range []string{`id="strip"`, `id="tabs"`, `assets/page.js`, `rel="icon"`, `modulepreload" href="assets/curves.js"`, "locus v0"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "http://") || strings.Contains(text, "https://") || strings.Contains(text, "style=") {
		t.Error("the page has outside resources, or styles that its policy forbids")
	}
	if policy := answer.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	for path, kind := range map[string]string{"/assets/page.js": "javascript", "/assets/page.css": "css", "/assets/favicon.svg": "svg"} {
		if a := ask(t, server, path, "admin", "pass"); a.StatusCode != http.StatusOK || !strings.Contains(a.Header.Get("Content-Type"), kind) || a.Header.Get("ETag") == "" {
			t.Errorf("%s: %s %s", path, a.Status, a.Header)
		}
	}
	plain, packed := sent(t, "/assets/page.css", ""), sent(t, "/assets/page.css", "gzip, br")
	if plain.Header().Get("Content-Encoding") != "" || packed.Header().Get("Content-Encoding") != "gzip" || 2*packed.Body.Len() > plain.Body.Len() || !strings.Contains(packed.Header().Get("Content-Type"), "css") {
		t.Errorf("%d bytes are sent as %d: %v", plain.Body.Len(), packed.Body.Len(), packed.Header())
	}
	if again := sent(t, "/assets/page.css", "gzip", "If-None-Match", packed.Header().Get("ETag")); again.Code != http.StatusNotModified {
		t.Errorf("what the browser has already: %d", again.Code)
	}
	for _, path := range []string{"/assets/page.html", "/assets/nothing"} {
		if a := ask(t, server, path, "admin", "pass"); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, a.Status)
		}
	}
}

// sent requests an asset with an Accept-Encoding header, and returns the response.
func sent(t *testing.T, path, encoding string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept-Encoding", encoding)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	newConsole(&fakeCluster{}).ServeHTTP(w, r)
	return w
}

func reported(t *testing.T) *fakeCluster {
	t.Helper()
	return &fakeCluster{jobs: []*job.Job{failedJob(t, "split-1")}, reports: map[string]job.Report{"split-1": {
		ID: "split-1", Runner: "proxy-a", At: began, RowsCopied: 1234567, Lanes: 8, LanesDone: 2, Conflicts: 3,
		Tables: []job.TableCopy{{Name: "shop.test_order", RowsCopied: 500, RowsEstimate: 1000, Lanes: 8}},
		Before: job.Fared{Statements: 1000, Failed: 1, P99Ms: 2.5}, After: job.Fared{Statements: 400, Failed: 40, P99Ms: 90},
	}}}
}

func TestTheState(t *testing.T) {
	server := serve(t, reported(t))
	var s stateAnswer
	if err := json.NewDecoder(ask(t, server, "/v1/state", "admin", "pass").Body).Decode(&s); err != nil {
		t.Fatal(err)
	}
	if s.Schema != 1 || s.Cluster != "shop" || s.Well || s.Worst != "job split-1: has failed: no <b>log</b>" || s.Sessions != 10 || !s.You.Admin || len(s.Proxies) != 2 {
		t.Errorf("%+v", s)
	}
	m := s.Moves[0]
	if m.Phase != phase.Failed || m.Remedy != "raise the retention" || m.RowsCopied != 1234567 || m.Tables[0].Percent != 50 || m.Since.P99Ms != 90 || m.Stages[0].State != "failed" || m.By != "anna" {
		t.Errorf("%+v", m)
	}
	offered := map[string]bool{}
	for _, o := range m.Orders {
		offered[o.Procedure] = true
	}
	if !offered["resume"] || !offered["abort"] || offered["cutover"] || offered["finish"] {
		t.Errorf("orders of a failed move: %v", offered)
	}

	var viewed stateAnswer
	if err := json.NewDecoder(ask(t, server, "/v1/state?proxy=proxy-b", "vera", "look").Body).Decode(&viewed); err != nil {
		t.Fatal(err)
	}
	if viewed.Proxy != "proxy-b" || viewed.Sessions != 5 || viewed.You.Admin || len(viewed.Moves[0].Orders) > 0 {
		t.Errorf("a viewer's: %+v", viewed)
	}
	if a := ask(t, server, "/v1/state?proxy=nobody", "vera", "look"); a.StatusCode != http.StatusNotFound {
		t.Errorf("a proxy that isn't there: %s", a.Status)
	}
}

// The page shows a shard that freezes under load within a second after the proxies know of it. The target is
// three seconds in all, of which the proxies need the rest.
func TestAFrozenShardIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeCluster{}
		c := newConsole(f)
		state := func() stateAnswer { return get[stateAnswer](t, c, "/v1/state") }
		state()
		time.Sleep(2 * time.Second) // virtual time, as everywhere in this test
		if s := state(); !s.Well || s.Statements.PerSecond < 390 || s.Statements.PerSecond > 410 {
			t.Fatalf("before: well %v, %v statements/s, %s", s.Well, s.Statements.PerSecond, s.Worst)
		}
		f.set(func() { f.frozen = "s1" })
		began := time.Now()
		for s := state(); s.Worst != "shard s1 is frozen"; s = state() {
			time.Sleep(50 * time.Millisecond) // virtual
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		if s := state(); s.Well || s.Shards[1].State != "frozen" || s.Shards[0].State != "well" || s.Problems != 1 {
			t.Errorf("%+v", s.State)
		}
		f.set(func() { f.frozen = "" })
		time.Sleep(2 * lookEvery) // virtual
		if s := state(); !s.Well {
			t.Errorf("afterwards: %s", s.Worst)
		}
	})
}

// If etcd is unavailable, the page reports that, and shows the figures that this process has by itself.
func TestEtcdIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := reported(t)
		c := newConsole(f)
		c.options.Self.Roles, c.options.Self.ID, c.looks.self = nil, "proxy-a", c.options.Self
		c.looks.self.Roles, c.looks.self.ID = nil, "proxy-a"
		get[stateAnswer](t, c, "/v1/state")
		f.set(func() { f.err = errors.New("no endpoint answers") })
		time.Sleep(lookEvery) // virtual
		s := get[stateAnswer](t, c, "/v1/state")
		if s.Worst != "etcd can't be read: no endpoint answers" || len(s.Moves) != 1 || len(s.Proxies) != 2 || s.Proxies[0].Sessions != 3 {
			t.Errorf("%+v", s.State)
		}
		f.set(func() { f.err = nil })
		time.Sleep(lookEvery) // virtual
		if s := get[stateAnswer](t, c, "/v1/state"); strings.HasPrefix(s.Worst, "etcd") {
			t.Error(s.Worst)
		}
	})
}

// An open page receives changes.
func TestEvents(t *testing.T) {
	moves := &fakeCluster{}
	lines := bufio.NewScanner(ask(t, serve(t, moves), "/events", "admin", "pass").Body)
	lines.Buffer(nil, 1<<20)
	until := func(what string, is func(stateAnswer) bool) {
		t.Helper()
		for lines.Scan() {
			var s stateAnswer
			if data, found := strings.CutPrefix(lines.Text(), "data: "); found && json.Unmarshal([]byte(data), &s) == nil && is(s) {
				return
			}
		}
		t.Fatalf("no event %s: %v", what, lines.Err())
	}
	until("of a quiet cluster", func(s stateAnswer) bool { return s.Well && len(s.Moves) == 0 })
	j := failedJob(t, "split-7")
	moves.set(func() { moves.jobs = []*job.Job{j} })
	until("of the move", func(s stateAnswer) bool { return len(s.Moves) == 1 && s.Moves[0].ID == "split-7" })
	moves.set(func() { moves.err = errors.New("etcd is gone") })
	until("of etcd", func(s stateAnswer) bool { return strings.Contains(s.Worst, "etcd is gone") })
}

// open opens an event stream and returns the status of the answer.
func (p *person) open(header ...string) (status int, text string, closed func()) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.at+"/events", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	closed = func() { _ = answer.Body.Close() }
	p.t.Cleanup(closed)
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(answer.Body)
		text = string(body)
	}
	return answer.StatusCode, text, closed
}

// An account that opens as many event streams as it may does not keep others from theirs.
func TestStreamsAreBoundedForEachAccount(t *testing.T) {
	server := serve(t, &fakeCluster{})
	var close1 func()
	for range mostPages / mostPagesOfBrowser {
		p := visitor(t, server)
		p.want("a login", p.login("vera", "look"), http.StatusSeeOther)
		for range mostPagesOfBrowser {
			status, text, closed := p.open()
			if status != http.StatusOK {
				t.Fatalf("a stream: %d %s", status, text)
			}
			close1 = closed
		}
		if status, text, _ := p.open(); status != http.StatusTooManyRequests || !strings.Contains(text, "close some of its pages") {
			t.Errorf("one stream more of a browser: %d %s", status, text)
		}
	}
	other := visitor(t, server)
	other.want("a login", other.login("vera", "look"), http.StatusSeeOther)
	if status, text, _ := other.open(); status != http.StatusTooManyRequests || !strings.Contains(text, "another account") {
		t.Errorf("one stream more of an account: %d %s", status, text)
	}
	if status, text, _ := other.open("Cookie", "locus_session=x", "Authorization", "Basic dmVyYTpsb29r"); status != http.StatusTooManyRequests {
		t.Errorf("one stream more of an account, with another cookie: %d %s", status, text)
	}
	for user, password := range map[string]string{"admin": "pass", "walt": "see"} {
		p := visitor(t, server)
		p.want("a login of "+user, p.login(user, password), http.StatusSeeOther)
		if status, text, _ := p.open(); status != http.StatusOK {
			t.Errorf("a stream of %s: %d %s", user, status, text)
		}
	}
	close1()
	for status := 0; status != http.StatusOK; { // the server notices the end a moment later
		if status, _, _ = other.open(); t.Context().Err() != nil {
			t.Fatal("a stream that ended still counts")
		}
	}
}

// An account that logs in again and again does not end the sessions of others.
func TestSessionsAreBoundedForEachAccount(t *testing.T) {
	s := newVisits(time.Now)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.AddCookie(s.begin(identity{"admin", config.Admin}, false))
	for range 2000 {
		s.begin(identity{"vera", config.Viewer}, false)
	}
	if _, in := s.of(r); !in {
		t.Error("the sessions of a viewer ended the one of an admin")
	}
	if len(s.open) != mostVisits+1 {
		t.Errorf("%d sessions are kept", len(s.open))
	}
}

// The figures of the last hour exist before the first request. Doctor runs often while a page is open, and
// rarely otherwise.
func TestTheLastHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := reported(t)
		f.found = []finding.Finding{finding.New(finding.AtRisk, "disk", "s0", "make room", "its disk is full")}
		f.jobs[0] = f.jobs[0].Noted("proxy-a", "a step", time.Now().Add(time.Minute))
		c := newConsole(f)
		var ended error
		stopped := make(chan struct{})
		ctx, stop := contextOf(t)
		go func() { defer close(stopped); ended = c.Run(ctx) }()
		time.Sleep(2 * time.Minute) // virtual
		h := get[historyAnswer](t, c, "/v1/history?span=15m")
		if n := len(h.At); n < 20 || n > 26 || len(h.Series) != 3 || len(h.Moves) != 1 || len(h.Marks) != 1 || h.Marks[0].What != "a step" {
			t.Errorf("%d points, %d lines, %d moves, marks %v", n, len(h.Series), len(h.Moves), h.Marks)
		}
		if rate := h.Series[0].PerSecond[3]; rate == nil || *rate < 390 || *rate > 410 || h.Series[1].Shard != "s0" {
			t.Errorf("%v statements/s", rate)
		}
		if one := get[historyAnswer](t, c, "/v1/history?span=1h&proxy=proxy-a"); len(one.At) < 4 || len(one.Series) != 3 || *one.Series[0].PerSecond[1] > 210 {
			t.Errorf("one proxy's hour: %d points, %d lines", len(one.At), len(one.Series))
		}
		if w := reply(c, http.MethodGet, "/v1/history?span=1y", ""); w.Code != http.StatusBadRequest {
			t.Errorf("a span that isn't kept: %d", w.Code)
		}
		if before := get[findingsAnswer](t, c, "/v1/findings"); before.At.IsZero() || time.Since(before.At) < time.Minute {
			t.Errorf("without a page, two minutes after the start, doctor ran at %v", before.At)
		}
		time.Sleep(2 * examineTick) // virtual
		found := get[findingsAnswer](t, c, "/v1/findings")
		if time.Since(found.At) > 3*examineTick {
			t.Errorf("with a page doctor ran at %v", found.At)
		}
		if found.At.IsZero() || len(found.Findings) != 2 || found.Findings[0].Remedy != "make room" || found.Shards != 3 {
			t.Errorf("doctor: %+v", found)
		}
		if again := do[findingsAnswer](t, c, http.MethodPost, "/v1/findings", "{}"); !again.At.Equal(found.At) {
			t.Error("what is known is not answered at once")
		}
		time.Sleep(2 * examineTick) // virtual
		if later := get[findingsAnswer](t, c, "/v1/findings"); !later.At.After(found.At) {
			t.Error("doctor does not look again when it is told to")
		}
		if s := get[stateAnswer](t, c, "/v1/state"); len(s.Findings) != 2 || len(s.Etcd) != 1 {
			t.Errorf("in the state: %v, %v", s.Findings, s.Etcd)
		}
		time.Sleep(time.Hour) // virtual
		if kept := get[findingsAnswer](t, c, "/v1/findings"); time.Since(kept.At) > doctorUnasked+spread+time.Minute {
			t.Errorf("without a page doctor has not run since %v", kept.At)
		}
		stop()
		<-stopped
		if ended == nil {
			t.Error("it ran to no end")
		}
	})
}

func TestStages(t *testing.T) {
	j := plannedJob(t, "split-1")
	words := func(j *job.Job) string {
		var list []string
		for _, s := range stagesOf(j.State) {
			list = append(list, s.State)
		}
		return strings.Join(list, " ")
	}
	copied := []phase.Event{{Kind: phase.Announced}, {Kind: phase.Copied}, {Kind: phase.CaughtUp}, {Kind: phase.Verified}}
	for _, c := range []struct {
		job  *job.Job
		want string
	}{
		{j, "now ahead ahead ahead ahead"},
		{after(t, j, copied[:2]...), "done now ahead ahead ahead"},
		{after(t, j, copied[:3]...), "done done now ahead ahead"},
		{after(t, j, copied...), "done done done waits ahead"},
		{after(t, j, append(copied, phase.Event{Kind: phase.CutTo, Genes: 10, Step: 5})...), "done done done now ahead"},
		{after(t, j, append(copied, phase.Event{Kind: phase.Pause})...), "done done done paused ahead"},
		{failedJob(t, "split-2"), "failed ahead ahead ahead ahead"},
		{after(t, j, append(copied, phase.Event{Kind: phase.Abort})...), "done done back ahead ahead"},
	} {
		if got := words(c.job); got != c.want {
			t.Errorf("%s: %s, want %s", c.job.State.Phase, got, c.want)
		}
	}
}

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}
