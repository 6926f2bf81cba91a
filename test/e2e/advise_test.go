package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/control/advise"
	"locus/internal/test/servers"
	"locus/proxy/backend"
	"locus/proxy/schema"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/test/shop"
)

// advised are the tables of the test, and how they are declared. GENE is where shards have the column that locus makes.
var advised = []struct{ name, columns, words string }{
	{"users", "id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, email VARCHAR(60), country SMALLINT, UNIQUE KEY email (email)GENE", "owner=id"},
	{"orders", "id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, user_id BIGINT NOT NULL, total INT, KEY (user_id)GENE", "owner=user_id"},
	{"items", "id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, order_id BIGINT NOT NULL, user_id BIGINT NOT NULL, qty INT, KEY (order_id), KEY (user_id)GENE", "owner=user_id"},
	{"countries", "id SMALLINT NOT NULL PRIMARY KEY, name VARCHAR(20)", "global"},
	{"notes", "id INT NOT NULL PRIMARY KEY, note VARCHAR(20)", ""},
}

// advisedStatements returns the statements that are run on a plain server and through a proxy.
func advisedStatements() (list []string) {
	for i := 1; i <= 12; i++ {
		list = append(list,
			fmt.Sprintf("INSERT INTO users (id, email, country) VALUES (%d, 'u%d@example.org', %d)", i, i, i%3),
			fmt.Sprintf("INSERT INTO orders (user_id, total) VALUES (%d, 10)", i),
			fmt.Sprintf("INSERT INTO items (order_id, user_id, qty) VALUES (%d, %d, 1), (%d, %d, 2)", i, i, i, i%5+1),
			fmt.Sprintf("SELECT * FROM users WHERE id = %d", i),
			fmt.Sprintf("SELECT id FROM users WHERE email = 'u%d@example.org'", i),
			fmt.Sprintf("SELECT id, email FROM users WHERE id IN (%d, %d, %d)", i, i+1, i%4),
			fmt.Sprintf("SELECT o.id, i.qty FROM orders o JOIN items i ON i.user_id = o.user_id AND i.order_id = o.id WHERE o.user_id = %d", i),
			fmt.Sprintf("SELECT o.id, i.qty FROM orders o JOIN items i ON i.order_id = o.id WHERE o.total = %d", i),
			fmt.Sprintf("SELECT u.id, c.name FROM users u JOIN countries c ON c.id = u.country WHERE u.id = %d", i),
			fmt.Sprintf("UPDATE orders SET total = total + 1 WHERE user_id = %d", i),
			fmt.Sprintf("UPDATE orders SET total = %d WHERE id = %d", i, i),
			fmt.Sprintf("UPDATE orders SET total = %d WHERE total > 1000", i),
			fmt.Sprintf("SELECT note FROM notes WHERE id = %d", i),
			"SELECT country, COUNT(*) FROM users GROUP BY country ORDER BY country",
			"SELECT COUNT(*) FROM countries",
		)
	}
	return append(list, "INSERT INTO countries VALUES (1, 'a'), (2, 'b')", "INSERT INTO notes VALUES (1, 'n')",
		"DELETE FROM items WHERE user_id = 3", "SELECT MAX(total) FROM orders", "SELECT total FROM orders WHERE total > 5 FOR UPDATE",
		"SELECT a.id FROM users a JOIN users b ON b.country = a.country AND b.id > a.id")
}

