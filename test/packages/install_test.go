package packages

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/config/etcd/embedded"
	"locus/internal/test/servers"
	"locus/test/product"
)

const page = "../../docs/how-to/install-packages.md"

// commands are the commands of the page by the headings of its sections, in their order. The release is the one of this test.
func commands(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all, section, block := map[string][]string{}, "", []string(nil)
	for line := range strings.Lines(string(text)) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "```sh":
			block = []string{}
		case trimmed == "```" && block != nil:
			all[section] = append(all[section], strings.Join(block, "\n"))
			block = nil
		case block != nil:
			block = append(block, trimmed)
		case strings.HasPrefix(line, "## "):
			section = strings.TrimSpace(line[3:])
		}
	}
	begin := all[""]
	if len(begin) != 1 || !strings.HasPrefix(begin[0], "VERSION=0.1.0\n") {
		t.Fatalf("the page begins with the commands %q", begin)
	}
	all[""] = []string{strings.Replace(begin[0], "0.1.0", version, 1)}
	return all
}

// take returns the commands of a section, which has as many blocks as the test runs, and VERSION before them.
func take(t *testing.T, all map[string][]string, section string, blocks int) []string {
	t.Helper()
	taken := all[section]
	if len(taken) != blocks {
		t.Fatalf("section %q has %d blocks of commands, not %d: %q", section, len(taken), blocks, taken)
	}
	delete(all, section)
	for i := range taken {
		taken[i] = "VERSION=" + version + "\n" + taken[i]
	}
	return taken
}

// The test runs all commands of the page in order. It runs the service by its unit, and shards a table through it.
func TestTheInstallationPage(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		all := commands(t)
		dist := released(t, first)
		t.Run("checksums", func(t *testing.T) { run(t, dist, "bash", "-euc", all[""][0]); delete(all, "") })
		t.Run("deb", func(t *testing.T) { followDebian(t, all, engine) })
		t.Run("rpm", func(t *testing.T) { followRedHat(t, take(t, all, "Red Hat, Fedora and SUSE", 1)[0]) })
		t.Run("image", func(t *testing.T) { followImage(t, take(t, all, "Container image", 1)[0]) })
		t.Run("chart", func(t *testing.T) { followChart(t, take(t, all, "Kubernetes", 1)[0]) })
		if len(all) > 0 {
			t.Errorf("no subtest runs %q", all)
		}
	})
}

// site contains the servers that the page requires: etcd and two shards.
type site struct {
	etcd        string
	shards      []*servers.Server
	spare       []*servers.Server // for the tasks: an empty server, and the replica of the first shard
	proxy, http string            // addresses
}

