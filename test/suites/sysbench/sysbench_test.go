// Package sysbench runs sysbench's OLTP scripts: on a table that nobody declared,
// and on one that is sharded by its ID. How fast they are is not asked.
package sysbench

import (
	"database/sql"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"locus/proxy/txn"
	"locus/test/servers"
	"locus/test/shop"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

var (
	scripts = []string{
		"oltp_read_write", "oltp_read_only", "oltp_point_select", "oltp_insert", "oltp_delete", "oltp_update_index",
		"oltp_update_non_index", "oltp_write_only", "bulk_insert", "select_random_points", "select_random_ranges",
	}
	// modes are statements as text, and prepared ones.
	modes = map[string]string{"text": "disable", "prepared": "auto"}
)

func TestSuite(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, _ []string) stand.Outcomes {
			outcomes := stand.Outcomes{}
			for _, script := range scripts {
				for mode, ps := range modes {
					at.Database(t, "sbtest")
					for _, phase := range []string{"prepare", "run", "cleanup"} {
						outcomes[script+" "+mode+" "+phase] = run(t, at, "sbtest", script, phase, "--threads=2", "--db-ps-mode="+ps)
					}
				}
			}
			return outcomes
		})
	})
}

// size is how many rows a table has.
const size = 200

// run runs one phase of a script.
func run(t *testing.T, at stand.Endpoint, database, script, phase string, options ...string) stand.Outcome {
	t.Helper()
	args := []string{
		"sysbench", script, "--db-driver=mysql", "--mysql-host=" + at.Host, fmt.Sprintf("--mysql-port=%d", at.Port),
		"--mysql-user=" + at.User, "--mysql-password=" + at.Password, "--mysql-db=" + database,
		"--tables=1", fmt.Sprintf("--table-size=%d", size), "--events=100", "--time=60",
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

// pointed are the scripts whose statements name one row each.
var pointed = map[string][]string{
	"oltp_point_select":     nil,
	"oltp_update_index":     nil,
	"oltp_update_non_index": nil,
	"oltp_delete":           nil,
	"oltp_insert":           {"--auto-inc=off"},
	"oltp_read_write":       {"--range-selects=off"},
	"oltp_write_only":       nil,
}

// TestSharded runs them on a table whose rows belong to their IDs, with
// transactions over several shards: one after the other, since no server sees a
// deadlock between transactions that wait for each other on two of them.
func TestSharded(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{
			Spanning: txn.Multi,
			Tables: []string{`CREATE TABLE {schema}.sbtest1 (id INT NOT NULL PRIMARY KEY, k INT NOT NULL DEFAULT 0,
				c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', gene SMALLINT UNSIGNED NOT NULL, KEY k_1 (k))`},
			Declarations: "  {schema}.sbtest1: {kind: sharded, owner: id, gene: gene}\n",
		})
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
		for script, options := range pointed {
			for mode, ps := range modes {
				t.Run(script+" "+mode, func(t *testing.T) {
					fill(t, db, script)
					if o := run(t, at, s.Schema, script, "run", append([]string{"--threads=1", "--db-ps-mode=" + ps}, options...)...); o.State != stand.Passed {
						t.Error(o.Detail)
					}
				})
			}
		}
		for i := range s.Servers {
			var rows int
			if err := s.Shard(t, i).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM sbtest1").Scan(&rows); err != nil || rows < size/4 {
				t.Errorf("s%d has %d rows of %d (%v)", i, rows, size, err)
			}
		}
	})
}

// fill puts the rows there that a script expects, and for oltp_insert none.
func fill(t *testing.T, db *sql.DB, script string) {
	t.Helper()
	var statements []string
	for id := 1; id <= size; id++ {
		if statements = append(statements, fmt.Sprintf("DELETE FROM sbtest1 WHERE id = %d", id)); script != "oltp_insert" {
			statements = append(statements, fmt.Sprintf("INSERT INTO sbtest1 (id, k, c, pad) VALUES (%d, %d, 'c', 'pad')", id, id%size+1))
		}
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
