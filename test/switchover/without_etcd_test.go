package switchover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"

	"locus/control/console"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router/cluster"
)

// outages are the columns of the table of docs/reference/availability.md on what works without etcd.
var outages = []struct {
	column, failover string
	leased, stale    bool
}{
	{"no `failover:`", "none", false, false},
	{"`failover: follow` or `promote`", "follow", true, false},
	{"the same with `stale_reads: true`", "follow, stale_reads: true", true, true},
}

// TestWithoutEtcd cuts a proxy off from etcd in each mode of failover, and checks that each cell of the documented table is true.
func TestWithoutEtcd(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		s := start(t, engine)
		for _, at := range []int{0, 2} {
			s.servers[at].Exec(t, "CREATE TABLE "+schema+".ticket (id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL)")
		}
		s.more = "  " + schema + ".ticket: {kind: sharded, owner: uid, id: {column: id, layout: int64}}\n"
		s.declare(t, "none")
		etcd := s.serveApart(t)
		execute(t, s.db(t, 0, "app"), "INSERT INTO setting VALUES ('limit', 1)", "INSERT INTO counter (uid, n) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1)")
		documented := documentedOutages(t)
		for _, mode := range outages {
			o := &outage{stale: stale{stand: s, t: t, uid: map[bool]string{}}, column: mode.column, documented: documented, doomed: map[string]*client.Conn{}}
			o.sort()
			o.begin(func() { etcd.Swallow() }, mode.failover, mode.leased, mode.stale)
			o.walk()
			etcd.Deliver()
			servers.Eventually(t, "etcd confirms the primary", func() error {
				return o.is("SELECT n FROM counter WHERE uid = "+o.uid[true], "1", 0)
			})
		}
		for row := range documented {
			if _, checked := rowsOfOutages[row]; !checked {
				t.Errorf("no check for the row %q", row)
			}
		}
	})
}

