// Package demo tests the first steps of a new user: it builds the binary, runs `locus demo` and operates it from outside, with
// ordinary clients and commands.
package demo

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"locus/cmd/dbserver"
	"locus/idgen/gene"
	"locus/internal/test/process"
	"locus/internal/test/servers"
	"locus/test/product"
)

// ready is the demo's ready file.
type ready struct {
	Proxies []struct {
		Addr string
		Pid  int
	}
	User, Password, Database string
	HTTP                     struct{ URL, User, Password string }
	Etcd                     []string
	Shards                   []struct {
		Name, Addr, User, Password, Database string
		Pid                                  int
		Replicas                             []struct{ Addr string }
	}
	Pid int
}

var binary string

func TestMain(m *testing.M) {
	os.Exit(product.Main(m, map[string]*string{"": &binary}))
}

// demo is a running demo.
type demo struct {
	ready
	t       *testing.T
	dir     string
	config  string
	program *product.Program
}

func start(t *testing.T, engine dbserver.Engine, dir string, args ...string) *demo {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ready.json")
	command := append([]string{
		binary, "demo", "--data", dir, "--engine", string(engine), "--proxy", process.FreeAddr(t), "--http", process.FreeAddr(t), "--ready-file", file,
	}, args...)
	p := product.NewProgram(t, t.TempDir(), "demo", command...)
	d := &demo{t: t, dir: dir, config: filepath.Join(dir, "proxy-0.yaml"), program: p}
	p.Start(t)
	t.Cleanup(func() {
		p.Signal(t, syscall.SIGTERM)
		_ = p.Exit(t)
	})
	product.Eventually(t, "the demo is ready", func() bool {
		if ended, failed := p.Ended(); ended {
			t.Fatalf("the demo ended: %v", failed)
		}
		_, err := os.Stat(file)
		return err == nil
	})
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &d.ready)
	}
	if err != nil {
		t.Fatalf("ready file: %v", err)
	}
	return d
}

// stop ends the demo with the signal of Ctrl-C, and waits until it has ended.
func (d *demo) stop() {
	d.t.Helper()
	d.program.Signal(d.t, syscall.SIGINT)
	_ = d.program.Exit(d.t)
}

// locus runs a command of the binary against the demo.
func (d *demo) locus(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(d.t.Context(), process.Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, append(args, "-c", d.config)...).CombinedOutput()
	return string(out), err
}

func (d *demo) must(args ...string) string {
	d.t.Helper()
	out, err := d.locus(args...)
	if err != nil {
		d.t.Fatalf("locus %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (d *demo) db() *sql.DB { return d.dbAt(0) }

// dbAt connects to one of the proxies.
func (d *demo) dbAt(proxy int) *sql.DB {
	d.t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/%s", d.User, d.ready.Password, d.Proxies[proxy].Addr, d.Database))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = db.Close() })
	return db
}

func (d *demo) shard(i int) *sql.DB {
	d.t.Helper()
	s := d.Shards[i]
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/%s", s.User, s.Password, s.Addr, s.Database))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = db.Close() })
	return db
}

// stockClients returns the command lines of the stock clients, by name.
func stockClients(t *testing.T) map[string][]string {
	t.Helper()
	mariadb, err := exec.LookPath("mariadb")
	if err != nil {
		t.Fatal("the mariadb client is missing: test/install/servers.sh installs it")
	}
	mysql, err := dbserver.Find(t.Context(), dbserver.MySQL, "")
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]string{"mariadb": {mariadb}, "mysql": mysqlClient(t, mysql)}
}

func TestADemoAsANewUserTriesIt(t *testing.T) {
	servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
		t.Parallel()
		dir := t.TempDir()
		d := start(t, engine, dir, "--orders-per-second", "0")
		if got := d.query("SELECT COUNT(*) FROM test_order"); got != "0" {
			t.Errorf("%s orders in a quiet demo", got)
		}
		for name, client := range stockClients(t) {
			d.insertWith(name, client)
		}
		d.lookAround()
		d.stop()
		again := start(t, engine, dir, "--orders-per-second", "0")
		if got := again.query("SELECT COUNT(*) FROM test_order"); got != "8" {
			t.Errorf("%s orders after a restart on the same data, want 8", got)
		}
	})
}

