package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/internal/test/process"
	"locus/internal/test/servers"
	"locus/test/product"
)

// fleet is the example, running. Machines are counted from 1, as its files are.
type fleet struct {
	*example
	t        *testing.T
	etcd     map[int]*product.Program
	shards   map[int]*servers.Server
	replicas map[int]*servers.Server
	proxies  map[int]*product.Program // and the mover
	trust    *tls.Config
}

// machines are the numbers of the machines of each kind, three of each. mover is a fourth process after the
// proxies.
var machines = []int{1, 2, 3}

const mover = 4

// start follows the example's files from the first to the last.
func start(t *testing.T, engine servers.Engine) *fleet {
	t.Helper()
	f := &fleet{example: newExample(t), t: t, etcd: map[int]*product.Program{}, shards: map[int]*servers.Server{}, replicas: map[int]*servers.Server{}, proxies: map[int]*product.Program{}}
	f.script(nil, "certificates.sh", f.path("tls"))
	f.script(nil, "secrets.sh", f.dir)
	f.remember(t)
	for _, i := range machines[1:] {
		f.bringKeys(i)
	}
	f.certify()
	for _, i := range machines {
		f.startShard(i, engine)
	}
	f.startEtcd()
	f.locus(1, "apply", "-f", f.path("cluster.yaml"))
	for _, i := range machines { // the replicas follow
		f.switchOver(i, 30+i)
	}
	for _, i := range append(machines, mover) {
		name := strings.TrimSuffix(filepath.Base(f.config(i)), ".yaml")
		f.proxies[i] = product.NewProgram(t, f.dir, name, older, "serve", "-c", f.config(i))
		f.proxies[i].Start(t)
	}
	for i := range f.proxies {
		f.untilReady(i)
	}
	return f
}

// startShard starts a shard's server and its replica, which has no transactions yet.
func (f *fleet) startShard(i int, engine servers.Engine) {
	f.t.Helper()
	shard := fmt.Sprintf("s%d", i-1)
	f.shards[i] = servers.Start(f.t, engine, 1, f.serverOptions(f.t, fmt.Sprintf("shard-%d.cnf", i), 30+i)...)[0]
	f.replicas[i] = servers.Start(f.t, engine, 1, f.serverOptions(f.t, fmt.Sprintf("replica-%d.cnf", i), 40+i)...)[0]
	nothing := "RESET BINARY LOGS AND GTIDS"
	if engine == servers.MariaDB {
		nothing = "RESET MASTER"
	}
	f.replicas[i].Exec(f.t, append([]string{"DROP USER 'locus'@'%'", nothing}, f.statements(f.t, "roles.sql", shard)...)...)
	f.shards[i].Exec(f.t, append(append(f.statements(f.t, "roles.sql", shard), "DROP USER 'locus'@'%'", nothing), f.statements(f.t, "shards.sql", shard)...)...)
}

// switchOver makes one of a shard's servers the primary. If it is the primary already, the other server is made
// to follow it. An order that was undone because the machine was too slow is given again.
func (f *fleet) switchOver(i, to int) {
	f.t.Helper()
	addr := f.address(to, 3306)
	servers.Eventually(f.t, addr+" is the primary", func() error {
		out, err := f.try(1, "switchover", fmt.Sprintf("s%d", i-1), "--to", addr, "--yes")
		undone := slices.ContainsFunc([]string{"nothing has changed hands", "nothing was changed", "repeat the command"}, func(said string) bool { return strings.Contains(out, said) })
		switch {
		case err != nil && !undone:
			f.t.Fatalf("locus switchover: %v\n%s", err, out)
		case err != nil:
			return fmt.Errorf("%w\n%s", err, out)
		case !strings.Contains(out, addr+" is the primary"):
			f.t.Fatalf("switchover: %s", out)
		}
		return nil
	})
}

func (f *fleet) config(i int) string {
	if i == mover {
		return f.path("mover.yaml")
	}
	return f.path(fmt.Sprintf("locus-%d.yaml", i))
}