// documentedOutages reads the table: cells by row and column.
func documentedOutages(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/availability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| without etcd |")
	if !found {
		t.Fatal("docs/reference/availability.md has no table on what works without etcd")
	}
	lines := strings.Split(strings.SplitN(table, "\n\n", 2)[0], "\n")
	cells := func(line string) []string { return strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ") }
	columns, rows := cells(lines[0]), map[string]map[string]string{}
	for _, line := range lines[2:] {
		row := cells(line)
		if len(row) != len(columns)+1 {
			t.Fatalf("%d cells: %s", len(row), line)
		}
		of := map[string]string{}
		for i, column := range columns {
			of[strings.TrimSpace(column)] = strings.TrimSpace(row[i+1])
		}
		rows[strings.TrimSpace(row[0])] = of
	}
	return rows
}

// outage is the proxy in one mode of failover.
type outage struct {
	stale
	column     string
	documented map[string]map[string]string
	doomed     map[string]*client.Conn // sessions with a transaction from before
}

// begin declares the mode, opens a transaction and takes numbers, cuts the proxy off, and waits until it knows.
func (o *outage) begin(cut func(), failover string, leased, reads bool) {
	o.t.Helper()
	o.declare(o.t, cluster.Failover(failover))
	servers.Eventually(o.t, "the proxy knows the mode", func() error {
		pool := o.last().Status().Pools["s0"]
		if o.last().Declared().Shards["s0"].Leased() != leased || pool.StaleAllowed != reads {
			return errors.New("it does not")
		}
		return o.is("SELECT n FROM counter WHERE uid = "+o.uid[true], "1", 0)
	})
	c := o.connect()
	for _, text := range []string{"INSERT INTO ticket (uid) VALUES (" + o.uid[true] + "), (" + o.uid[false] + ")", "BEGIN", "UPDATE counter SET n = n WHERE uid = " + o.uid[true]} {
		servers.Eventually(o.t, text, func() error { // on a busy machine a lease may end
			_, err := c.Execute(text)
			return err
		})
	}
	o.doomed["transaction"] = c
	cut()
	servers.Eventually(o.t, "the proxy is cut off", func() error {
		if leased == o.last().Status().Cut().Since.IsZero() {
			return errors.New("it is not")
		}
		return nil
	})
}

// rowsOfOutages checks the subject of each row of the table. The functions return the observed behaviour, as the beginning of
// the cell, and a text that the cell must also contain.
var rowsOfOutages = map[string]func(*outage) (seen, also string){
	"plain reads":             func(o *outage) (string, string) { return o.run("SELECT n FROM counter WHERE uid = " + o.uid[true]) },
	"reads of several shards": func(o *outage) (string, string) { return o.run("SELECT COUNT(*) FROM counter") },
	"locking reads": func(o *outage) (string, string) {
		return o.run("SELECT n FROM counter WHERE uid = " + o.uid[true] + " FOR UPDATE")
	},
	"writes": func(o *outage) (string, string) { return o.run("REPLACE INTO setting VALUES ('x', 5)") },
	"reads in a transaction": func(o *outage) (string, string) {
		return o.run("BEGIN", "SELECT n FROM counter WHERE uid = "+o.uid[true])
	},
	"transactions in progress": func(o *outage) (string, string) {
		if _, err := o.doomed["transaction"].Execute("COMMIT"); err != nil {
			return "lost", ""
		}
		return "continue", ""
	},
	"transactions over several shards": func(o *outage) (string, string) {
		return o.run("BEGIN", "UPDATE counter SET n = n WHERE uid = "+o.uid[false], "UPDATE counter SET n = n WHERE uid = "+o.uid[true], "COMMIT")
	},
	"`INSERT`s with generated IDs, `NEXTVAL`": func(o *outage) (string, string) {
		rows := strings.Repeat(", ("+o.uid[true]+")", 899)
		seen, _ := o.run("INSERT INTO ticket (uid) VALUES (" + o.uid[true] + ")" + rows)
		if seen != "continue" {
			return seen, ""
		}
		for range 100 { // at most 10 s of the highest rate
			if seen, _ := o.run("INSERT INTO ticket (uid) VALUES (" + o.uid[true] + ")" + rows); seen == "refused" {
				return "continue until", "at least 1,000 rows"
			}
		}
		return "continue", ""
	},
	"new connections": func(o *outage) (string, string) { return o.run() },
	"settings of a session (`SET`, `USE`, `SHOW WARNINGS`)": func(o *outage) (string, string) {
		return o.run("SET NAMES latin1", "SET sql_mode = 'ANSI'", "USE "+schema, "SHOW WARNINGS")
	},
	"switchover, failover": func(o *outage) (string, string) {
		ctx, cancel := context.WithTimeout(o.t.Context(), 3*time.Second)
		defer cancel()
		to := o.to(1)
		to.KV = o.apart
		if _, err := to.Run(ctx); err != nil {
			return "fail", ""
		}
		return "continue", ""
	},
	"start of a proxy": func(o *outage) (string, string) {
		ctx, cancel := context.WithTimeout(o.t.Context(), 3*time.Second)
		defer cancel()
		if err := proxy.New(proxy.Options{Declared: o.apart.Under(cluster.Prefix), Secrets: o.secret, Log: slog.New(slog.DiscardHandler)}).Start(ctx); err != nil {
			return "fails", "saved"
		}
		return "starts", ""
	},
	"`/readyz`": func(o *outage) (string, string) {
		w := httptest.NewRecorder()
		console.Readiness(o.last().Proxy)(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		return fmt.Sprint(w.Code), ""
	},
}

// run runs statements in a new session. It returns "continue", "marked" or "refused", depending on the result of the last one.
func (o *outage) run(texts ...string) (seen, also string) {
	c, err := o.logIn()
	if err != nil {
		return "refused", ""
	}
	defer c.Close()
	for _, text := range texts {
		r, err := c.Execute(text)
		switch {
		case err != nil:
			o.t.Logf("%s, %.60s: %v", o.column, text, err)
			return "refused", ""
		case strings.HasPrefix(text, "SELECT") && r.Warnings > 0:
			also = "marked"
		}
	}
	return "continue", also
}

// walk checks all rows at the same time, because refused statements wait first.
func (o *outage) walk() {
	var checks sync.WaitGroup
	for row, check := range rowsOfOutages {
		cell, is := o.documented[row][o.column]
		if !is {
			o.t.Errorf("the table has no row %q with a column %q", row, o.column)
			continue
		}
		checks.Go(func() {
			seen, also := check(o)
			if !strings.HasPrefix(cell, seen) || !strings.Contains(cell, also) || also == "" && strings.Contains(cell, "marked") {
				o.t.Errorf("%s, %s: it was seen to %q, %q; the table says: %s", row, o.column, seen, also, cell)
			}
		})
	}
	checks.Wait()
}