func (d *demo) query(query string) (out string) {
	d.t.Helper()
	if err := d.db().QueryRow(query).Scan(&out); err != nil {
		d.t.Fatalf("%s: %v", query, err)
	}
	return out
}

// golden contains the owners of docs/internals/ids.md, their genes, and the shard that has them if there are
// two.
var golden = []struct {
	owner, gene string
	shard       int
}{{"0", "0xd870", 1}, {"1", "0x5ddf", 0}, {"42", "0x3eab", 0}, {"10001", "0xc3fe", 1}}

// insertWith inserts an order for each golden buyer with a stock client, and
// finds it by buyer, by ID and by number.
func (d *demo) insertWith(name string, client []string) {
	d.t.Helper()
	for _, g := range golden {
		out := d.client(client, fmt.Sprintf("INSERT INTO test_order (buyer_uid, amount) VALUES (%s, 12.5); SELECT LAST_INSERT_ID();", g.owner))
		id := lastLine(out)
		decoded := d.must("id", "decode", id)
		if !strings.Contains(decoded, g.gene) {
			d.t.Errorf("%s, buyer %s: ID %s decodes to\n%s want gene %s", name, g.owner, id, decoded, g.gene)
		}
		for i := range 2 {
			var n int
			if err := d.shard(i).QueryRow("SELECT COUNT(*) FROM test_order WHERE order_id = ?", id).Scan(&n); err != nil {
				d.t.Fatal(err)
			}
			if (n == 1) != (i == g.shard) {
				d.t.Errorf("%s, buyer %s: %d rows on s%d", name, g.owner, n, i)
			}
		}
		number := lastLine(d.client(client, "SELECT order_no FROM test_order WHERE buyer_uid = "+g.owner+" AND order_id = "+id))
		for _, where := range []string{"buyer_uid = " + g.owner + " AND order_id = " + id, "order_id = " + id, "order_no = " + number} {
			if got := lastLine(d.client(client, "SELECT order_id FROM test_order WHERE "+where)); got != id {
				d.t.Errorf("%s: WHERE %s gives %q, want %s", name, where, got, id)
			}
		}
	}
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

func (d *demo) client(client []string, sql string) string {
	d.t.Helper()
	host, port, _ := strings.Cut(d.Proxies[0].Addr, ":")
	args := append(client[1:len(client):len(client)], "-h"+host, "-P"+port, "-u"+d.User, "-p"+d.ready.Password, d.Database, "-e", sql)
	ctx, cancel := context.WithTimeout(d.t.Context(), process.Patience)
	defer cancel()
	command := exec.CommandContext(ctx, client[0], args...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		d.t.Fatalf("%s: %s: %v\n%s", client[0], sql, err, stderr.String())
	}
	return string(out)
}

// lookAround runs the commands that the demo suggests.
func (d *demo) lookAround() {
	d.t.Helper()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"routes", "show"}, "s1"},
		{[]string{"routes", "history"}, "1"},
		{[]string{"gene", "42"}, "0x3eab"},
		{[]string{"get", "tables"}, "test_order"},
		{[]string{"explain", "--database", "shop", "SELECT * FROM test_order WHERE buyer_uid = 42"}, "s0"},
	} {
		if out := d.must(c.args...); !strings.Contains(out, c.want) {
			d.t.Errorf("locus %s: %q is missing in\n%s", strings.Join(c.args, " "), c.want, out)
		}
	}
	var part, detail string
	if err := d.db().QueryRow("EXPLAIN SELECT * FROM test_order WHERE buyer_uid = 42").Scan(&part, &detail); err != nil {
		d.t.Errorf("EXPLAIN: %v", err)
	}
	d.query("SELECT CONCAT(SLEEP(1), 's3cret')")
	product.Eventually(d.t, "the slow statement is told", func() bool {
		return d.query("SELECT COALESCE(MAX(statement), '') FROM locus.slow_statements WHERE slowest_ms >= 1000 AND statement LIKE '%SLEEP%'") == "SELECT CONCAT(SLEEP(?), ?)"
	})
}

