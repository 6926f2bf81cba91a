package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"locus/control/generators"
	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router/cluster"
	"locus/test/shop"
)

// example is one of docs/clients.
type example struct {
	quick bool     // it runs in the short form too
	run   []string // prints COUNT IDs of a URL, which are added
	needs []string // fails where the driver for SQL is missing
	// sql is a program that prints 1,000 IDs over SQL. It has the words of words.
	sql  string
	file string // of that program
	with []string
}

// python is the distribution's interpreter, which finds the distribution's driver.
const python = "/usr/bin/python3"

// jdbc is the distribution's JDBC driver.
const jdbc = "/usr/share/java/mariadb-java-client.jar"

var clients = map[string]example{
	"python": {
		quick: true, run: []string{python, "ids.py"}, needs: []string{python, "-c", "import pymysql"},
		file: "use.py", with: []string{python, "use.py"}, sql: `
import sys
sys.path.insert(0, "{clients}")
import pymysql
from ids import Ids, sql
ids = Ids(sql(lambda: pymysql.connect(host="{host}", port={port}, user="{user}", password="{password}", database="{database}"), "ticket"), batch=250)
print("\n".join(ids.next() for _ in range(1000)))
`,
	},
	"node": {
		quick: true, run: []string{"node", "ids.mjs"}, needs: []string{"node", "-e", "require('mysql2/promise')"},
		file: "use.mjs", with: []string{"node", "use.mjs"}, sql: `
import { createRequire } from 'node:module'
import { Ids, sql } from '{clients}/ids.mjs'
const mysql = createRequire('{modules}/')('mysql2/promise')
const pool = mysql.createPool({ host: '{host}', port: {port}, user: '{user}', password: '{password}', database: '{database}', supportBigNumbers: true, bigNumberStrings: true })
const ids = new Ids(sql(pool, 'ticket'), { batch: 250 })
for (let i = 0; i < 1000; i++) console.log(await ids.next())
process.exit(0)
`,
	},
	"java": {
		run: []string{"java", "Ids.java"}, needs: []string{"test", "-e", jdbc},
		file: "Use.java", with: []string{"sh", "-c", "javac -cp {clients}:" + jdbc + " -d . {clients}/Ids.java Use.java && java -cp .:" + jdbc + " Use"}, sql: `
import org.mariadb.jdbc.MariaDbDataSource;
public class Use {
    public static void main(String[] args) throws Exception {
        Ids ids = new Ids(Ids.sql(new MariaDbDataSource("jdbc:mariadb://{host}:{port}/{database}?user={user}&password={password}"), "ticket"), 250, 0.5);
        for (int i = 0; i < 1000; i++) System.out.println(ids.next());
    }
}
`,
	},
	"php": {
		run: []string{"php", "ids.php"}, needs: []string{"php", "-r", "exit(extension_loaded('pdo_mysql') ? 0 : 1);"},
		file: "use.php", with: []string{"php", "use.php"}, sql: `<?php
require '{clients}/ids.php';
$ids = new Ids(sqlIds(new PDO('mysql:host={host};port={port};dbname={database}', '{user}', '{password}'), 'ticket'), 250);
for ($i = 0; $i < 1000; $i++) echo $ids->next(), "\n";
`,
	},
}

// The examples of clients; those of Java and PHP run in the long scale only. IDs that several threads take are
// distinct, most of them need no request, and the caller gets an error of the server.
func TestClientsOfOtherLanguages(t *testing.T) {
	set := generators.New(generators.Options{KV: shop.Segments(), Name: "test"})
	t.Cleanup(func() { _ = set.Close() })
	s := shop.Start(t, servers.MariaDB, shop.Options{
		Declarations: "generators:\n  ticket: {kind: segment}\n  slip: {kind: format, template: \"S{seq:9}\"}\n",
		Options:      func(o *proxy.Options) { o.Generators = set },
	})
	api := generators.Handler(set, func() *cluster.Cluster { return s.Cluster })
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := requests.Add(1); n%3 == 2 && strings.HasSuffix(r.URL.Path, "/slip") { // the answer is lost, and so are its numbers
			api.ServeHTTP(httptest.NewRecorder(), r)
			http.Error(w, "the store does not answer", http.StatusServiceUnavailable)
			return
		}
		api.ServeHTTP(w, r)
	}))
	defer server.Close()
	for name, c := range clients {
		if !c.quick && !scale.Long() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if _, err := osexec.LookPath(c.run[0]); err != nil {
				t.Fatal(err)
			}
			requests.Store(0)
			out, err := c.command(t, append(c.run, server.URL+"/api/id/slip", "2000")...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkDistinct(t, string(out), 2000)
			if n := requests.Load(); n > 12 {
				t.Errorf("2,000 IDs cost %d requests", n)
			}
			requests.Store(0)
			out, err = c.command(t, append(c.run, server.URL+"/api/id/nosuch", "4")...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "no such generator is declared") {
				t.Errorf("a generator that is not declared: %v\n%s", err, out)
			}
		})
		t.Run(name+" over SQL", func(t *testing.T) {
			if err := c.command(t, c.needs...).Run(); err != nil {
				t.Fatalf("the driver is not installed (test/install/suites.sh): %v", err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.fill(t, s, c.sql)), 0o600); err != nil {
				t.Fatal(err)
			}
			command := c.command(t, strings.Split(c.fill(t, s, strings.Join(c.with, "\n")), "\n")...)
			command.Dir = dir
			out, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkDistinct(t, string(out), 1000)
		})
	}
}

func checkDistinct(t *testing.T, out string, want int) {
	t.Helper()
	lines, seen := strings.Fields(out), map[string]bool{}
	for _, line := range lines {
		if seen[line] {
			t.Errorf("%s came twice", line)
		}
		seen[line] = true
	}
	if len(seen) != want {
		t.Errorf("%d IDs, want %d", len(seen), want)
	}
}

// command runs where the examples are.
func (c example) command(t *testing.T, args ...string) *osexec.Cmd {
	t.Helper()
	command := osexec.CommandContext(t.Context(), args[0], args[1:]...)
	command.Dir = clientsDir(t)
	command.Env = append(os.Environ(), "NODE_PATH="+modules(), "PYTHONDONTWRITEBYTECODE=1")
	return command
}

func clientsDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../docs/clients")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// modules is where test/install/suites.sh puts packages of Node.js.
func modules() string {
	dir := os.Getenv("LOCUS_SUITES_DIR")
	if dir == "" {
		cache, _ := os.UserCacheDir() // without a cache directory there are no cached programs
		dir = filepath.Join(cache, "locus", "suites")
	}
	return filepath.Join(dir, "node", "node_modules")
}

func (c example) fill(t *testing.T, s *shop.Shop, text string) string {
	t.Helper()
	host, port, _ := strings.Cut(s.Addr, ":")
	return strings.NewReplacer(
		"{clients}", clientsDir(t), "{modules}", modules(), "{host}", host, "{port}", port, "{user}", shop.User, "{password}", shop.Password, "{database}", s.Schema,
	).Replace(text)
}
