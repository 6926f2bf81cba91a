package console

import (
	"net/http"
	"strings"
	"testing"

	"locus/router"
	"locus/router/catalog"
)

// TestAStatementsPage: the figures of one digest have a point for each minute, in its own place.
func TestAStatementsPage(t *testing.T) {
	c := newConsole(&fakeCluster{})
	a := get[digestAnswer](t, c, "/v1/statements/ab12?database=shop")
	if a.Statement.Text != "select <b>?</b>" || a.Statement.Database != "shop" || a.Statement.Reached != 3 || a.Statement.Gathered != 3 || a.Statement.Copied != 90 || a.Statement.Keyed != 30 || a.Proxies != 2 {
		t.Errorf("%+v", a.Statement)
	}
	if len(a.ByShard) != 2 || a.ByShard[1] != (partAnswer{"(several)", 60, 1, 5}) || a.ByUser[0].Name != "app" || a.ByCode[0] != (codeAnswer{"1205", 1}) {
		t.Errorf("%+v %+v %+v", a.ByShard, a.ByUser, a.ByCode)
	}
	if len(a.Times) < 58 || len(a.Times) > 60 || len(a.PerSecond) != len(a.Times) || len(a.P99Ms) != len(a.Times) || len(a.Shards[0].AverageMs) != len(a.Times) {
		t.Fatalf("%d points", len(a.Times))
	}
	with := 0
	for i, rate := range a.PerSecond {
		if *rate == 0 {
			if a.P99Ms[i] != nil || a.Shards[0].AverageMs[i] != nil || a.Shards[0].P99Ms[i] != nil {
				t.Errorf("point %d has a latency without a statement", i)
			}
			continue
		}
		with++
		if *rate != 2 || *a.Errors[i] != 0.1 || *a.P99Ms[i] != 2 || *a.Shards[0].PerSecond[i] != 1 || *a.Shards[0].AverageMs[i] != 1 || *a.Shards[1].PerSecond[i] != 0 {
			t.Errorf("point %d: %v/s", i, *rate)
		}
		if s := a.Shards; *s[0].P50Ms[i] != 1.001 || *s[0].P99Ms[i] != 2.002 || s[1].P50Ms[i] != nil || s[1].P99Ms[i] != nil {
			t.Errorf("point %d: percentiles %v %v, and of a shard without statements %v", i, *s[0].P50Ms[i], *s[0].P99Ms[i], s[1].P99Ms[i])
		}
	}
	if with != 1 {
		t.Errorf("%d points have statements", with)
	}
	if day := get[digestAnswer](t, c, "/v1/statements/ab12?span=24h"); len(day.Times) < 94 || day.Step != 900 {
		t.Errorf("a day has %d points", len(day.Times))
	}
	for path, status := range map[string]int{"/v1/statements/cd34": http.StatusNotFound, "/v1/statements/ab12?span=1y": http.StatusBadRequest} {
		if w := reply(c, http.MethodGet, path, ""); w.Code != status {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// TestAStatementIsExplained: the answer has the route, and the plan of each shard on it.
func TestAStatementIsExplained(t *testing.T) {
	c := newConsole(&fakeCluster{})
	explain := func(sql string) (int, string) {
		w := reply(c, http.MethodPost, "/v1/calls/explain", `{"database": "shop", "statement": "`+sql+`"}`)
		return w.Code, w.Body.String()
	}
	if code, text := explain("select 1"); code != http.StatusConflict || !strings.Contains(text, "no proxy") {
		t.Errorf("of a process without tables: %d %s", code, text)
	}
	orders := &catalog.Table{
		TableName: catalog.TableName{Schema: "shop", Name: "orders"}, Declaration: catalog.Declaration{Kind: catalog.Sharded, Owner: "buyer"},
		Columns: []catalog.Column{{Name: "id"}, {Name: "buyer"}},
	}
	c.options.Proxy.(*fakeProxy).tables = catalog.New([]router.ShardName{"s0", "s1", "s2"}, []*catalog.Table{orders}, nil)
	code, text := explain("select id from orders where id = 7;")
	for _, want := range []string{`"part":"shards"`, `"shard":"s0"`, `"shard":"s1"`, "select id from orders where id = 7 true", "it does not answer"} {
		if code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("without %s: %d %s", want, code, text)
		}
	}
	for sql, want := range map[string]string{"select ? from orders": "write a value", "drop table orders": "only SELECT", "begin": "only SELECT"} {
		if code, text := explain(sql); code != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", sql, code, text)
		}
	}
}

// TestAnswersAreCompressed for the clients that accept it, if they are not short.
func TestAnswersAreCompressed(t *testing.T) {
	if w := sent(t, "/v1/state", "gzip"); w.Header().Get("Vary") != "" {
		t.Error("the login is compressed")
	}
	c := newConsole(&fakeCluster{})
	c.options.Self.ID = strings.Repeat("x", 10000)
	plain, packed := "", ""
	for encoding, size := range map[string]*string{"": &plain, "gzip, br": &packed} {
		w := replyIn(c, "/v1/state", encoding)
		*size = w.Body.String()
		if (w.Header().Get("Content-Encoding") == "gzip") != (encoding != "") || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %v", encoding, w.Header())
		}
	}
	if len(packed)*4 > len(plain) {
		t.Errorf("%d bytes are sent as %d", len(plain), len(packed))
	}
}