// TestAMapChangeUnderLoad hands genes without rows to another shard while a
// client inserts all the time.
func TestAMapChangeUnderLoad(t *testing.T) {
	d := start(t, dbserver.MariaDB, t.TempDir(), "--orders-per-second", "0")
	db := d.db()
	ctx, cancel := context.WithCancel(t.Context())
	var inserted atomic.Int64
	failed := make(chan error, 1)
	go func() {
		defer close(failed)
		pace := time.NewTicker(3 * time.Millisecond) // statements at each moment of a change, not all that the machine can do
		defer pace.Stop()
		for ctx.Err() == nil {
			// Buyers 42 and 1 have genes below 0x6000.
			if _, err := db.Exec("INSERT INTO test_order (buyer_uid) VALUES (?)", 1+41*(inserted.Load()%2)); err != nil {
				failed <- err
				return
			}
			inserted.Add(1)
			<-pace.C
		}
	}()
	path := filepath.Join(t.TempDir(), "cluster.yaml")
	for i, bound := range []string{"0x6fff", "0x7fff", "0x6fff", "0x6aff", "0x7fff"} {
		text := d.must("get")
		at := strings.Index(text, "routes: |\n")
		if at < 0 {
			t.Fatalf("no routes in\n%s", text)
		}
		text = text[:at] + "routes: |\n  " + bound + " s0\n  0xffff s1\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d.must("apply", "-f", path)
		if out := d.must("routes", "show"); !strings.Contains(out, fmt.Sprintf("version %d", i+2)) && bound != "0x7fff" {
			t.Errorf("after apply %d:\n%s", i, out)
		}
		d.untilRouted(bound)
	}
	// Genes with rows stay where they are.
	text := strings.Replace(d.must("get"), "0x7fff s0", "0x3eaa s0", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := d.locus("apply", "-f", path); err == nil || !strings.Contains(out, "test_order") {
		t.Errorf("apply handed over genes with rows: %v\n%s", err, out)
	}
	cancel()
	if err := <-failed; err != nil && ctx.Err() == nil {
		t.Errorf("an insert failed: %v", err)
	}
	if got := d.query("SELECT COUNT(*) FROM test_order"); got != fmt.Sprint(inserted.Load()) && got != fmt.Sprint(inserted.Load()+1) {
		t.Errorf("%s orders, %d were acknowledged", got, inserted.Load())
	}
}

// untilRouted waits until the proxy plans by the new map.
func (d *demo) untilRouted(bound string) {
	d.t.Helper()
	want := "s1"
	if bound == "0x7fff" {
		want = "s0"
	}
	query := fmt.Sprintf("EXPLAIN SELECT * FROM test_order WHERE buyer_uid = %d", buyerBetween(0x7000, 0x7fff))
	db := d.db()
	for deadline := time.Now().Add(process.Patience); ; {
		if explained := explain(d.t, db, query); strings.Contains(explained, want) {
			return
		} else if time.Now().After(deadline) {
			d.t.Fatalf("the proxy does not route by %s:\n%s", bound, explained)
		}
	}
}

func explain(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var part, detail string
		if err := rows.Scan(&part, &detail); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&all, part, detail)
	}
	return all.String()
}

// buyerBetween finds a buyer by the genes that its own may be.
func buyerBetween(first, last gene.Gene) int64 {
	for uid := int64(1); ; uid++ {
		if g := gene.OfInt(uid, gene.W16); first <= g && g <= last {
			return uid
		}
	}
}

// mysqlClient returns the client of a MySQL installation. If the installation is a directory tree of its own,
// the client needs the loader of that tree.
func mysqlClient(t *testing.T, i *dbserver.Installation) []string {
	t.Helper()
	usr, ok := strings.CutSuffix(i.Path(), "/sbin/mysqld")
	if !ok {
		t.Fatalf("no client beside %s", i)
	}
	loaders, _ := filepath.Glob(usr + "/lib64/ld-linux-*.so.*")
	if len(loaders) == 0 || usr == "/usr" {
		return []string{usr + "/bin/mysql"}
	}
	libraries, _ := filepath.Glob(usr + "/lib/*-linux-gnu")
	libraries = append(libraries, usr+"/lib/mysql/private")
	return []string{loaders[0], "--library-path", strings.Join(libraries, ":"), usr + "/bin/mysql"}
}
