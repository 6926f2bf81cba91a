//go:build servers

package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
)

// asProgram makes this test program be the product's: the demo runs itself as
// its proxies.
const asProgram = "LOCUS_TEST_AS_PROGRAM"

const (
	demoPatience = 2 * time.Minute
	pollEvery    = 20 * time.Millisecond
)

// demoRun is a demo in another process.
type demoRun struct {
	cmd    *exec.Cmd
	output *bytes.Buffer
	ended  chan error
	file   string // the ready file
	ready  readyFile
}

type readyFile struct {
	Proxies []struct {
		Addr string
		PID  int
	}
	User, Password, Database string
	HTTP                     struct{ URL, User, Password string }
	Etcd                     []string
	Shards                   []struct {
		Name, Addr, User, Password, Database string
		PID                                  int
	}
	PID int
}

func startDemo(t *testing.T, args ...string) *demoRun {
	t.Helper()
	d := &demoRun{output: &bytes.Buffer{}, ended: make(chan error, 1), file: filepath.Join(t.TempDir(), "ready.json")}
	d.cmd = exec.Command(os.Args[0], append([]string{"demo", "--ready-file", d.file}, args...)...)
	d.cmd.Env = append(os.Environ(), asProgram+"=1")
	d.cmd.Stdout, d.cmd.Stderr = d.output, d.output
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { d.ended <- d.cmd.Wait() }()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		if err := <-d.ended; err != nil {
			t.Log(err)
		}
		if t.Failed() {
			t.Logf("the demo printed:\n%s", d.output)
			showLogs(t, args)
		}
	})
	return d
}

// showLogs prints the logs of a demo's processes.
func showLogs(t *testing.T, args []string) {
	data := args[slices.Index(args, "--data")+1]
	logs, err := filepath.Glob(filepath.Join(data, "logs", "*"))
	if err != nil {
		t.Error(err)
	}
	for _, name := range logs {
		text, err := os.ReadFile(name)
		t.Logf("%s:\n%s%v", name, text, err)
	}
}

// await waits until the ready file exists, and reads it.
func (d *demoRun) await(t *testing.T) {
	t.Helper()
	var text []byte
	eventually(t, "the demo is ready", func() bool {
		select {
		case err := <-d.ended:
			d.ended <- err
			t.Fatalf("the demo ended: %v\n%s", err, d.output)
		default:
		}
		var err error
		text, err = os.ReadFile(d.file)
		return err == nil
	})
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d.ready); err != nil {
		t.Fatal(err)
	}
}

// end waits for the exit status.
func (d *demoRun) end(t *testing.T) int {
	t.Helper()
	select {
	case err := <-d.ended:
		d.ended <- err
	case <-time.After(demoPatience):
		t.Fatal("the demo doesn't end")
	}
	return d.cmd.ProcessState.ExitCode()
}

func (d *demoRun) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(demoPatience); !is(); {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
		<-time.After(pollEvery)
	}
}

// gone waits until no process of the demo is left.
func (d *demoRun) gone(t *testing.T) {
	t.Helper()
	for _, p := range d.ready.Proxies {
		eventually(t, "proxy "+p.Addr+" is gone", func() bool { return ended(p.PID) })
	}
	for _, s := range d.ready.Shards {
		eventually(t, "shard "+s.Name+" is gone", func() bool { return ended(s.PID) })
	}
}

// ended reports whether a process is gone, or only waits to be reaped.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "Z")
}

func (d *demoRun) proxy(t *testing.T, i int) *sql.DB {
	t.Helper()
	return database(t, d.ready.Proxies[i].Addr, d.ready.User, d.ready.Password, d.ready.Database)
}

func (d *demoRun) shard(t *testing.T, i int) *sql.DB {
	t.Helper()
	s := d.ready.Shards[i]
	return database(t, s.Addr, s.User, s.Password, s.Database)
}

func database(t *testing.T, addr, user, password, name string) *sql.DB {
	t.Helper()
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd, c.DBName = "tcp", addr, user, password, name
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func number(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// freePorts returns the first of n consecutive free ports, below the range from which the system assigns ports
// by itself.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	for range 100 {
		first := 20_000 + rand.IntN(12_000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first))
		if err != nil {
			continue
		}
		open := []net.Listener{l}
		for i := 1; i < n; i++ {
			if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+i)); err != nil {
				break
			}
			open = append(open, l)
		}
		for _, l := range open {
			_ = l.Close()
		}
		if err == nil {
			return first
		}
	}
	t.Fatal("no ports that follow each other")
	return 0
}