// script runs one of the example's scripts.
func (f *fleet) script(environment []string, name string, args ...string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), process.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", append([]string{f.path(name)}, args...)...)
	cmd.Env = append(os.Environ(), environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// certify makes clients trust the example's certificate authority.
func (f *fleet) certify() {
	f.t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(f.read(f.t, "tls/ca.pem"))) {
		f.t.Fatal("ca.pem has no certificate")
	}
	f.trust = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

func (f *fleet) startEtcd() {
	f.t.Helper()
	binary, err := exec.LookPath("etcd")
	if err != nil {
		f.t.Fatal("etcd is missing: test/install/servers.sh test installs it")
	}
	for _, i := range machines {
		f.etcd[i] = product.NewProgram(f.t, f.dir, fmt.Sprintf("etcd-%d", i), binary, "--config-file", f.path(fmt.Sprintf("etcd-%d.yaml", i)))
		f.etcd[i].Start(f.t)
	}
	f.untilHealthy()
	f.script(f.asOperator(), "etcd-accounts.sh", f.path("etcd-root"), f.path("secrets/etcd"))
}

// asOperator returns the environment variables for etcdctl.
func (f *fleet) asOperator() []string {
	return []string{
		"ETCDCTL_API=3", "ETCDCTL_ENDPOINTS=" + strings.Join(f.endpoints(), ","), "ETCDCTL_CACERT=" + f.path("tls/ca.pem"),
		"ETCDCTL_CERT=" + f.path("tls/proxy-1.pem"), "ETCDCTL_KEY=" + f.path("tls/proxy-1.key"),
	}
}

// untilHealthy waits until every node of etcd is.
func (f *fleet) untilHealthy() {
	f.t.Helper()
	product.Eventually(f.t, "etcd is healthy", func() bool {
		health := exec.CommandContext(f.t.Context(), "etcdctl", "endpoint", "health")
		health.Env = append(os.Environ(), f.asOperator()...)
		return health.Run() == nil
	})
}

func (f *fleet) endpoints() (list []string) {
	for _, i := range machines {
		list = append(list, "https://"+f.address(20+i, 2379))
	}
	return list
}

// try runs a command of the binary as an operator on one of the proxies' machines.
func (f *fleet) try(machine int, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(f.t.Context(), process.Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, newer, append(args, "-c", f.config(machine))...).CombinedOutput()
	return string(out), err
}

func (f *fleet) locus(machine int, args ...string) string {
	f.t.Helper()
	out, err := f.try(machine, args...)
	if err != nil {
		f.t.Fatalf("locus %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// card is a line of `locus proxies list`.
type card struct {
	ID, Version string
	MapVersion  int64 `json:"map_version"`
	Behind      int64
	PID         int
	Roles       []string
}

// card returns the registered card of a process, or the zero value.
func (f *fleet) card(i int) card {
	f.t.Helper()
	var cards []card
	if err := json.Unmarshal([]byte(f.locus(1, "proxies", "list", "-o", "json")), &cards); err != nil {
		f.t.Fatal(err)
	}
	if at := slices.IndexFunc(cards, func(c card) bool { return c.PID == f.proxies[i].PID() }); at >= 0 {
		return cards[at]
	}
	return card{}
}

// untilReady waits until a proxy is ready for clients and registered with the newest version of the map. The
// mover has no version.
func (f *fleet) untilReady(i int) {
	f.t.Helper()
	p := f.proxies[i]
	product.Eventually(f.t, p.Name+" is ready", func() bool {
		if ended, failed := p.Ended(); ended {
			f.t.Fatalf("%s ended: %v", p.Name, failed)
		}
		return f.ready(i)
	})
	product.Eventually(f.t, p.Name+" obeys the newest map", func() bool {
		c := f.card(i)
		return c.PID != 0 && c.Behind == 0 && (c.MapVersion > 0 || i == mover)
	})
}

func (f *fleet) ready(i int) bool {
	response, err := f.browser().Get(f.page(i) + "/readyz")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func (f *fleet) browser() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: f.trust, DisableKeepAlives: true}, Timeout: 10 * time.Second}
}