// The report on a server's statements has the numbers that a proxy counts when the same statements are sent to it.
func TestAdviceIsWhatTheProxyCounts(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		var tables []string
		declarations := ""
		for _, a := range advised {
			if a.words == "" {
				continue
			}
			d, err := catalog.ParseWords(a.words)
			if err != nil {
				t.Fatal(err)
			}
			tables = append(tables, "CREATE TABLE {schema}."+a.name+" ("+strings.Replace(a.columns, "GENE", ", "+catalog.OwnGeneDefinition, 1)+")")
			kind := "{kind: global}"
			if d.Owner != "" {
				kind = "{kind: sharded, owner: " + d.Owner + "}"
			}
			declarations += "  {schema}." + a.name + ": " + kind + "\n"
		}
		s := shop.Start(t, engine, shop.Options{Tables: tables, Declarations: declarations})
		s.Servers[0].Exec(t, "CREATE TABLE "+s.Schema+".notes (id INT NOT NULL PRIMARY KEY, note VARCHAR(20))")
		plain := newPlain(t, engine, s.Schema)
		want := replayed(t, s)
		for _, source := range []struct {
			name   string
			format advise.Format
			text   []byte
		}{
			{"slow log", advise.SlowLog, plain.log(t, "slow.log")},
			{"general log", advise.GeneralLog, plain.log(t, "general.log")},
			{"file", advise.Statements, []byte("USE " + s.Schema + ";\n" + strings.Join(advisedStatements(), ";\n") + ";\n")},
		} {
			t.Run(source.name, func(t *testing.T) {
				w := advise.NewWorkload()
				if err := w.Read(bytes.NewReader(source.text), source.format, "", source.name); err != nil {
					t.Fatal(err)
				}
				compareAdvice(t, plain.report(t, w), want)
			})
		}
		t.Run("performance_schema", func(t *testing.T) {
			w := advise.NewWorkload()
			if err := w.ReadDigests(t.Context(), plain.querier, "the server"); err != nil {
				t.Fatal(err)
			}
			checkDigests(t, plain.report(t, w), want)
		})
		t.Run("proposal", func(t *testing.T) {
			w := advise.NewWorkload()
			// Not the slow log: a proposal depends on the times of statements, and these on the load of the machine.
			if err := w.Read(bytes.NewReader(plain.log(t, "general.log")), advise.GeneralLog, "", "log"); err != nil {
				t.Fatal(err)
			}
			found, err := advise.Propose(plain.schema(t), w, advise.Options{Shards: 2})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range advised[:4] {
				if got := found.Tables[s.Schema+"."+a.name]; got == nil || got.Declare != a.words {
					t.Errorf("%s: %+v, want %s", a.name, got, a.words)
				}
			}
		})
	})
}

// plainServer is a server without a cluster.
type plainServer struct {
	server  *servers.Server
	folder  string
	schemas string
	querier schema.Querier
}

// newPlain starts a server that logs, and runs the statements on it.
func newPlain(t *testing.T, engine servers.Engine, database string) *plainServer {
	t.Helper()
	p := &plainServer{folder: t.TempDir(), schemas: database}
	p.server = servers.Start(t, engine, 1, "--performance-schema=ON", "--log-output=FILE", "--long-query-time=0",
		"--slow-query-log-file="+filepath.Join(p.folder, "slow.log"), "--general-log-file="+filepath.Join(p.folder, "general.log"))[0]
	p.server.Exec(t, "CREATE DATABASE "+database)
	for _, a := range advised {
		p.server.Exec(t, "CREATE TABLE "+database+"."+a.name+" ("+strings.Replace(a.columns, "GENE", "", 1)+")")
	}
	p.server.Exec(t, "SET GLOBAL slow_query_log = ON", "SET GLOBAL general_log = ON", "TRUNCATE TABLE performance_schema.events_statements_summary_by_digest")
	db := p.server.DB(t, database)
	run(t, db, false)
	if _, err := db.ExecContext(t.Context(), "DO 0"); err != nil { // servers log a statement after they have answered it
		t.Fatal(err)
	}
	p.server.Exec(t, "SET GLOBAL slow_query_log = OFF", "SET GLOBAL general_log = OFF")
	pool := backend.NewPool(backend.Target{Addr: p.server.Addr(), User: p.server.User, Password: func() (string, error) { return p.server.Password, nil }},
		backend.Limits{MaxOpen: 1}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = pool.Close(context.Background()) })
	p.querier = schema.Pooled{Pool: pool}
	return p
}