func TestDemo(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		port := freePorts(t, 3)
		proxy, http := fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("127.0.0.1:%d", port+2)
		data := filepath.Join(t.TempDir(), "data")
		args := []string{"--data", data, "--proxy", proxy, "--http", http, "--proxies", "2"}

		first := startDemo(t, append(args, "--engine", string(engine), "--orders-per-second", "50")...)
		first.await(t)
		first.checkReady(t, proxy, http)
		eventually(t, "100 orders", func() bool { return number(t, first.proxy(t, 1), "SELECT COUNT(*) FROM test_order") >= 100 })
		first.checkRows(t)
		checkRefusals(t, data, proxy)
		first.signal(t, syscall.SIGTERM)
		if status := first.end(t); status != 0 {
			t.Errorf("exit status %d\n%s", status, first.output)
		}
		first.gone(t)
		if _, err := os.Stat(first.file); err == nil {
			t.Error("the ready file is still there")
		}

		// It continues with the existing shards, whatever --shards is.
		second := startDemo(t, append(args, "--shards", "1", "--spare", "0", "--orders-per-second", "0")...)
		second.await(t)
		if len(second.ready.Shards) != 3 {
			t.Errorf("shards %v", second.ready.Shards)
		}
		orders := number(t, second.proxy(t, 0), "SELECT COUNT(*) FROM test_order")
		if orders < 100 {
			t.Errorf("%d orders are left", orders)
		}
		if _, err := second.proxy(t, 0).ExecContext(t.Context(), "INSERT INTO test_order (buyer_uid, amount) VALUES (42, 1)"); err != nil {
			t.Error(err)
		}

		// After a demo is killed, the kernel ends the processes that it started.
		second.signal(t, syscall.SIGKILL)
		second.end(t)
		second.gone(t)

		third := startDemo(t, append(args, "--orders-per-second", "0")...)
		third.await(t)
		if n := number(t, third.proxy(t, 0), "SELECT COUNT(*) FROM test_order"); n != orders+1 {
			t.Errorf("%d orders after a crash, want %d", n, orders+1)
		}
		third.signal(t, syscall.SIGINT)
		if status := third.end(t); status != 0 {
			t.Errorf("exit status %d\n%s", status, third.output)
		}
		third.gone(t)
	})
}

func (d *demoRun) checkReady(t *testing.T, proxy, http string) {
	t.Helper()
	r := d.ready
	if len(r.Proxies) != 2 || r.Proxies[0].Addr != proxy || r.HTTP.URL != "http://"+http || len(r.Etcd) != 1 || r.PID != d.cmd.Process.Pid {
		t.Errorf("ready file says %+v", r)
	}
	var names []string
	for _, s := range r.Shards {
		names = append(names, s.Name)
	}
	if fmt.Sprint(names) != "[s0 s1 s2]" {
		t.Errorf("shards %v", names)
	}
	for i := range r.Proxies {
		if n := number(t, d.proxy(t, i), "SELECT 1"); n != 1 {
			t.Errorf("proxy %d selects %d", i, n)
		}
	}
	for _, s := range []string{"secrets", "keys.yaml"} {
		stat, err := os.Stat(filepath.Join(filepath.Dir(d.dataFile(t)), s))
		if err != nil || stat.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", s, stat, err)
		}
	}
}

func (d *demoRun) dataFile(t *testing.T) string {
	t.Helper()
	for i, a := range d.cmd.Args {
		if a == "--data" {
			return filepath.Join(d.cmd.Args[i+1], "lock")
		}
	}
	t.Fatal("no --data")
	return ""
}

// checkRows queries the shards directly: each has only rows of its own genes.
func (d *demoRun) checkRows(t *testing.T) {
	t.Helper()
	for i, where := range []string{"BETWEEN 0 AND 0x7fff", "BETWEEN 0x8000 AND 0xffff", "< 0"} {
		shard := d.shard(t, i)
		for _, query := range []string{
			"SELECT COUNT(*) FROM test_order WHERE NOT order_id >> 47 " + where,
			"SELECT COUNT(*) FROM order_item WHERE NOT item_id >> 47 " + where,
			"SELECT COUNT(*) FROM order_item i LEFT JOIN test_order o USING (order_id) WHERE o.order_id IS NULL",
			"SELECT COUNT(*) FROM test_order WHERE order_no IS NULL OR order_no = order_id OR order_no >> 47 <> order_id >> 47",
		} {
			if n := number(t, shard, query); n != 0 {
				t.Errorf("shard %d: %s: %d", i, query, n)
			}
		}
		if n := number(t, shard, "SELECT COUNT(*) FROM product"); n != 12 {
			t.Errorf("shard %d: %d products", i, n)
		}
		if n := number(t, shard, "SELECT COUNT(*) FROM test_order"); (n > 0) != (i < 2) {
			t.Errorf("shard %d: %d orders", i, n)
		}
	}
}

func checkRefusals(t *testing.T, data, proxy string) {
	t.Helper()
	for _, c := range []struct {
		data, proxy, want string
	}{
		{data, "127.0.0.1:1", "another demo runs there (process "},
		{filepath.Join(t.TempDir(), "other"), proxy, "--proxy: can't listen on " + proxy},
	} {
		d := startDemo(t, "--data", c.data, "--proxy", c.proxy, "--http", "")
		if status := d.end(t); status != 1 || !strings.Contains(d.output.String(), c.want) {
			t.Errorf("exit status %d, want 1 and %q in\n%s", status, c.want, d.output)
		}
	}
}

// A demo that is stopped during its start leaves nothing behind.
func TestDemoStopsAmidItsStart(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	d := startDemo(t, "--data", data, "--proxy", fmt.Sprintf("127.0.0.1:%d", freePorts(t, 1)), "--http", "", "--engine", "mariadb")
	eventually(t, "servers are being started", func() bool {
		_, err := os.Stat(filepath.Join(data, "s0", "server.log"))
		return err == nil
	})
	d.signal(t, syscall.SIGINT)
	if status := d.end(t); status != 0 {
		t.Errorf("exit status %d\n%s", status, d.output)
	}
	eventually(t, "every process has ended", func() bool { return processesIn(t, data) == "" }) // a killed one takes a moment
}

// processesIn lists the processes whose command line names a directory.
func processesIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		text, _ := os.ReadFile(f) // gone in the meantime
		if line := strings.ReplaceAll(string(text), "\x00", " "); strings.Contains(line, dir) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "\n")
}
