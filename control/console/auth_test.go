package console

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locus/config"
	"locus/migrate/job"
)

// person is a browser.
type person struct {
	t      *testing.T
	client *http.Client
	at     string
}

func visitor(t *testing.T, server *httptest.Server) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &person{t, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, server.URL}
}

func (p *person) do(method, path string, form url.Values, header ...string) *http.Response {
	p.t.Helper()
	of := []string{"Accept", "text/html"}
	if form != nil {
		of = append(of, "Content-Type", "application/x-www-form-urlencoded")
	}
	return p.send(method, path, form.Encode(), append(of, header...)...)
}

// send sends a body with headers, each a name and its value.
func (p *person) send(method, path, body string, header ...string) *http.Response {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.at+path, strings.NewReader(body))
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
	_ = answer.Body.Close()
	return answer
}

func (p *person) login(user, password string) *http.Response {
	p.t.Helper()
	return p.do(http.MethodPost, "/login", url.Values{"user": {user}, "password": {password}})
}

func (p *person) want(what string, answer *http.Response, status int) {
	p.t.Helper()
	if answer.StatusCode != status {
		p.t.Errorf("%s: %s, want %d", what, answer.Status, status)
	}
}

// call posts an order to a job.
func (p *person) call(procedure, job string, header ...string) *http.Response {
	p.t.Helper()
	return p.send(http.MethodPost, "/v1/calls/"+procedure, `{"job": "`+job+`"}`, append([]string{"Content-Type", "application/json"}, header...)...)
}

func TestLoginAndRoles(t *testing.T) {
	f := &fakeCluster{jobs: []*job.Job{failedJob(t, "split-1")}}
	server := serve(t, f)
	p := visitor(t, server)
	if a := p.do(http.MethodGet, "/", nil); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/login" {
		t.Errorf("a stranger gets %s %s", a.Status, a.Header)
	}
	p.want("a stranger's order", p.call("resume", "split-1"), http.StatusUnauthorized)
	p.want("a wrong password", p.login("vera", "wrong"), http.StatusUnauthorized)
	p.want("an account without a password", p.login("nobody", ""), http.StatusUnauthorized)
	p.want("the viewer", p.login("vera", "look"), http.StatusSeeOther)
	p.want("the viewer's page", p.do(http.MethodGet, "/", nil), http.StatusOK)
	p.want("the viewer's order", p.call("resume", "split-1"), http.StatusForbidden)
	p.want("the viewer's preview", p.do(http.MethodPost, "/v1/previews/split", url.Values{}), http.StatusForbidden)
	p.want("the viewer's profile", p.do(http.MethodGet, "/debug/pprof/heap", nil), http.StatusForbidden)
	p.want("logging out", p.do(http.MethodPost, "/logout", url.Values{}), http.StatusSeeOther)
	p.want("the page after that", p.do(http.MethodGet, "/", nil), http.StatusSeeOther)

	answer := p.login("admin", "pass")
	p.want("the admin", answer, http.StatusSeeOther)
	c := answer.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, "pass") {
		t.Errorf("cookie %s", c)
	}
	p.want("the order of another site", p.call("resume", "split-1", "Sec-Fetch-Site", "cross-site"), http.StatusForbidden)
	p.want("the admin's order", p.call("resume", "split-1"), http.StatusOK)
	last := f.jobs[0].Journal[len(f.jobs[0].Journal)-1]
	if last.By != "admin (dashboard)" || last.What != "resume → planned" {
		t.Errorf("in the journal: %q by %q", last.What, last.By)
	}
	p.want("the admin's profile", p.do(http.MethodGet, "/debug/pprof/heap", nil), http.StatusOK)
	p.want("the command line", p.do(http.MethodGet, "/debug/pprof/cmdline", nil), http.StatusNotFound)
}

// The type of an order's body is a media type, with parameters and in any letter case.
func TestContentTypesOfOrders(t *testing.T) {
	for kind, status := range map[string]int{
		"application/json":                                http.StatusOK,
		"application/json; charset=utf-8":                 http.StatusOK,
		"application/json;charset=UTF-8":                  http.StatusOK,
		"APPLICATION/JSON ; Charset=\"Utf-8\"":            http.StatusOK,
		" Application/Json":                               http.StatusOK,
		"application/json; profile=x":                     http.StatusOK,
		"":                                                http.StatusUnsupportedMediaType,
		"text/plain":                                      http.StatusUnsupportedMediaType,
		"text/plain; application/json":                    http.StatusUnsupportedMediaType,
		"application/jsonp":                               http.StatusUnsupportedMediaType,
		"application/json, text/plain":                    http.StatusUnsupportedMediaType,
		"application/json; charset=latin1":                http.StatusUnsupportedMediaType,
		"application/json; charset=utf-8; charset=utf-16": http.StatusUnsupportedMediaType,
		"application/x-www-form-urlencoded":               http.StatusUnsupportedMediaType,
		"multipart/form-data; boundary=application/json":  http.StatusUnsupportedMediaType,
		"application/json; charset":                       http.StatusUnsupportedMediaType,
	} {
		for _, path := range []string{"/v1/calls/resume", "/v1/previews/split"} {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"job": "é"}`))
			r.Header["Content-Type"] = []string{kind}
			r.SetBasicAuth("admin", "pass")
			w := httptest.NewRecorder()
			newConsole(&fakeCluster{jobs: []*job.Job{failedJob(t, "split-1")}}).ServeHTTP(w, r)
			refused := w.Code == http.StatusUnsupportedMediaType
			if refused != (status == http.StatusUnsupportedMediaType) {
				t.Errorf("%s with %q: %d %s", path, kind, w.Code, w.Body)
			}
			if refused && (!strings.Contains(w.Body.String(), "application/json") || w.Header().Get("Accept-Post") != "application/json") {
				t.Errorf("%s with %q names no type that is accepted: %s", path, kind, w.Body)
			}
		}
	}
}

// Wrong passwords delay the answer, and sessions expire.
func TestTimePasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newConsole(&fakeCluster{})
		try := func(password string) time.Duration {
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.SetBasicAuth("vera", password)
			began := time.Now()
			h.ServeHTTP(httptest.NewRecorder(), r)
			return time.Since(began)
		}
		for range 3 {
			if took := try("guess"); took != 0 {
				t.Errorf("a first wrong password took %v", took)
			}
		}
		if a, b := try("guess"), try("guess"); a != 250*time.Millisecond || b != 500*time.Millisecond {
			t.Errorf("further ones took %v and %v", a, b)
		}
		if took := try("look"); took != 0 {
			t.Errorf("the right one took %v", took)
		}

		s := newVisits(time.Now)
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.AddCookie(s.begin(identity{"vera", config.Viewer}, false))
		if i, in := s.of(r); !in || i.user != "vera" {
			t.Errorf("a session just begun is %v, %v", i, in)
		}
		time.Sleep(visitLasts) // virtual
		if _, in := s.of(r); in {
			t.Error("a session goes on for ever")
		}
		for range 2 * mostVisits {
			s.begin(identity{"vera", config.Viewer}, false)
		}
		if len(s.open) > mostVisits {
			t.Errorf("%d sessions are remembered", len(s.open))
		}
	})
}