func (p *plainServer) log(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (p *plainServer) schema(t *testing.T) *advise.Schema {
	t.Helper()
	s, err := advise.ReadSchema(t.Context(), p.querier)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// report evaluates the declarations of the cluster.
func (p *plainServer) report(t *testing.T, w *advise.Workload) *advise.Report {
	t.Helper()
	proposal := &advise.Proposal{Shards: 2, Tables: map[string]*advise.Table{}}
	for _, a := range advised {
		if a.words != "" {
			proposal.Tables[p.schemas+"."+a.name] = &advise.Table{Declare: a.words}
		}
	}
	r, err := advise.Evaluate(p.schema(t), w, proposal, advise.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run sends the statements. Those that a proxy refuses fail there.
func run(t *testing.T, db *sql.DB, refused bool) {
	t.Helper()
	db.SetMaxOpenConns(1)
	for _, statement := range advisedStatements() {
		if _, err := db.ExecContext(t.Context(), statement); err != nil && (!refused || !strings.Contains(err.Error(), "locus-1")) {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// counted contains a proxy's counts for a digest.
type counted struct{ count, several, refused uint64 }

// replayed sends the statements to the proxy and returns the proxy's counts.
func replayed(t *testing.T, s *shop.Shop) map[string]counted {
	t.Helper()
	db := s.DB(t, nil)
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Proxy.Statements().Forget(time.Now())
	run(t, db, true)
	list := map[string]counted{}
	until(t, "all statements are counted", func() bool {
		clear(list)
		total := uint64(0)
		for _, f := range s.Proxy.Statements().Report(time.Now(), 1000, 1000).Digests {
			if f.Kind == "select" || f.Kind == "insert" || f.Kind == "update" || f.Kind == "delete" {
				list[f.Text] = counted{f.Count, f.Several, f.Failed}
				total += f.Count
			}
		}
		return total == uint64(len(advisedStatements()))
	})
	return list
}

// numbersOf returns the counts in the report for a digest.
func numbersOf(d *advise.DigestReport) counted {
	share := func(ways ...plan.Way) (n uint64) {
		percent := 0.0
		for _, way := range ways {
			percent += d.Ways[way]
		}
		return uint64(math.Round(percent * float64(d.Count) / 100))
	}
	return counted{d.Count, share(plan.OnSome, plan.OnAll, plan.OnEvery, plan.ByKeys, plan.ByGathering), share(advise.Refused)}
}

func compareAdvice(t *testing.T, r *advise.Report, want map[string]counted) {
	t.Helper()
	got := map[string]counted{}
	for i := range r.Digests {
		if d := &r.Digests[i]; want[d.Statement] != (counted{}) {
			got[d.Statement] = numbersOf(d)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(want)) {
		if got[text] != want[text] {
			t.Errorf("%s\nthe report has %+v\nthe proxy has  %+v", text, got[text], want[text])
		}
	}
}

// checkDigests compares the numbers of digests whose values decide nothing. Servers write their digests in another way.
func checkDigests(t *testing.T, r *advise.Report, want map[string]counted) {
	t.Helper()
	var executions, refusals, total, refused uint64
	for i := range r.Digests {
		d := &r.Digests[i]
		if d.Ways[advise.Unread] > 0 {
			t.Errorf("%s: not readable: %s", d.Statement, d.Why)
		}
		switch word, _, _ := strings.Cut(d.Statement, " "); word {
		case "SELECT", "INSERT", "UPDATE", "DELETE":
			if d.Database == "" { // of this command itself
				continue
			}
			n := numbersOf(d)
			executions, refusals = executions+n.count, refusals+n.refused
		}
	}
	for _, n := range want {
		total, refused = total+n.count, refused+n.refused
	}
	if executions != total || refusals != refused {
		t.Errorf("%d statements, of which %d are refused; the proxy has %d and %d", executions, refusals, total, refused)
	}
}
