package e2e

import (
	"bytes"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/control/tracing"
	"locus/idgen/gene"
	"locus/internal/test/collector"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router"
	"locus/test/shop"
)

// traced makes a proxy send a share of its traces to a collector.
func traced(t *testing.T, c *collector.Collector, sample float64) (*tracing.Spans, func(*proxy.Options)) {
	t.Helper()
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20") // ms
	spans, err := tracing.Open(tracing.Options{Endpoint: c.URL, Sample: sample, Timeout: 10 * time.Second, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = spans.Close() })
	return spans, func(o *proxy.Options) { o.Tracer = spans.Tracer() }
}

// statementSpans waits for a span of a statement whose text has each of the words, and returns the spans of
// statements.
func statementSpans(t *testing.T, c *collector.Collector, words ...string) map[string]collector.Span {
	t.Helper()
	found := map[string]collector.Span{}
	until(t, fmt.Sprintf("the spans of %q have arrived", words), func() bool {
		for _, s := range c.Spans() {
			for _, word := range words {
				if s.Server && strings.Contains(s.Attributes["db.query.text"], word) {
					found[word] = s
				}
			}
		}
		return len(found) == len(words)
	})
	return found
}

// tree draws the spans within a span, in alphabetical order.
func tree(spans []collector.Span, outer collector.Span) string {
	var list []string
	for _, s := range collector.Within(spans, outer) {
		name := s.Name
		if within := tree(spans, s); within != "" {
			name += " (" + within + ")"
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// Each route of a statement is a tree of spans, and no span contains a literal, a parameter or a password.
func TestStatementsAreTraced(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := collector.Start(t)
		_, with := traced(t, c, 1)
		s := shop.Start(t, engine, shop.Options{Options: with, User: ", scatter_writes: allow"})
		db := s.DB(t, nil)
		db.SetMaxOpenConns(1)
		exec(t, db, "INSERT INTO test_order (buyer_uid, status) VALUES (1, 's3cret'), (2, 's3cret'), (3, 's3cret')")
		rows(t, db, "SELECT status AS keyed FROM test_order WHERE status = 's3cret' AND buyer_uid = 1")
		rows(t, db, "SELECT status AS several FROM test_order WHERE status = ?", "s3cret")
		rows(t, db, "SELECT COUNT(DISTINCT status) AS gathered FROM test_order WHERE status = 's3cret'")
		exec(t, db, "INSERT INTO setting (name, value) VALUES ('s3cret', 'a')")
		for _, wrong := range []string{
			"INSERT INTO setting (value, name) VALUES ('b', 's3cret')", "SELECT 's3cret' AS strange FROM nowhere",
			"SELECT 's3cret' FROM test_order o JOIN setting USING (name) FOR UPDATE SKIP", // refused before it is planned
		} {
			if _, err := db.Exec(wrong); err == nil {
				t.Errorf("%s: no error", wrong)
			}
		}
		exec(t, db, "UPDATE test_order SET status = 's3cret-2' WHERE status = 's3cret'")

		type want struct{ name, spread, failure, rows, tree string }
		wanted := map[string]want{
			"AS keyed":           {"SELECT test_order", "single", "", "1", "shard *"},
			"AS several":         {"SELECT test_order", "scatter", "", "3", "shard s0, shard s1"},
			"AS gathered":        {"SELECT test_order", "gather", "", "1", "gather (gather table test_order (shard s0, shard s1), shard *)"},
			"INTO test_order":    {"INSERT test_order", "scatter", "", "3", "commit, commit *, decide *, issue IDs, prepare, shard s0, shard s1"},
			"setting (name":      {"INSERT setting", "single", "", "1", "shard s0"},
			"setting (value":     {"INSERT setting", "single", "1062", "0", "shard s0"},
			"AS strange":         {"SELECT nowhere", "single", "1146", "0", "shard s0"},
			"SKIP":               {"SELECT", "none", "1064", "", ""},
			"UPDATE test_order ": {"UPDATE test_order", "scatter", "", "3", "commit, commit *, decide *, prepare, shard s0, shard s1"},
		}
		var words []string
		for word := range wanted {
			words = append(words, word)
		}
		found, all := statementSpans(t, c, words...), c.Spans()
		for word, want := range wanted {
			s := found[word]
			a := s.Attributes
			home := strings.NewReplacer("commit s0", "commit *", "commit s1", "commit *", "decide s0", "decide *", "decide s1", "decide *")
			drawn := home.Replace(tree(all, s))
			if i := strings.Index(want.tree, "shard *"); i >= 0 && len(drawn) > i {
				drawn = drawn[:i] + strings.NewReplacer("shard s0", "shard *", "shard s1", "shard *").Replace(drawn[i:])
			}
			got := want
			got.name, got.spread, got.failure, got.rows, got.tree = s.Name, a["locus.spread"], a["error.type"], a["db.response.returned_rows"]+a["locus.rows"], drawn
			if got != want || s.Failed != (want.failure != "") || a["db.response.status_code"] != want.failure {
				t.Errorf("%s:\n%+v, want\n%+v", word, got, want)
			}
			if a["db.system.name"] != string(engine) || a["db.namespace"] != s.Attributes["db.namespace"] || a["locus.user"] != shop.User {
				t.Errorf("%s: %v", word, a)
			}
		}
		if !slices.ContainsFunc(all, func(s collector.Span) bool {
			return s.Name == "load segment" && strings.Contains(s.Attributes["locus.counter"], "test_order")
		}) {
			t.Error("no load of a segment is told of")
		}
		if bytes.Contains(c.Bytes(), []byte("s3cret")) || bytes.Contains(c.Bytes(), []byte(servers.Password)) {
			t.Error("a literal or a password was sent")
		}
	})
}

// A statement is traced if the application's span is, whatever the proxy's own sampling, and continues its trace.
func TestTheApplicationsTraceGoesOn(t *testing.T) {
	c := collector.Start(t)
	spans, with := traced(t, c, 0)
	s := shop.Start(t, servers.MariaDB, shop.Options{Options: with})
	db := s.DB(t, nil)
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	comment := func(flags string) string {
		return "/*application='shop',traceparent='00-" + trace + "-" + span + "-" + flags + "'*/"
	}
	rows(t, db, "SELECT COUNT(*) AS untraced FROM test_order")
	rows(t, db, "SELECT COUNT(*) AS unsampled FROM test_order "+comment("00"))
	rows(t, db, "SELECT \""+comment("01")+"\" AS quoted FROM test_order")
	rows(t, db, "SELECT COUNT(*) AS behind FROM test_order "+comment("01"))
	rows(t, db, comment("01")+"SELECT COUNT(*) AS parameters FROM test_order WHERE buyer_uid = ?", 7)
	found := statementSpans(t, c, "behind", "parameters")
	if err := spans.Close(); err != nil {
		t.Error(err)
	}
	for word, s := range found {
		if s.Trace != trace || s.Parent != span {
			t.Errorf("%s: of trace %s within %s", word, s.Trace, s.Parent)
		}
	}
	for _, s := range c.Spans() {
		if s.Trace != trace {
			t.Errorf("%+v", s)
		}
	}
}

// The span of a paused statement contains the duration of the pause.
func TestAHeldStatementIsTraced(t *testing.T) {
	c := collector.Start(t)
	_, with := traced(t, c, 1)
	fenced(t, func(f *fencing, db *sql.DB) {
		f.acked(f.step(gene.Set{}))
		f.acked(f.step(held42))
		insert := later(func() error {
			_, err := db.Exec("INSERT INTO test_order (buyer_uid, status) VALUES (42, 'late')")
			return err
		})
		f.holding(1)
		f.step(gene.Set{}, router.Change{Genes: held42, To: "s2"})
		f.done("insert", insert)
		s := statementSpans(t, c, "INSERT INTO test_order (buyer_uid, status)")["INSERT INTO test_order (buyer_uid, status)"]
		if got := tree(c.Spans(), s); !strings.HasPrefix(got, "hold, issue IDs, ") || s.Attributes["locus.held_seconds"] == "0" {
			t.Errorf("%s: %v", got, s.Attributes)
		}
	}, with)
}

// Without a collector that answers statements run as before.
func TestStatementsRunOnWithoutACollector(t *testing.T) {
	c := collector.Start(t)
	c.Answer(http.StatusServiceUnavailable)
	spans, with := traced(t, c, 1)
	s := shop.Start(t, servers.MariaDB, shop.Options{Options: with})
	db := s.DB(t, nil)
	for spans.Counts().Dropped == 0 { // until more wait for it than may
		exec(t, db, "DO 1")
	}
	exec(t, db, "DO 1")
}
