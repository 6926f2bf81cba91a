package newshard

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/config/etcd/embedded"
	"locus/internal/test/process"
	"locus/internal/test/servers"
	"locus/test/product"
)

var binary string

func TestMain(m *testing.M) { os.Exit(product.Main(m, map[string]*string{"": &binary})) }

// cluster is two shards, a third server that is none yet, and a proxy.
type cluster struct {
	t       *testing.T
	dir     string
	servers []*servers.Server
	listen  string
	etcd    string
}

const keyRing = "current: 1\nkeys:\n  - version: 1\n    key: 000102030405060708090a0b0c0d0e0f\n"

// made is the schema, on the shards that there are at first; ordered holds a column that locus adds and hides.
var made = []string{
	"CREATE DATABASE shop DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
	"CREATE TABLE shop.ordered (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, owner BIGINT NOT NULL, country INT NOT NULL, KEY (owner))",
	"CREATE TABLE shop.region (id INT NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL)",
	`CREATE TABLE shop.country (code INT NOT NULL PRIMARY KEY, region INT NOT NULL DEFAULT 1, name VARCHAR(40) CHARACTER SET latin1 NOT NULL DEFAULT 'é', price DECIMAL(10,2) NOT NULL DEFAULT 9.50,
		hits BIGINT NOT NULL DEFAULT 0, kind ENUM('a','b') DEFAULT 'b', raw VARBINARY(20) DEFAULT X'00ff27', seen TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
		twice BIGINT GENERATED ALWAYS AS (hits * 2) STORED, KEY (name), FOREIGN KEY (region) REFERENCES shop.region (id))`,
	"CREATE SQL SECURITY INVOKER VIEW shop.dear AS SELECT code, name FROM shop.country WHERE price > 5",
	"CREATE VIEW shop.accents AS SELECT code FROM shop.country WHERE name <> 'é%'",
	"CREATE VIEW shop.aim AS SELECT MAX(code) AS most FROM shop.dear",
	`CREATE FUNCTION shop.accented(t VARCHAR(40)) RETURNS VARCHAR(60) CHARACTER SET utf8mb4 DETERMINISTIC NO SQL RETURN CONCAT(t, 'é\'')`,
	"CREATE PROCEDURE shop.says(OUT t VARCHAR(60)) NO SQL COMMENT 'calls' BEGIN SET t = accented('x'); END",
	"CREATE FUNCTION shop.regions() RETURNS BIGINT READS SQL DATA RETURN (SELECT COUNT(*) FROM region)",
	"CREATE FUNCTION shop.more_regions() RETURNS BIGINT READS SQL DATA RETURN regions() + 1",
}

func open(t *testing.T, engine servers.Engine) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir(), servers: servers.Start(t, engine, 3), listen: process.FreeAddr(t)}
	for _, s := range c.servers[:2] {
		s.Exec(t, made...)
	}
	etcd, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	c.etcd = etcd.Endpoint()
	page := process.FreeAddr(t)
	c.write("secrets/shard", c.servers[0].Password)
	c.write("secrets/app", "app")
	c.write("keys.yaml", keyRing)
	c.write("locus.yaml", fmt.Sprintf("etcd: {endpoints: [%q]}\nsecrets: {dir: %s}\nkey_ring: %s\ndata_dir: %s\nproxy: {listen: %q, drain_delay: 0s}\nhttp: {listen: %q}\n",
		etcd.Endpoint(), c.file("secrets"), c.file("keys.yaml"), c.file("data"), c.listen, page))
	c.declare(2)
	c.must("apply", "-f", c.file("cluster.yaml"))
	c.serve("proxy", "locus.yaml", page)
	return c
}

// serve starts a process and waits until it is ready.
func (c *cluster) serve(name, config, page string) {
	c.t.Helper()
	product.NewProgram(c.t, c.dir, name, binary, "serve", "-c", c.file(config)).Start(c.t)
	product.Eventually(c.t, name+" is ready", func() bool {
		r, err := http.Get("http://" + page + "/readyz")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
}

func (c *cluster) file(name string) string { return filepath.Join(c.dir, name) }

func (c *cluster) write(name, text string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(c.file(name)), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(c.file(name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// declare writes the file of a cluster with so many shards, the first two of which have genes.
func (c *cluster) declare(shards int) {
	c.t.Helper()
	var b strings.Builder
	b.WriteString("shards:\n")
	for i, s := range c.servers[:shards] {
		fmt.Fprintf(&b, "  s%d: {address: %q, user: %s, secret: shard}\n", i, s.Addr(), s.User)
	}
	b.WriteString("tables:\n  shop.ordered: {kind: sharded, owner: owner}\n  shop.country: {kind: global}\n  shop.region: {kind: global}\nusers:\n  app: {secret: app}\n")
	if shards == 2 {
		b.WriteString("routes: |\n  0x7fff s0\n  0xffff s1\n")
	}
	c.write("cluster.yaml", b.String())
}

func (c *cluster) locus(args ...string) (string, error) {
	out, err := exec.Command(binary, append(args, "-c", c.file("locus.yaml"))...).CombinedOutput()
	return string(out), err
}

func (c *cluster) must(args ...string) string {
	c.t.Helper()
	out, err := c.locus(args...)
	if err != nil {
		c.t.Fatalf("locus %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (c *cluster) db() *sql.DB {
	c.t.Helper()
	return c.at(c.listen)
}

// at connects to a proxy.
func (c *cluster) at(listen string) *sql.DB {
	c.t.Helper()
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.Passwd, config.DBName, config.ParseTime = "tcp", listen, "app", "app", "shop", false
	db, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = db.Close() })
	return db
}

// rows are all rows of a query, as text.
func rows(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	r, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for r.Next() {
		values, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := r.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			fmt.Fprintf(&b, "%q ", v)
		}
		b.WriteByte('\n')
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
