package e2e

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/proxy"
	"locus/proxy/backend"
	"locus/proxy/meter"
	"locus/router/cluster"
	"locus/test/shop"
)

// logged is a log in memory.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// of returns the lines of a statement.
func (l *logged) of(digest string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(strings.Split(l.text.String(), "\n"), func(line string) bool { return !strings.Contains(line, digest) })
}

func slowShop(t *testing.T, engine servers.Engine, log *logged, o shop.Options) *shop.Shop {
	t.Helper()
	o.Options = func(o *proxy.Options) {
		o.SlowStatement, o.Log = time.Nanosecond, slog.New(slog.NewTextHandler(log, nil))
		o.SchemaRefresh = time.Hour // the refresh would wait for connections, too
	}
	return shop.Start(t, engine, o)
}

// digestOf waits until so many statements of a text are recorded, which is after their answers were sent.
func digestOf(t *testing.T, s *shop.Shop, text string, count uint64) meter.SlowDigest {
	t.Helper()
	var found meter.SlowDigest
	until(t, "noted: "+text, func() bool {
		list := s.Proxy.Slow().Digests()
		i := slices.IndexFunc(list, func(d meter.SlowDigest) bool { return d.Text == text && d.Count >= count })
		if i >= 0 {
			found = list[i]
		}
		return i >= 0
	})
	return found
}

// For every route of a statement, its digest is logged with its shards and rows, and without its literals.
func TestSlowStatementsAreTold(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		log := new(logged)
		s := slowShop(t, engine, log, shop.Options{User: ", scatter_writes: allow"})
		db := s.DB(t, nil)
		db.SetMaxOpenConns(1)
		const secret = "s3cret"
		exec := func(query string, args ...any) {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		exec("INSERT INTO test_order (buyer_uid, status) VALUES (1, '" + secret + "'), (2, 's3cret-2'), (3, 's3cret')")
		exec("UPDATE test_order SET status = ? WHERE buyer_uid = ?", secret, 1)
		exec("UPDATE test_order SET status = '" + secret + "' WHERE buyer_uid IN (1, 2, 3)")
		rows(t, db, "SELECT /* s3cret */ order_id FROM test_order WHERE status LIKE '"+secret+"%'")
		rows(t, db, "SELECT 's3cret' AS a")
		exec("BEGIN")
		exec("INSERT INTO setting VALUES ('" + secret + "', 'a')")
		exec("COMMIT")
		if _, err := db.ExecContext(t.Context(), "INSERT INTO setting VALUES ('s3cret', 'a')"); err == nil {
			t.Error("a key is there twice")
		}
		exec("UPDATE test_order SET amount = 7 WHERE buyer_uid IN (1, 2, 3)") // this statement is not related to that error
		for _, want := range []meter.SlowDigest{
			{Text: "INSERT INTO test_order (buyer_uid, status) VALUES (?, ?)", Route: "stamped", Shards: "s0, s1", Rows: 3, Count: 1},
			{Text: "UPDATE test_order SET status = ? WHERE buyer_uid = ?", Route: "keyed", Rows: 1, Count: 1},
			{Text: "UPDATE test_order SET status = ? WHERE buyer_uid IN (?)", Route: "keyed", Shards: "s0, s1", Count: 1},
			{Text: "SELECT order_id FROM test_order WHERE status LIKE ?", Route: "keyed", Shards: "s0, s1", Rows: 3, Count: 1},
			{Text: "UPDATE test_order SET amount = ? WHERE buyer_uid IN (?)", Route: "keyed", Shards: "s0, s1", Rows: 3, Count: 1},
			{Text: "SELECT ? AS a", Route: "any", Rows: 1, Count: 1},
			{Text: "COMMIT", Route: "session", Shards: "s0", Count: 1},
			{Text: "INSERT INTO setting VALUES (?, ?)", Route: "fixed", Shards: "s0", Rows: 1, Count: 2, Failed: 1},
		} {
			got := digestOf(t, s, want.Text, want.Count)
			if want.Shards == "" && len(got.Shards) == 2 {
				got.Shards = "" // whichever it is
			}
			if strings.HasPrefix(want.Text, "UPDATE test_order SET status = ? WHERE buyer_uid IN") {
				want.Rows = got.Rows // the first has that status already
			}
			if got.Route != want.Route || got.Shards != want.Shards || got.Rows != want.Rows || got.Count != want.Count || got.Failed != want.Failed {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			if got.User != shop.User || got.Database != s.Schema || got.SlowestMs <= 0 || got.Last.IsZero() {
				t.Errorf("%+v", got)
			}
			until(t, "logged: "+want.Text, func() bool { return uint64(len(log.of(got.Hash))) == want.Count })
		}
		if told := log.of(secret); len(told) > 0 {
			t.Errorf("a literal is in the log:\n%s", strings.Join(told, "\n"))
		}
	})
}

// The time that a statement waits for a connection is logged separately.
func TestWaitsOfSlowStatementsAreTold(t *testing.T) {
	log := new(logged)
	s := slowShop(t, servers.MariaDB, log, shop.Options{Backends: backend.Limits{MaxOpen: 1, WaitTimeout: time.Minute}})
	db := s.DB(t, nil)
	waiting, _ := connect(t, db) // before, since a login needs a connection as well
	holder, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.ExecContext(t.Context(), "INSERT INTO setting VALUES ('a', 'b')"); err != nil {
		t.Fatal(err)
	}
	waiter := make(chan error, 1)
	go func() {
		_, err := waiting.ExecContext(context.WithoutCancel(t.Context()), "DELETE FROM setting WHERE name = 'c'")
		waiter <- err
	}()
	until(t, "somebody waits", func() bool { return s.Proxy.Status().Pools["s0"].Waiting > 0 })
	if err := holder.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-waiter; err != nil {
		t.Fatal(err)
	}
	if d := digestOf(t, s, "DELETE FROM setting WHERE name = ?", 1); d.WaitedMs <= 0 || d.WaitedMs > d.AllMs {
		t.Errorf("%+v", d)
	}
	if d := digestOf(t, s, "COMMIT", 1); d.WaitedMs != 0 {
		t.Errorf("%+v", d)
	}
}

// A user's own threshold replaces the proxy's.
func TestSlowIsWhatTheUserHasItFor(t *testing.T) {
	log := new(logged)
	s := slowShop(t, servers.MariaDB, log, shop.Options{User: ", slow_statement: 1h"})
	rows(t, s.DB(t, nil), "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 1")
	changed := *s.Cluster
	changed.Users = map[string]cluster.User{"app": {Secret: "app"}}
	s.Apply(&changed)
	digest := ""
	until(t, "the proxy's threshold counts", func() bool {
		rows(t, s.DB(t, nil), "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 2")
		for _, d := range s.Proxy.Slow().Digests() {
			digest = d.Text
		}
		return digest != ""
	})
	if first := s.Proxy.Slow().Digests(); len(first) > 2 {
		t.Errorf("%+v", first)
	}
}
