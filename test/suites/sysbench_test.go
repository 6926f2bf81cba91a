package suites

import (
	"database/sql"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/test/shop"
	"locus/test/suites/stand"
)

// sysbench is sysbench's OLTP scripts. How fast they are is not asked.
type sysbench struct{}

var (
	scripts = []string{
		"oltp_read_write", "oltp_read_only", "oltp_point_select", "oltp_insert", "oltp_delete", "oltp_update_index",
		"oltp_update_non_index", "oltp_write_only", "bulk_insert", "select_random_points", "select_random_ranges",
	}
	// statementModes are statements as text, and prepared ones.
	statementModes = map[string]string{"text": "disable", "prepared": "auto"}
)

func (sysbench) prepare(*testing.T) (cases, inShop run) {
	return func(t *testing.T, at place, _ []string) stand.Outcomes {
		outcomes := stand.Outcomes{}
		for _, script := range scripts {
			for mode, ps := range statementModes {
				at.Database(t, at.database)
				for _, phase := range []string{"prepare", "run", "cleanup"} {
					outcomes[script+" "+mode+" "+phase] = runPhase(t, at.Endpoint, at.database, script, phase, "--threads=2", "--db-ps-mode="+ps)
				}
			}
		}
		return outcomes
	}, nil
}

// rowsOfTable is the number of rows that a script begins with.
const rowsOfTable = 200

// runPhase runs one phase of a script.
func runPhase(t *testing.T, at stand.Endpoint, database, script, phase string, options ...string) stand.Outcome {
	t.Helper()
	args := []string{
		"sysbench", script, "--db-driver=mysql", "--mysql-host=" + at.Host, fmt.Sprintf("--mysql-port=%d", at.Port),
		"--mysql-user=" + at.User, "--mysql-password=" + at.Password, "--mysql-db=" + database,
		"--tables=1", fmt.Sprintf("--table-size=%d", rowsOfTable), "--events=100", "--time=60",
	}
	out := string(stand.Command{
		Dir: t.TempDir(), Args: append(append(args, options...), phase), Limit: 5 * time.Minute,
	}.Output(t))
	if strings.Contains(out, "FATAL") || strings.Contains(out, "ALERT") || strings.Contains(out, "error 1") ||
		(phase == "run" && script != "bulk_insert" && !strings.Contains(out, "total number of events:              100")) {
		return stand.Outcome{State: stand.Failed, Detail: out}
	}
	return stand.Outcome{State: stand.Passed}
}

// TestSysbenchOnAShardedTable runs the original scripts on a table that is declared as sharded by the ID that it generates.
// The scripts create, fill and drop it. They run with one client, because no server detects a deadlock between transactions
// that wait for each other on two shards.
func TestSysbenchOnAShardedTable(t *testing.T) {
	t.Parallel() // with the suites
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{Declarations: "  {schema}.sbtest1: {kind: sharded, owner: id}\n"})
		at := stand.Endpoint{Name: "proxy", User: shop.User, Password: shop.Password}
		host, port, err := net.SplitHostPort(s.Addr)
		if err != nil {
			t.Fatal(err)
		}
		at.Host = host
		if at.Port, err = strconv.Atoi(port); err != nil {
			t.Fatal(err)
		}
		db := s.DB(t, nil)
		for _, script := range scripts {
			phase := func(name, ps string) {
				t.Helper()
				if o := runPhase(t, at, s.Schema, script, name, "--threads=1", "--db-ps-mode="+ps, "--auto-inc=on"); o.State != stand.Passed {
					t.Errorf("%s %s, %s: %s", script, name, ps, o.Detail)
				}
			}
			phase("prepare", "auto")
			for _, ps := range statementModes {
				if script != "bulk_insert" || ps == "auto" { // bulk_insert inserts the same IDs each time
					phase("run", ps)
				}
			}
			eachOnce(t, s, db, script)
			phase("cleanup", "auto")
		}
	})
}

// eachOnce checks the rows of a script: each row is on one shard, and every shard has rows.
func eachOnce(t *testing.T, s *shop.Shop, db *sql.DB, script string) {
	t.Helper()
	var all, distinct, sum int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*), COUNT(DISTINCT id) FROM sbtest1").Scan(&all, &distinct); err != nil {
		t.Fatal(err)
	}
	for i := range s.Servers {
		var rows int
		if err := s.Shard(t, i).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM sbtest1").Scan(&rows); err != nil || rows < rowsOfTable/10 {
			t.Errorf("%s: s%d has %d rows (%v)", script, i, rows, err)
		}
		sum += rows
	}
	if sum != all || distinct != all {
		t.Errorf("%s: %d rows on the shards, %d through the proxy, with %d IDs", script, sum, all, distinct)
	}
}
