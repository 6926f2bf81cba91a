package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/declared"
	"locus/internal/test/fakeshard"
	"locus/router"
	"locus/router/cluster"
)

// faces is a cluster with fake servers, and a process that serves it. Its operations are reached by the command line, by SQL and by HTTP.
type faces struct {
	t       *testing.T
	kv      *etcd.KV
	config  string // the path of locus.yaml
	url     string
	conn    *client.Conn
	servers []*fakeshard.Server
	shards  string // their declaration
}

// newFaces starts an etcd on a temporary directory, the servers of the shards s0 to s2, and a process with the role proxy. Shard s2 has
// no genes.
func newFaces(t *testing.T) *faces {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	etcdClient, err := etcd.Open(etcd.Config{Endpoints: []string{server.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = etcdClient.Close() })
	f := &faces{t: t, kv: etcdClient.Under("/locus/main/")}
	f.start()
	f.declare(f.shards)
	f.serve(server.Endpoint())
	return f
}

// start starts the servers.
func (f *faces) start() {
	f.shards = "shards:\n"
	privileges := always("SELECT '', PRIVILEGE_TYPE", "", "SELECT")
	for _, name := range []string{"SHOW VIEW", "TRIGGER", "EVENT"} {
		privileges.Rows = append(privileges.Rows, []string{"", name})
	}
	for i := range 3 {
		s := fakeshard.Start(f.t)
		s.Next(
			always("SELECT VERSION()", "10.11.0-MariaDB"),
			always("SELECT VERSION(), @@GLOBAL", "10.11.0-MariaDB", "utf8mb4_general_ci", "utf8mb4", "utf8mb4_general_ci"),
			always("SELECT @@GLOBAL.sql_mode", "STRICT_TRANS_TABLES"),
			always("SELECT ID, CHARACTER_SET_NAME", "45", "utf8mb4"),
			always("SELECT CONCAT('''', REPLACE(CURRENT_USER()", "'u'@'%'", ""),
			privileges,
			always("SELECT CONCAT_WS(' ', @@hostname", fmt.Sprint("db", i)),
			always("SELECT @@GLOBAL.server_id, @@hostname, @@port", fmt.Sprint(i+1), "db", "3306"),
		)
		s.Tap(refuseChecks)
		f.servers = append(f.servers, s)
		f.shards += fmt.Sprintf("  s%d: {address: '%s', user: u, secret: shard}\n", i, s.Target("").Addr)
	}
}

// refuseChecks makes a server refuse the checks before a job, which doctor makes too: the fake servers can't answer them.
func refuseChecks(text string) (fakeshard.Reply, bool) {
	return fakeshard.Reply{Code: 1045, State: "28000", Message: "no entry"}, text == "SHOW GLOBAL VARIABLES"
}

// within returns the cluster for a subtest.
func (f *faces) within(t *testing.T) *faces {
	in := *f
	in.t = t
	return &in
}

// always answers a query with one row.
func always(prefix string, row ...string) fakeshard.Reply {
	r := fakeshard.Reply{Prefix: prefix, Always: true, Rows: [][]string{row}}
	for i := range row {
		r.Columns = append(r.Columns, fakeshard.Text(fmt.Sprint("c", i)))
	}
	return r
}

// declare declares the cluster with the shards.
func (f *faces) declare(shards string) {
	f.t.Helper()
	c, err := cluster.Parse([]byte("users: {dba: {secret: users/dba, admin: true}}\nroutes: [0x7fff s0, 0xffff s1]\n" + shards))
	if err != nil {
		f.t.Fatal(err)
	}
	state, err := declared.Read(f.t.Context(), f.kv)
	if err != nil {
		f.t.Fatal(err)
	}
	next, err := cluster.Succeed(state.Cluster, c, router.Stamp{By: "test", At: time.Unix(1, 0)})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := state.Commit(f.t.Context(), f.kv, next, router.Stamp{By: "test", At: time.Unix(1, 0)}); err != nil {
		f.t.Fatal(err)
	}
}

// serve runs the process until the test ends, and logs in to its proxy.
func (f *faces) serve(endpoint string) {
	f.t.Helper()
	dir := f.t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			f.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			f.t.Fatal(err)
		}
		return path
	}
	write("secrets/shard", "x")
	write("secrets/users/dba", "dba")
	proxyAddr, httpAddr := free(f.t), free(f.t)
	f.url = "http://" + httpAddr
	f.config = write("locus.yaml", fmt.Sprintf(`roles: [proxy]
etcd: {endpoints: ['%s']}
proxy: {listen: '%s', drain_delay: 0s, drain_timeout: 1s}
http: {listen: '%s', password_file: %s}
secrets: {dir: %s}
data_dir: %s
`, endpoint, proxyAddr, httpAddr, write("http", "dba"), filepath.Join(dir, "secrets"), filepath.Join(dir, "data")))
	ctx, stop := context.WithCancel(context.WithoutCancel(f.t.Context()))
	var log bytes.Buffer
	var running sync.WaitGroup
	ended := make(chan struct{})
	running.Go(func() {
		defer close(ended)
		run(ctx, []string{"serve", "-c", f.config}, invocationOf(io.Discard, &log))
	})
	f.t.Cleanup(func() {
		if f.conn != nil {
			_ = f.conn.Close()
		}
		stop()
		running.Wait()
		if f.t.Failed() {
			f.t.Log(log.String())
		}
	})
	for deadline := time.Now().Add(20 * time.Second); ; {
		var err error
		if f.conn, err = client.Connect(proxyAddr, "dba", "dba", ""); err == nil {
			return
		}
		select {
		case <-ended:
			f.t.Fatal("the process has ended")
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("the proxy does not serve: %v", err)
		}
	}
}

// free returns an address on which nothing listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func invocationOf(stdout, stderr io.Writer) *invocation {
	return &invocation{
		stdin: strings.NewReader(""), stdout: stdout, stderr: stderr, now: time.Now, random: strings.NewReader(""),
		getenv: func(name string) string { return map[string]string{"LOCUS_OPERATOR": "anna"}[name] },
	}
}

// shell runs a command, and returns the text of its error, and its exit status.
func (f *faces) shell(line string) (refusal string, status int) {
	f.t.Helper()
	var stderr bytes.Buffer
	status = run(f.t.Context(), append(strings.Fields(line), "-c", f.config, "-o", "json"), invocationOf(io.Discard, &stderr))
	var failed struct{ Error string }
	if status != 0 {
		if err := json.Unmarshal(stderr.Bytes(), &failed); err != nil {
			f.t.Fatalf("locus %s: %v: %s", line, err, &stderr)
		}
	}
	return failed.Error, status
}

// sql calls a procedure, and returns the text and the number of its error. The text that servers write around wrong arguments is removed.
func (f *faces) sql(call string) (refusal string, number int) {
	_, err := f.conn.Execute("CALL locus." + call)
	return sqlRefusal(call, err)
}

// post sends a request over HTTP, and returns the text of the error, and the status.
func (f *faces) post(name, body string) (refusal string, status int) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.url+"/v1/calls/"+name, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.SetBasicAuth("admin", "dba")
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	var failed struct{ Error string }
	if err := json.NewDecoder(got.Body).Decode(&failed); err != nil {
		f.t.Fatal(err)
	}
	return failed.Error, got.StatusCode
}