func newSite(t *testing.T, engine servers.Engine) site {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	etcd, err := embedded.Start(ctx, embedded.Config{Dir: t.TempDir(), Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	n, settings := 2, []string{"--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1"}
	if engine == servers.MariaDB {
		n, settings = 4, append(settings, "--log-slave-updates=ON")
	}
	all := servers.Start(t, engine, n, settings...)
	s := site{etcd: etcd.Endpoint(), shards: all[:2], spare: all[2:], proxy: "127.0.0.1:" + servers.Port(t), http: "127.0.0.1:" + servers.Port(t)}
	return s
}

func followDebian(t *testing.T, all map[string][]string, engine servers.Engine) {
	s := newSite(t, engine)
	r := newRoot(t, "systemd")
	r.pretend()
	r.bring(deb(t, released(t, first)), deb(t, released(t, upgrade)))
	printed := r.run(take(t, all, "Debian and Ubuntu", 1)[0])
	if !strings.Contains(printed, "locus v"+version+" (") {
		t.Errorf("locus version prints %q", printed)
	}
	r.run("systemd-analyze verify --man=no /usr/lib/systemd/system/locus.service")
	if engine == servers.MariaDB {
		prepareTasks(t, r, s)
	}
	for _, shard := range s.shards {
		shard.Exec(t, "CREATE DATABASE shop")
	}
	start := take(t, all, "Start the service", 4)
	r.edit("/etc/locus/locus.yaml", "http:\n", "proxy: {listen: "+s.proxy+"}\nhttp:\n  listen: "+s.http+"\n")
	r.edit("/etc/locus/locus.yaml", "127.0.0.1:2379", s.etcd)
	r.run(start[0])
	r.edit("/etc/locus/cluster.yaml", "127.0.0.1:3306", s.shards[0].Addr())
	r.edit("/etc/locus/cluster.yaml", "127.0.0.1:3307", s.shards[1].Addr())
	r.edit("/etc/locus/cluster.yaml", "tables:\n", "# tables:\n")
	dropTables(r)
	r.edit("/etc/locus/cluster.yaml", "user: locus", "user: "+s.shards[0].User)
	for i, shard := range s.shards {
		r.write(fmt.Sprintf("/root/s%d.password", i), shard.Password)
	}
	r.run(start[1])
	u := unitOf(t, r)
	r.run(start[2])
	enable, doctor, _ := strings.Cut(start[3], "locus doctor")
	r.run(enable)
	expect(t, "systemctl", r.notes(), "daemon-reload; enable --now locus")
	service := u.start(t, r)
	ready(t, service, s)
	exported := variables(start[2])
	if found, err := r.try(exported + "locus doctor" + doctor); err != nil {
		t.Errorf("locus doctor finds %s %v", found, err)
	}
	if text, err := os.ReadFile(service.Log); err != nil || strings.Contains(string(text), "level=WARN") {
		t.Errorf("the service warns:\n%s%v", text, err)
	}
	confined(t, r, service)
	shardATable(t, r, s)
	if engine == servers.MariaDB { // the pages have the same commands for MySQL, and other tests run these
		service = doTasks(t, story{site: s, root: r, unit: u, service: service, exported: exported})
	}
	reload(t, r, u, service)
	stop(t, service)
	follow(t, r, u, s)
	r.run(take(t, all, "Remove", 1)[0])
	if r.has("/usr/bin/locus") || r.has("/etc/locus/locus.yaml") || !r.has("/etc/locus/secrets/users/app") {
		t.Error("after the purge, the program or its configuration is left, or a password is not")
	}
}

// variables returns the lines of commands that set variables of the shell: the later commands of the reader see them.
func variables(commands string) (lines string) {
	for line := range strings.Lines(commands) {
		if strings.HasPrefix(line, "export ") {
			lines += line
		}
	}
	return lines
}

// prepareTasks makes the accounts that the tasks need, and a replica of the first shard from its beginning.
func prepareTasks(t *testing.T, r root, s site) {
	t.Helper()
	for _, server := range slices.Concat(s.shards, s.spare) {
		accounts(t, r, server)
	}
	s.spare[1].Follow(t, s.shards[0])
	s.spare[1].Exec(t, "SET GLOBAL read_only = ON")
}

// accounts creates the accounts of a server by the files of the package, as the reference of grants says. They require TLS there, for which
// this test's servers have no authority.
func accounts(t *testing.T, r root, server *servers.Server) {
	t.Helper()
	statements := []string{"DROP USER locus"}
	for _, name := range []string{"roles.sql", "shards.sql"} {
		text, _, _ := strings.Cut(r.read("/usr/share/doc/locus/examples/three-proxies/"+name), "CREATE DATABASE")
		text = strings.NewReplacer(" REQUIRE SSL", "", "'PASSWORD'", "'"+server.Password+"'", "'ROLES'", "'"+server.Password+"'").Replace(text)
		text = regexp.MustCompile("(?m)^--.*\n").ReplaceAllString(text, "")
		statements = append(statements, strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";\n")...)
	}
	server.Exec(t, statements...)
}

// dropTables removes the tables of the example from the cluster file: the test creates one through the proxy.
func dropTables(r root) {
	r.t.Helper()
	text := r.read("/etc/locus/cluster.yaml")
	before, rest, _ := strings.Cut(text, "# tables:\n")
	_, after, found := strings.Cut(rest, "users:\n")
	if !found {
		r.t.Fatalf("the example has no users after its tables:\n%s", text)
	}
	r.write("/etc/locus/cluster.yaml", before+"users:\n"+after)
}

// ready waits until the service takes clients.
func ready(t *testing.T, service *product.Program, s site) {
	t.Helper()
	product.Eventually(t, "/readyz answers 200", func() bool {
		if ended, failed := service.Ended(); ended {
			t.Fatalf("the service ended: %v", failed)
		}
		answer, err := http.Get("http://" + s.http + "/readyz")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// confined checks the privileges and limits of the process, and the owners of its files.
func confined(t *testing.T, r root, service *product.Program) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", service.PID()))
	if err != nil {
		t.Fatal(err)
	}
	id := r.run("id -u locus")
	for _, line := range []string{`Uid:\s+` + id + `\s`, `NoNewPrivs:\s+1\s`, `CapBnd:\s+0+\s`, `CapEff:\s+0+\s`, `Umask:\s+0077\s`, `Name:\s+locus\s`} {
		if !regexp.MustCompile(line).Match(status) {
			t.Errorf("the process lacks %s:\n%s", line, status)
		}
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", service.PID()))
	if err != nil || !regexp.MustCompile(`Max open files\s+`+run(t, "", "bash", "-c", "most=$(ulimit -Hn); echo $((most < 65536 ? most : 65536))")+`\s`).Match(limits) {
		t.Errorf("the limits are\n%s%v", limits, err)
	}
	if others := r.run("find /var/lib/locus ! -user locus -o -perm /077"); others != "" {
		t.Errorf("others own or can use %s", others)
	}
	if files := r.run("find /var/lib/locus -type f"); files == "" {
		t.Error("the service has stored nothing in its state directory")
	}
}

// client logs in to the proxy as the application.
func client(t *testing.T, r root, s site) *sql.DB {
	t.Helper()
	db := login(t, s, "app", strings.TrimSpace(r.read("/etc/locus/secrets/users/app")), "skip-verify")
	product.Eventually(t, "a login", func() bool { return db.PingContext(t.Context()) == nil })
	return db
}

// login opens connections to the proxy as a user, with or without TLS.
func login(t *testing.T, s site, user, password, tls string) *sql.DB {
	t.Helper()
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd, c.DBName = "tcp", s.proxy, user, password, "shop"
	c.AllowFallbackToPlaintext, c.AllowNativePasswords, c.TLSConfig = tls == "skip-verify", true, tls
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

const rows = 100

// shardATable creates a table through the proxy, and finds its rows on both shards.
func shardATable(t *testing.T, r root, s site) {
	t.Helper()
	db := client(t, r, s)
	do := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	do("CREATE TABLE orders (order_id BIGINT NOT NULL PRIMARY KEY, buyer BIGINT NOT NULL) COMMENT 'locus: owner=buyer id=order_id'")
	for buyer := range rows {
		do("INSERT INTO orders (buyer) VALUES (?)", buyer)
	}
	total := 0
	for _, shard := range s.shards {
		n := count(t, shard.DB(t, "shop"))
		if n == 0 {
			t.Errorf("%s has no row", shard.Addr())
		}
		total += n
	}
	if n := count(t, db); n != rows || total != rows {
		t.Errorf("the proxy counts %d rows, and the shards have %d", n, total)
	}
}

func count(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM orders").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// reload runs ExecReload, and waits until the process has read its configuration again.
func reload(t *testing.T, r root, u unit, service *product.Program) {
	t.Helper()
	command := u.command(t, r, "ExecReload", strconv.Itoa(service.PID()))
	if text, err := output(exec.CommandContext(t.Context(), command[0], command[1:]...)); err != nil {
		t.Fatal(text, err)
	}
	log(t, service, "read again")
}

// stop ends the service as systemd does. One that ends so is not started again.
func stop(t *testing.T, service *product.Program) {
	t.Helper()
	service.Signal(t, syscall.SIGTERM)
	if err := service.Exit(t); err != nil {
		t.Errorf("the service ends with %v, and so would be started again", err)
	}
}

// follow upgrades the package, and finds the rows by the new version, with the configuration as it was. It crashes and starts again.
func follow(t *testing.T, r root, u unit, s site) {
	t.Helper()
	configuration := r.read("/etc/locus/locus.yaml")
	r.run("apt-get install --yes -o Dpkg::Options::=--force-confold ./locus_" + later + "-1_*.deb")
	expect(t, "the configuration", r.read("/etc/locus/locus.yaml"), configuration)
	for range 2 {
		service := u.start(t, r)
		ready(t, service, s)
		if n := count(t, client(t, r, s)); n != rows {
			t.Errorf("after the upgrade there are %d rows", n)
		}
		service.Kill()
	}
}

func followRedHat(t *testing.T, script string) {
	r := newRoot(t, "systemd")
	printed := run(t, released(t, first), "bash", "-euc", fmt.Sprintf(`
		rpm() { command rpm --root %[1]s --nodeps "$@"; }
		locus() { chroot %[1]s locus "$@"; }
		%[2]s`, r.dir, script))
	if !strings.HasPrefix(printed, "locus v"+version+" (") {
		t.Errorf("locus version prints %q", printed)
	}
}

// followImage builds the root of a Dockerfile that only copies, as a builder does, and runs the image's program in it.
func followImage(t *testing.T, script string) {
	dir := t.TempDir()
	run(t, "", "cp", filepath.Join(released(t, first), "locus-v"+version+"-image.tar.gz"), dir)
	printed := run(t, dir, "bash", "-euc", fmt.Sprintf(`
		docker() {
			case $1 in
				build)
					[ "$2" = --tag ] && [ "$3" = "locus:v%[1]s" ]
					sed -n 's/^COPY //p' "$4/Dockerfile" | sed 's/--chown=[0-9:]* //; s/\$TARGETARCH/%[2]s/' | while read -r from to; do
						install -d "image$(dirname "$to")"; cp -r "$4/$from" "image$to"
					done ;;
				run)
					[ "$2" = --rm ] && [ "$3" = "locus:v%[1]s" ]
					chroot --userspec=10001:10001 image /locus "${@:4}" ;;
				*) exit 1 ;;
			esac
		}
		%[3]s`, version, runtime.GOARCH, script))
	if !strings.HasPrefix(printed, "locus v"+version+" (") {
		t.Errorf("locus version prints %q", printed)
	}
}

func followChart(t *testing.T, script string) {
	dir := t.TempDir()
	run(t, "", "cp", filepath.Join(released(t, first), "locus-"+version+".tgz"), dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	printed := run(t, dir, "bash", "-euc", fmt.Sprintf("helm() { %s=yes %s \"$@\"; }\n%s", asHelm, self, script))
	for _, part := range []string{"kind: StatefulSet", `image: "registry.example/locus:v` + version + `"`, "kubectl -n data exec"} {
		if !strings.Contains(printed, part) {
			t.Errorf("the chart installs nothing with %q:\n%s", part, printed)
		}
	}
}
